"""How somebody becomes a user: as the first one, or by an invitation."""

import secrets
from dataclasses import replace
from functools import partial

from whenthen.clock import Deadline, now_ms
from whenthen.engine.keys import owner_of
from whenthen.engine.users.invitations import find_invited
from whenthen.engine.users.names import check_name, user_key
from whenthen.engine.users.passwords import check_new_password, hash_password
from whenthen.engine.users.sessions import SessionKeys
from whenthen.engine.users.throttle import user_tries_key
from whenthen.engine.users.user import User, to_user
from whenthen.errors import FieldError, NotFound, Stale
from whenthen.services.zones import check_zone
from whenthen.store import users as store
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate, GuardFailed
from whenthen.store.keys import insert_owner
from whenthen.store.keys import list_users as list_owners
from whenthen.store.owners import list_erased
from whenthen.store.profiles import put_zone
from whenthen.store.sign_in_tries import forget_tries
from whenthen.store.statements import Script
from whenthen.store.units import run_unit
from whenthen.store.users import UserRow

_OWNER_BYTES = 8
_TIMEOUT_SECONDS = 10.0


class Joining:
    """Makes users who can sign in, and owners for them."""

    def __init__(self, database: Database, session_keys: SessionKeys) -> None:
        self._database = database
        self._session_keys = session_keys
        self._has_users = False

    def needs_first_user(self) -> bool:
        """Say if nobody has ever had a password. Once somebody has, it is not asked again."""
        if not self._has_users:
            self._has_users = store.has_users(self._database)
        return not self._has_users

    def create_first(self, name: str, password: str, *, zone: str, api_key: str | None) -> User:
        """Make the first user; see `Users.create_first`."""
        shown = check_name(name)
        check_new_password(password, shown)
        _check_zone(zone)
        if not self.needs_first_user():
            raise Stale("There is a user already: sign in.")
        owner_id = self._first_owner(api_key)
        key = user_key(shown)
        found = store.find_user(self._database, key)
        if found is not None and found.shown_name:
            raise FieldError("name", "is invited already: open that link, or take another name")
        now = now_ms()
        row = replace(found or UserRow(key, "", shown, is_admin=True, created_at=now), shown_name=shown, is_admin=True)
        script = Script()
        store.claim_first(script, now)
        row = self._join(script, row, hash_password(password), owner_id=owner_id, zone=zone)
        if owner_id:
            put_zone(script, owner_id, zone)
        try:
            self._database.execute(script.sql)
        except (Duplicate, GuardFailed) as error:
            raise Stale("Somebody else was first: sign in.") from error
        return to_user(row)

    def _first_owner(self, api_key: str | None) -> str:
        """Return which owner the first user takes over, or nothing for a new one."""
        owners = set(list_owners(self._database)) - list_erased(self._database)
        if api_key is not None:
            owner_id = owner_of(self._database, api_key)
            if owner_id not in owners:
                raise FieldError("api_key", "is not an API key of this whenthen")
            return owner_id
        if len(owners) > 1:
            raise FieldError("api_key", "is needed, since there are several owners: it says which of them you are")
        return owners.pop() if owners else ""

    def accept(self, token: str, password: str, zone: str) -> User:
        """Accept an invitation; see `Users.accept_invitation`."""
        invited = find_invited(self._database, token)
        if invited is None:
            raise _used()
        check_new_password(password, invited.shown_name)
        if not invited.owner_id:
            _check_zone(zone)
        unit = partial(self._accept, token, hash_password(password), zone)
        return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)

    def _accept(self, token: str, hashed: str, zone: str) -> User:
        row = find_invited(self._database, token)
        if row is None:
            raise _used()
        script = Script()
        if self.needs_first_user():
            # Somebody has to be able to invite others.
            row = replace(row, is_admin=True)
        store.note_first(script, now_ms())
        row = self._join(script, row, hashed, owner_id=row.owner_id, zone=zone)
        forget_tries(script, user_tries_key(row.user_key))
        self._database.execute(script.sql)
        return to_user(row)

    def _join(self, script: Script, row: UserRow, hashed: str, *, owner_id: str, zone: str) -> UserRow:
        """Add to `script` that the user has this password and an owner, a new one if there is none; return the row."""
        if not owner_id:
            owner_id = secrets.token_hex(_OWNER_BYTES)
            insert_owner(script, owner_id, row.shown_name)
            put_zone(script, owner_id, zone)
        row = replace(
            row,
            owner_id=owner_id,
            password=hashed,
            session_key=self._session_keys.seal_new(row.user_key, owner_id),
            invited_hash="",
            invited_until=0,
        )
        store.put_user(script, row)
        return replace(row, user_version=row.user_version + 1)


def _check_zone(zone: str) -> None:
    try:
        check_zone(zone)
    except ValueError as error:
        raise FieldError("zone", str(error)) from error


def _used() -> NotFound:
    return NotFound("This invitation was used, or is over: ask for a new one.")
