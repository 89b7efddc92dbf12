"""Telegram's HTML (https://core.telegram.org/bots/api#html-style): made valid, and shortened without breaking it."""

import html
import re
from collections.abc import Iterator

from whenthen.services.texts import fitted, utf16_units

_NAMES = "strong|strike|blockquote|tg-spoiler|tg-emoji|span|code|pre|ins|del|em|a|b|i|u|s"
_TAG = re.compile(
    rf"</(?P<closed>{_NAMES})\s*>"
    r"|<(?P<opened>(?:strong|strike|tg-spoiler|pre|ins|del|em|b|i|u|s|blockquote(?:\s+expandable)?"
    r'|code(?:\s+class="language-[^"<>]*")?|span\s+class="tg-spoiler"|a\s+href="[^"<>]*"'
    r'|tg-emoji\s+emoji-id="[0-9]+"))\s*>',
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def fitted_html(text: str, limit: int) -> str:
    """Return the text as HTML that Telegram takes, with at most `limit` UTF-16 units to be seen.

    Tags that Telegram knows are kept, and closed where they are not; ``<br>`` is a line break. All else is text, an odd
    bracket too: a message with a sign too many is better than none (case E08).
    """
    parts = list(_parts(_LINE_BREAK.sub("\n", text)))
    is_short = sum(utf16_units(seen) for seen, _ in parts) <= limit
    # The ellipsis is one unit.
    left = limit if is_short else limit - 1
    pieces: list[str] = []
    opened: list[str] = []
    for seen, tag in parts:
        size = utf16_units(seen)
        if size > left:
            pieces.append(_escaped(fitted(seen + "…", left + 1, utf16_units)))
            break
        left -= size
        pieces.append(_escaped(seen))
        if tag is not None:
            pieces += _written(tag, opened)
    return "".join(pieces) + "".join(f"</{name}>" for name in reversed(opened))


def _parts(text: str) -> Iterator[tuple[str, re.Match[str] | None]]:
    """Yield what is to be seen before each tag, with the tag, and what follows the last one."""
    position = 0
    for tag in _TAG.finditer(text):
        yield html.unescape(text[position : tag.start()]), tag
        position = tag.end()
    yield html.unescape(text[position:]), None


def _written(tag: re.Match[str], opened: list[str]) -> list[str]:
    """Return the tag as Telegram takes it, and keep account of what is `opened`."""
    if tag["opened"]:
        opened.append(tag["opened"].split()[0].lower())
        return [tag[0]]
    name, closed = tag["closed"].lower(), []
    # What was opened inside is closed with it; what was not opened is not closed.
    while name in opened and name not in closed:
        closed.append(opened.pop())
    return [f"</{item}>" for item in closed]


def _escaped(seen: str) -> str:
    return html.escape(seen, quote=False)
