"""Texts of pages and values: what is kept of long ones, and by what they are known again."""

from hashlib import sha256

MAX_VALUE_CHARACTERS = 16 * 1024
"""The longest value in an ingredient."""

MAX_KEPT_BYTES = 4 * 1024
"""The longest value in a position, which is small: what was there before is cut to it."""


def cut(text: str) -> str:
    """Return what an ingredient holds of a text."""
    return text if len(text) <= MAX_VALUE_CHARACTERS else text[: MAX_VALUE_CHARACTERS - 1] + "…"


def kept(text: str) -> str:
    """Return what a position holds of a text."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= MAX_KEPT_BYTES else encoded[:MAX_KEPT_BYTES].decode("utf-8", "ignore") + "…"


def digest(text: str) -> str:
    """Return what tells a text from all others."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
