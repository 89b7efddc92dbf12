"""Users of the console: they sign in, change their passwords, invite others and keep them out."""

from collections.abc import Callable
from dataclasses import replace

from whenthen.clock import Deadline, now_ms
from whenthen.engine import keys
from whenthen.engine.users.errors import SignInRefused
from whenthen.engine.users.invitations import find_invited, invite
from whenthen.engine.users.joining import Joining
from whenthen.engine.users.names import user_key
from whenthen.engine.users.passwords import check_new_password, hash_password, verify_password
from whenthen.engine.users.sessions import Session, SessionKeys, cookie_for, read_cookie, user_key_in
from whenthen.engine.users.throttle import Throttle
from whenthen.engine.users.user import User, to_user
from whenthen.errors import FieldError, NotFound, Refused, Stale
from whenthen.store import users as store
from whenthen.store.database import Database
from whenthen.store.keys import list_keys
from whenthen.store.statements import Script
from whenthen.store.units import run_unit
from whenthen.store.users import UserRow
from whenthen.vault import Keyring, SealBroken

_TIMEOUT_SECONDS = 10.0


class Users:
    """All users of the console.

    Every call may raise a `StoreError`. Those that deal with sessions or make users may raise `KeysUnavailable`, or
    `NotConfigured` where there is no key for secrets at all: then nobody can tell who is signed in.

    Parameters
    ----------
    database:
        Where users are.
    keyring:
        Seals the keys that sign their sessions.
    """

    def __init__(self, database: Database, keyring: Keyring) -> None:
        self._database = database
        self._session_keys = SessionKeys(keyring)
        self._joining = Joining(database, self._session_keys)
        self._throttle = Throttle(database)

    def needs_first_user(self) -> bool:
        """Say if nobody has ever had a password: the console is open to nobody yet. One select by key at the most."""
        return self._joining.needs_first_user()

    def create_first(self, name: str, password: str, *, zone: str, api_key: str | None) -> User:
        """Make the first user, an administrator, who takes over the one owner that there is, or gets a new one.

        Parameters
        ----------
        zone:
            IANA name, which becomes the owner's.
        api_key:
            An API key of the owner, also where it is one of several; None asks for none.

        Raises
        ------
        FieldError
            `name`, `password`, `zone` or `api_key` is wrong.
        Stale
            There is a user already, maybe since this moment.
        """
        return self._joining.create_first(name, password, zone=zone, api_key=api_key)

    def sign_in(self, name: str, password: str, *, address: str) -> User:
        """Return the user with this name and password.

        The name may be in any case. That it is nobody's takes as long to find out, and says the same, as that the
        password is wrong or the user is disabled.

        Parameters
        ----------
        address:
            The IP address that the request comes from.

        Raises
        ------
        SignInRefused
            There is none, or they are disabled.
        SignInThrottled
            There were too many tries with this name or from this network.
        """
        key = user_key(name)
        row = store.find_user(self._database, key)
        row = row if row is not None and row.shown_name else None
        counted = self._throttle.count(key, is_user=row is not None, address=address)
        is_right = verify_password(row.password if row is not None else "", password)
        if row is None or not is_right or row.disabled_at is not None:
            raise SignInRefused
        self._throttle.succeeded(counted)
        return to_user(row)

    def session_cookie(self, user: User) -> str:
        """Return the cookie of a new session of somebody who has just signed in. It is valid for 30 days.

        Raises
        ------
        Stale
            The user has changed since: another password, or none any more.
        """
        row = self._current(user)
        try:
            key = self._session_keys.open(row)
        except SealBroken:
            # The key for secrets is another one than when it was sealed: with it all sessions are lost, and only they.
            row = self._change(user.user_key, self._with_new_session_key)
            key = self._session_keys.open(row)
        return cookie_for(row, key)

    def renewed_cookie(self, session: Session) -> str:
        """Return a new cookie of the same session, valid for 30 days from now. Its forms go on working.

        Raises
        ------
        Stale
            As of `session_cookie`.
        """
        row = self._current(session.user)
        return cookie_for(row, self._session_keys.open(row), session.session_id)

    def read_session(self, cookie: str) -> Session | None:
        """Return the session of a cookie, whatever it holds, or None when nobody is signed in. One select by key.

        Raises
        ------
        KeysUnavailable
            Nobody can tell now.
        """
        key = user_key_in(cookie)
        row = store.find_user(self._database, key) if key else None
        return read_cookie(cookie, row, self._session_keys) if row is not None else None

    def sign_out_everywhere(self, user: User) -> None:
        """End all sessions of the user."""
        self._change(user.user_key, self._with_new_session_key)

    def change_password(self, user: User, current: str, new: str, *, address: str) -> User:
        """Give the user a new password and end all sessions; return them as they are then, for a new session.

        Parameters
        ----------
        current:
            The password as it is, which is tried as in `sign_in`.

        Raises
        ------
        FieldError
            `current` is wrong, or the new `password`.
        SignInThrottled
            As of `sign_in`.
        """
        check_new_password(new, user.name)
        counted = self._throttle.count(user.user_key, is_user=True, address=address)
        seen = self._find(user.user_key)
        if not verify_password(seen.password, current):
            raise FieldError("current", "is not your password")
        self._throttle.succeeded(counted)
        hashed = hash_password(new)

        def changed(row: UserRow) -> UserRow:
            if row.password not in (seen.password, hashed):
                raise Stale("The password was changed at this moment.")
            return replace(self._with_new_session_key(row), password=hashed)

        return to_user(self._change(user.user_key, changed))

    def list_users(self) -> list[User]:
        """Return all users, those who are invited and disabled too, oldest first."""
        return [to_user(row) for row in store.list_users(self._database)]

    def invite(self, admin: User, name: str) -> str:
        """Return the token of an invitation, which is shown once and valid for 7 days.

        Somebody new gets data of their own. Somebody who is a user already chooses a new password with it, and their
        sessions end when they do.

        Raises
        ------
        Refused
            `admin` is no administrator.
        FieldError
            `name` is none, or that of a user who is disabled.
        """
        _require_admin(admin)
        return invite(self._database, name)

    def invitation(self, token: str) -> str | None:
        """Return the name of whoever is invited, or None when the token opens nothing any more."""
        row = find_invited(self._database, token)
        return row.shown_name if row is not None else None

    def accept_invitation(self, token: str, password: str, zone: str) -> User:
        """Give whoever is invited this password, and end the sessions of before. The token opens nothing any more.

        Parameters
        ----------
        zone:
            IANA name for somebody who gets data of their own; not looked at otherwise.

        Raises
        ------
        FieldError
            `password` or `zone` is wrong.
        NotFound
            The token was used, maybe at this moment, replaced, or is over.
        """
        return self._joining.accept(token, password, zone)

    def set_disabled(self, admin: User, name: str, disabled: bool) -> None:
        """Keep a user out, or let them in again with the password that they have.

        Keeping out holds at once: sessions and an invitation end, and the API keys of the user's owner are revoked: who
        is kept out of the page must not do the same by the API. They stay when another user has the same owner, and may
        need them. Webhook keys and applets go on: what others send still arrives. It may be done again if it broke off.

        Raises
        ------
        Refused
            `admin` is no administrator.
        FieldError
            The user is `admin`.
        NotFound
            There is no such user.
        """
        _require_admin(admin)
        key = user_key(name)
        if key == admin.user_key:
            raise FieldError("name", "is your own: another administrator can keep you out")

        def changed(row: UserRow) -> UserRow:
            if not disabled:
                return replace(row, disabled_at=None)
            row = replace(row, invited_hash="", invited_until=0, disabled_at=row.disabled_at or now_ms())
            return self._with_new_session_key(row) if row.session_key else row

        row = self._change(key, changed)
        if disabled and row.owner_id:
            self._revoke_api_keys(row.owner_id)

    def _revoke_api_keys(self, owner_id: str) -> None:
        if any(row.owner_id == owner_id and row.disabled_at is None for row in store.list_users(self._database)):
            return
        for key in list_keys(self._database, owner_id):
            if key.kind == "api":
                keys.revoke(self._database, owner_id, key.key_hash)

    def _find(self, key: str) -> UserRow:
        row = store.find_user(self._database, key)
        if row is None or not row.shown_name:
            raise NotFound("There is no such user.")
        return row

    def _current(self, user: User) -> UserRow:
        """Return the row that `user` was read from, if it is still the same."""
        row = self._find(user.user_key)
        if row.user_version != user.version or row.disabled_at is not None:
            raise Stale("The user has changed: sign in again.")
        return row

    def _change(self, key: str, change: Callable[[UserRow], UserRow]) -> UserRow:
        def unit() -> UserRow:
            row = change(self._find(key))
            script = Script()
            store.put_user(script, row)
            self._database.execute(script.sql)
            return replace(row, user_version=row.user_version + 1)

        return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)

    def _with_new_session_key(self, row: UserRow) -> UserRow:
        return replace(row, session_key=self._session_keys.seal_new(row.user_key, row.owner_id))


def _require_admin(user: User) -> None:
    if not user.is_admin:
        raise Refused("Only an administrator may do that.")
