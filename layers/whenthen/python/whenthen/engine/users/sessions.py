"""Sessions: a cookie that a key of the user's own signs. A new key ends them all.

The cookie is ``<user's key>.<id of the session>.<time>.<signature>``, see itsdangerous' `TimestampSigner`.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

from itsdangerous import BadData, TimestampSigner

from whenthen.clock import from_datetime, now_ms
from whenthen.engine.users.user import User, to_user
from whenthen.store.users import UserRow
from whenthen.vault import Keyring, Place, SealBroken

VALID_MS = 30 * 24 * 3_600_000
_OLD_MS = 24 * 3_600_000

_AHEAD_MS = 5 * 60_000
"""How much later it may be where the cookie was made."""

_COOKIE = re.compile(r"([0-9a-f]{32})\.([\w-]{22})\.[\w-]{1,16}\.[\w-]{43}", re.ASCII)
_SALT = "whenthen.session"
_CSRF = "csrf "
_ID_BYTES = 16
_KEY_BYTES = 32
_REMEMBERED = 1024


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in. Times are epoch milliseconds.

    Parameters
    ----------
    csrf:
        What each form of this session has to bring along.
    issued_at:
        Of the cookie.
    session_id:
        Stays when the cookie is renewed, and so does `csrf`.
    """

    user: User
    csrf: str = field(repr=False)
    issued_at: int
    session_id: str = field(repr=False)

    @property
    def is_old(self) -> bool:
        """Whether the cookie is to be renewed: it is older than a day."""
        return now_ms() - self.issued_at > _OLD_MS


class SessionKeys:
    """The keys that sign users' sessions, each opened once in this process.

    Parameters
    ----------
    keyring:
        Seals and opens them.
    """

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring
        self._opened: dict[tuple[str, Place], str] = {}

    def seal_new(self, user_key: str, owner_id: str) -> str:
        """Return a new key, sealed for the user's row. Raises as `Keyring.seal`."""
        return self._keyring.seal(secrets.token_urlsafe(_KEY_BYTES), _place(user_key, owner_id))

    def open(self, row: UserRow) -> str:
        """Return the key of the user's sessions. Raises as `Keyring.open`."""
        place = _place(row.user_key, row.owner_id)
        if (known := self._opened.get((row.session_key, place))) is not None:
            return known
        key = self._keyring.open(row.session_key, place)
        if len(self._opened) >= _REMEMBERED:
            self._opened.clear()
        self._opened[row.session_key, place] = key
        return key


def cookie_for(row: UserRow, key: str, session_id: str = "") -> str:
    """Return the cookie of a session of the user, which begins now unless it has an id already."""
    return _signer(key).sign(f"{row.user_key}.{session_id or secrets.token_urlsafe(_ID_BYTES)}").decode()


def user_key_in(cookie: str) -> str | None:
    """Return which user the cookie says it is of, or None if it is no cookie of a session. Nothing is proved."""
    found = _COOKIE.fullmatch(cookie)
    return found[1] if found else None


def read_cookie(cookie: str, row: UserRow, keys: SessionKeys) -> Session | None:
    """Return the session, or None if it is over, or was never one.

    Parameters
    ----------
    row:
        The user that the cookie names (`user_key_in`).

    Raises
    ------
    KeysUnavailable
        Nobody can tell now.
    """
    if row.disabled_at is not None or not row.session_key:
        return None
    try:
        key = keys.open(row)
        value, signed_at = _signer(key).unsign(cookie, return_timestamp=True)
    except (SealBroken, BadData):
        return None
    issued_at = from_datetime(signed_at)
    if not -_AHEAD_MS <= now_ms() - issued_at <= VALID_MS:
        return None
    session_id = value.decode().partition(".")[2]
    csrf = hmac.new(key.encode(), (_CSRF + session_id).encode(), hashlib.sha256).hexdigest()
    return Session(to_user(row), csrf, issued_at, session_id)


def _signer(key: str) -> TimestampSigner:
    return TimestampSigner(key, salt=_SALT, key_derivation="hmac", digest_method=hashlib.sha256)


def _place(user_key: str, owner_id: str) -> Place:
    # No connection's: their ids are random, and no service has this name.
    return Place(connection_id=user_key, owner_id=owner_id, service="console")
