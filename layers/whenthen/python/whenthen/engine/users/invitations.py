"""Invitations: a link with which somebody chooses a password, for the first time or because the last one is lost.

The link's token is ``<user's key>.<secret>``. A user has one that is open at most: the last one.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import replace
from functools import partial

from whenthen.clock import Deadline, now_ms
from whenthen.engine.users.names import check_name, user_key
from whenthen.errors import FieldError
from whenthen.store import users as store
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate, GuardFailed
from whenthen.store.statements import Script
from whenthen.store.units import run_unit
from whenthen.store.users import UserRow

VALID_MS = 7 * 24 * 3_600_000
_SECRET_BYTES = 24
_TIMEOUT_SECONDS = 10.0
_TOKEN = re.compile(r"([0-9a-f]{32})\.[\w-]{32}", re.ASCII)


def invite(database: Database, name: str, *, owner_id: str = "", is_admin: bool = False) -> str:
    """Return the token of a new invitation, which can't be had again; the one before does not open any more.

    Who has a password keeps it, and their sessions, until the invitation is accepted.

    Parameters
    ----------
    name:
        A user's, or a new one.
    owner_id:
        Whose data they are to see; empty for data of their own. Somebody who has some keeps it.
    is_admin:
        Whether they become an administrator. Who is one stays one.

    Raises
    ------
    FieldError
        The name is none, or that of a user who is disabled, or has the data of another owner.
    StoreError
        See `store.errors`.
    """
    shown = check_name(name)
    key = user_key(shown)
    token = f"{key}.{secrets.token_urlsafe(_SECRET_BYTES)}"
    unit = partial(_invite, database, shown, key, _hash(token), owner_id, is_admin=is_admin)
    run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)
    return token


def _invite(database: Database, shown: str, key: str, hashed: str, owner_id: str, *, is_admin: bool) -> None:
    script, now = Script(), now_ms()
    row = store.find_user(database, key) or UserRow(key, "", shown, is_admin=False, created_at=now)
    if row.disabled_at is not None:
        raise FieldError("name", "is that of a user who is disabled: let them in again first")
    if owner_id and row.owner_id not in ("", owner_id):
        raise FieldError("name", "is that of a user with the data of another owner")
    row = replace(
        row,
        owner_id=row.owner_id or owner_id,
        # The name of somebody who was erased is free.
        shown_name=row.shown_name or shown,
        is_admin=row.is_admin or is_admin,
        invited_hash=hashed,
        invited_until=now + VALID_MS,
    )
    store.put_user(script, row)
    try:
        database.execute(script.sql)
    except Duplicate as error:
        # Another has invited the same name at this moment.
        raise GuardFailed("user_key") from error


def find_invited(database: Database, token: str) -> UserRow | None:
    """Return the user whose invitation this is, or None if it is none that can be accepted."""
    found = _TOKEN.fullmatch(token)
    row = store.find_user(database, found[1]) if found else None
    if row is None or row.disabled_at is not None or row.invited_until <= now_ms():
        return None
    return row if hmac.compare_digest(row.invited_hash, _hash(token)) else None


def _hash(token: str) -> str:
    # 192 random bits need no slow hash.
    return hashlib.sha256(token.encode()).hexdigest()
