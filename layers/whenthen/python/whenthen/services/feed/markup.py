"""What stands before a feed's first element. None of it reaches the parser: no entity, however it is declared."""

import re
from dataclasses import dataclass

FEED_ROOTS = ("rss", "rdf", "feed", "channel")

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)")
_FEED_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]{0,30}:)?(?:rss|rdf|feed)[\s>]", re.IGNORECASE)
_IN_DOCTYPE = re.compile(r"""<!--.*?-->|<\?.*?\?>|"[^"]*"|'[^']*'|[\[\]>]""", re.DOTALL)

_JUNK_CHARACTERS = 64 * 1024
"""How far into a document its first element is looked for."""


@dataclass(frozen=True, slots=True)
class Markup:
    """Where a document's first element begins and what its local name is, in small letters."""

    start: int
    root: str
    notes: tuple[str, ...]


def find_root(text: str) -> Markup:
    """Return where the first element begins, after all that may stand before it; an empty root when there is none.

    Text before a feed is passed over too: programs print their warnings there.
    """
    notes = []
    at = _SPACE.match(text).end()  # type: ignore[union-attr]
    while (end := _end_of_markup(text, at)) > at:
        if text[at : at + 3].upper() == "<!D" and "<!ENTITY" in text[at:end]:
            notes.append("It declares entities of its own, which are not read.")
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    name = _NAME.match(text, at)
    root = name[1].lower() if name else ""
    if root not in (*FEED_ROOTS, "html", "head", "body") and (
        later := _FEED_ROOT.search(text, at, at + _JUNK_CHARACTERS)
    ):
        notes.append("It has text before its first element.")
        at = later.start()
        root = _NAME.match(text, at)[1].lower()  # type: ignore[index]
    return Markup(at, root, tuple(notes))


def _end_of_markup(text: str, at: int) -> int:
    """Return where the declaration, comment or instruction at `at` ends; `at` itself when there is none."""
    for opening, closing in (("<?", "?>"), ("<!--", "-->")):
        if text.startswith(opening, at):
            end = text.find(closing, at + len(opening))
            return at if end < 0 else end + len(closing)
    if text[at : at + 9].upper() == "<!DOCTYPE":
        inside = False
        for match in _IN_DOCTYPE.finditer(text, at + 9):
            if match[0] == ">" and not inside:
                return match.end()
            inside = match[0] == "[" or (inside and match[0] != "]")
    return at
