"""Texts for people: what fields of messages have in common, and how texts are shortened for a target."""

from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

MAX_TEXT = 512 * 1024
"""Longest text, characters: as long as a template may become. What a target limits is shortened for it."""

_ELLIPSIS = "…"


def filled(text: str) -> str:
    """Return the text as it came. Raises `ValueError` if there is nothing in it to see."""
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
FilledText = Annotated[Text, AfterValidator(filled)]


def fitted(text: str, limit: int, size: Callable[[str], int] = len) -> str:
    """Return the text, or as much of its beginning as `limit` allows and an ellipsis.

    Parameters
    ----------
    size:
        How the target counts. It never counts less for more text.
    """
    if size(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if size(text[:middle] + _ELLIPSIS) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + _ELLIPSIS


def utf8_bytes(text: str) -> int:
    """Return how many bytes of UTF-8 a text has."""
    return len(text.encode())


def utf16_units(text: str) -> int:
    """Return how many UTF-16 code units a text has: an emoji is two."""
    return len(text.encode("utf-16-le")) // 2
