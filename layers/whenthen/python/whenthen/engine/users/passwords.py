"""Passwords: what one must be like, and how it is kept.

Argon2id with the parameters of OWASP's Password Storage Cheat Sheet (19 MiB, 2 passes, 1 lane): about 35 ms.
"""

import os
import unicodedata

from whenthen.engine.users.names import user_key
from whenthen.errors import FieldError

MIN_PASSWORD, MAX_PASSWORD = 10, 200
"""Characters."""

_MEMORY_KIB = 19_456
_PASSES = 2
_LANES = 1
_SALT_BYTES = 16
_HASH_BYTES = 32

_NOBODY = "$argon2id$v=19$m=19456,t=2,p=1$" + "A" * 22 + "$" + "A" * 43
"""The hash of no password, which takes as long as any other."""

_COMMON = frozenset(
    """
    0123456789 1234567890 0987654321 9876543210 12345678910 123456789a a123456789 123123123123 1234512345 1q2w3e4r5t
    1qaz2wsx3edc q1w2e3r4t5 qwertyuiop qwerty1234 qwerty12345 qwerty123456 asdfghjkl123 zxcvbnm123 abcdefghij
    abcd123456 abc1234567 password12 password123 password1234 password12345 passwordpassword mypassword iloveyou12
    iloveyou123 princess12 princess123 football12 football123 baseball12 baseball123 sunshine12 sunshine123
    letmein123 letmein1234 welcome123 welcome1234 changeme12 changeme123 administrator adminadmin admin12345
    superman123 basketball whenthen12 whenthen123 whenthenwhenthen
    """.split()  # noqa: SIM905 - a list would take fifty lines
)
"""Of the commonest passwords in leaks, those that are long enough."""


def check_new_password(password: str, name: str) -> None:
    """Refuse a password that is guessed at once.

    Parameters
    ----------
    name:
        That of the user.

    Raises
    ------
    FieldError
        It is too short or too long, the name, or one of the commonest.
    """
    normal = _normal(password)
    if len(normal) < MIN_PASSWORD:
        raise FieldError("password", f"must have at least {MIN_PASSWORD} characters")
    if len(password) > MAX_PASSWORD or len(normal) > MAX_PASSWORD:
        raise FieldError("password", f"must have at most {MAX_PASSWORD} characters")
    if user_key(password) == user_key(name):
        raise FieldError("password", "must not be your name")
    if normal.casefold() in _COMMON or len(set(normal)) < 3:
        raise FieldError("password", "is one of the first that others try: take another one")


def hash_password(password: str) -> str:
    """Return what is kept of a password, in the PHC form."""
    # With it comes a library of 6 MB that only signing in needs.
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    kind = Argon2id(
        salt=os.urandom(_SALT_BYTES), length=_HASH_BYTES, iterations=_PASSES, lanes=_LANES, memory_cost=_MEMORY_KIB
    )
    return kind.derive_phc_encoded(_bytes(password))


def verify_password(stored: str, password: str) -> bool:
    """Say if this is the password of which `stored` was kept. Without one it takes as long, and is not."""
    from cryptography.exceptions import InvalidKey
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    if len(password) > MAX_PASSWORD:
        return False
    try:
        Argon2id.verify_phc_encoded(_bytes(password), stored or _NOBODY)
    except InvalidKey:
        return False
    return bool(stored)


def _normal(password: str) -> str:
    # Normalising megabytes takes seconds; what is too long is refused with its first characters already.
    return unicodedata.normalize("NFKC", password[: MAX_PASSWORD + 1])


def _bytes(password: str) -> bytes:
    return _normal(password).encode("utf-8", "surrogatepass")
