"""HTML in one pass.

Python's html.parser goes back to the start of what does not end, so 300 KB of ``<a `` take it minutes. This
reads as the tokenizer of the HTML Standard (section 13.2.5) does: each character once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

_OPENING = re.compile(r"<(?=[A-Za-z/!?])")
_TAG_NAME = re.compile(r"[A-Za-z][^\t\n\f\r />]*")
_BETWEEN = re.compile(r"[\t\n\f\r /]*")
_ATTRIBUTE_NAME = re.compile(r"=?[^\t\n\f\r />=]*")
_EQUALS = re.compile(r"[\t\n\f\r ]*=[\t\n\f\r ]*")
_UNQUOTED = re.compile(r"[^\t\n\f\r >]*")

MAX_PARTS = 100_000
"""The most tags and attributes of a page: some 60 MiB and 2 seconds as a tree."""

_TEXT_ONLY = ("script", "style", "noscript", "iframe", "noembed", "noframes", "xmp", "textarea", "title")
_ENDS = {name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE | re.ASCII) for name in _TEXT_ONLY}
"""Where elements end whose content is text, whatever it looks like; with scripting on, noscript is one."""

_WITH_REFERENCES = {"textarea", "title"}


@dataclass(frozen=True, slots=True)
class Start:
    """A start tag; of equal attributes the first counts."""

    name: str
    attributes: dict[str, str]


@dataclass(frozen=True, slots=True)
class End:
    """An end tag."""

    name: str


type Token = Start | End | str


class TooManyParts(Exception):
    """The page is too large."""


def tokens(markup: str) -> Iterator[Token]:
    """Yield tags and text. Comments and declarations are left out; an unfinished tag at the end is dropped.

    Raises
    ------
    TooManyParts
        There are more than `MAX_PARTS` tags and attributes.
    """
    return _Tokenizer(markup).run()


class _Tokenizer:
    def __init__(self, markup: str) -> None:
        self._markup = markup
        self._at = 0
        self._parts = 0

    def run(self) -> Iterator[Token]:
        while self._at < len(self._markup):
            opening = _OPENING.search(self._markup, self._at)
            text = self._markup[self._at : opening.start() if opening else len(self._markup)]
            if text:
                yield unescape(text)
            if opening is None:
                return
            self._at = opening.end()
            yield from self._opened()

    def _opened(self) -> Iterator[Token]:
        markup, at = self._markup, self._at
        following = markup[at : at + 1]
        if _is_letter(following):
            tag = self._tag()
            if tag is None:
                return
            yield tag
            if tag.name in _ENDS:
                yield from self._text_only(tag.name)
        elif following == "/":
            if _is_letter(markup[at + 1 : at + 2]):
                self._at += 1
                tag = self._tag()
                if tag is not None:
                    yield End(tag.name)
            else:
                self._skip_past(">")
        elif markup.startswith("!--", at):
            self._at += 3
            # <!--> and <!---> are comments too.
            for empty in (">", "->"):
                if markup.startswith(empty, self._at):
                    self._at += len(empty)
                    return
            self._skip_past("-->")
        else:
            self._skip_past(">")

    def _skip_past(self, text: str) -> None:
        found = self._markup.find(text, self._at)
        self._at = len(self._markup) if found < 0 else found + len(text)

    def _tag(self) -> Start | None:
        """Read a tag from its name on. Return None when the markup ends within it."""
        markup = self._markup
        self._count()
        name = _matched(_TAG_NAME, markup, self._at)
        self._at += len(name)
        attributes: dict[str, str] = {}
        while True:
            self._at += len(_matched(_BETWEEN, markup, self._at))
            if self._at >= len(markup):
                return None
            if markup[self._at] == ">":
                self._at += 1
                return Start(name.lower(), attributes)
            self._count()
            attribute = _matched(_ATTRIBUTE_NAME, markup, self._at)
            self._at += len(attribute)
            value = self._value()
            if value is None:
                return None
            attributes.setdefault(attribute.lower(), unescape(value))

    def _value(self) -> str | None:
        markup = self._markup
        equals = _matched(_EQUALS, markup, self._at)
        if not equals:
            return ""
        self._at += len(equals)
        quote = markup[self._at : self._at + 1]
        if quote not in ('"', "'"):
            value = _matched(_UNQUOTED, markup, self._at)
            self._at += len(value)
            return value
        end = markup.find(quote, self._at + 1)
        if end < 0:
            self._at = len(markup)
            return None
        value = markup[self._at + 1 : end]
        self._at = end + 1
        return value

    def _text_only(self, name: str) -> Iterator[Token]:
        end = _ENDS[name].search(self._markup, self._at)
        text = self._markup[self._at : end.start() if end else len(self._markup)]
        self._at = end.start() if end else len(self._markup)
        if text:
            yield unescape(text) if name in _WITH_REFERENCES else text

    def _count(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise TooManyParts


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _matched(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""
