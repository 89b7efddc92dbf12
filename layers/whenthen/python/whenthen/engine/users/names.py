"""Names of users: shown as they were given, and the same in any case, width and spacing."""

import hashlib
import unicodedata

from whenthen.errors import FieldError

MAX_NAME = 60
"""Characters."""

_MAX_READ = 1_000
_KEY_BYTES = 16


def check_name(name: str) -> str:
    """Return the name as it is shown.

    Raises
    ------
    FieldError
        It is empty, too long, or holds what can't be seen.
    """
    shown = _normal(name)
    if not shown:
        raise FieldError("name", "must not be empty")
    if len(shown) > MAX_NAME:
        raise FieldError("name", f"must have at most {MAX_NAME} characters")
    if not shown.isprintable():
        raise FieldError("name", "must not hold characters that can't be seen")
    return shown


def user_key(name: str) -> str:
    """Return what a user of this name is found by: a hash, equal for names that people take for the same."""
    folded = unicodedata.normalize("NFKC", _normal(name).casefold())
    return hashlib.blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).hexdigest()


def _normal(name: str) -> str:
    # Normalising megabytes takes seconds, and no name is longer.
    return " ".join(unicodedata.normalize("NFKC", name[:_MAX_READ]).split())
