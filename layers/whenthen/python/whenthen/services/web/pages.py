"""The visible text of a web page."""

import re
from collections.abc import Iterator
from typing import cast

from bs4 import BeautifulSoup, Tag
from bs4.builder import HTMLTreeBuilder
from bs4.element import NavigableString

from whenthen.services.checking import CheckFailed
from whenthen.services.documents import Document
from whenthen.services.web.encodings import charset
from whenthen.services.web.markup import End, Start, TooManyParts, tokens
from whenthen.services.web.selectors import select

_INVISIBLE = {"script", "style", "noscript", "template", "iframe", "noembed", "noframes"}
_BLOCKS = HTMLTreeBuilder.DEFAULT_BLOCK_ELEMENTS | {
    "body", "br", "caption", "details", "dialog", "head", "legend", "option", "search", "summary", "tbody", "td", "th",
    "thead", "title", "tr",
}  # fmt: skip
_TEXT_TYPES = ("text/", "application/xhtml", "application/xml")
_META = re.compile(rb"<meta[^>]{0,200}?(charset\s*=\s*[\"']?[\w.:-]{1,40})", re.IGNORECASE)
_SNIFFED_BYTES = 4096


def page_lines(document: Document, selector: str) -> list[str]:
    """Return the lines of text that a reader of the page sees, with single spaces, and without empty ones.

    Parameters
    ----------
    document:
        The page.
    selector:
        CSS selector of the elements whose text is wanted; empty for all of the page.

    Raises
    ------
    CheckFailed
        It is not a page, or has no element that matches.
    """
    markup = _decode(document)
    if document.headers.get("content-type", "").lower().startswith("text/plain") and not selector:
        text = markup
    else:
        # Of text without a line break the library suspects that it is the name of a file.
        page: Tag = BeautifulSoup("\n" + markup, builder=_Builder())
        found = select(page, selector) if selector else [page]
        if not found:
            raise CheckFailed("The page has nothing that the selector matches.", field="selector")
        text = _visible_text(found)
    lines = [line for line in (" ".join(line.split()) for line in text.split("\n")) if line]
    if not lines and not selector:
        raise CheckFailed("The page holds no text; it may be made by a script in the browser.", field="url")
    return lines


def _decode(document: Document) -> str:
    body, kind = document.body, document.headers.get("content-type", "").lower()
    if kind and not kind.lstrip().startswith(_TEXT_TYPES):
        raise CheckFailed(f"The source is not a web page but {kind.partition(';')[0].strip()[:60]}.", field="url")
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    if b"\x00" in body[:_SNIFFED_BYTES]:
        raise CheckFailed("The source is not a web page but binary data.", field="url")
    meta = _META.search(body[:_SNIFFED_BYTES])
    named = charset(kind) or charset(meta[1].decode("ascii", "replace") if meta else "")
    # A meta element that could be read is not in UTF-16, whatever it says (Encoding Standard).
    named = "" if named.startswith(("utf-16", "utf16")) else named
    for encoding in filter(None, (named, "utf-8")):
        try:
            return body.decode(encoding)
        except UnicodeDecodeError:
            continue
    return body.decode("cp1252", "replace")


class _Builder(HTMLTreeBuilder):
    """Builds the library's tree from our tokens."""

    def feed(self, markup: str | bytes) -> None:
        """See `TreeBuilder.feed`."""
        soup = cast(BeautifulSoup, self.soup)
        try:
            for token in tokens(str(markup)):
                match token:
                    case Start(name, attributes):
                        soup.handle_starttag(name, None, None, attributes)
                        if self.can_be_empty_element(name):
                            soup.handle_endtag(name)
                    case End(name):
                        if not self.can_be_empty_element(name):
                            soup.handle_endtag(name)
                    case str():
                        soup.handle_data(token)
        except TooManyParts as error:
            raise CheckFailed("The page has too many elements.", field="url") from error


def _visible_text(elements: list[Tag]) -> str:
    """Return the text of elements in their order, each block on lines of its own; what is in two, once."""
    wanted = {id(element) for element in elements}
    pieces: list[str] = []
    for element in elements:
        if id(element) not in wanted:
            continue
        inside = [_Inside(element, "\n", keeps_lines=element.name == "pre")]
        while inside:
            part = next(inside[-1].contents, None)
            match part:
                case None:
                    pieces.append(inside.pop().edge)
                case Tag():
                    wanted.discard(id(part))
                    if part.name in _INVISIBLE:
                        continue
                    edge = "\n" if part.name in _BLOCKS else ""
                    pieces.append(edge)
                    inside.append(_Inside(part, edge, keeps_lines=inside[-1].keeps_lines or part.name == "pre"))
                case NavigableString():
                    pieces.append(str(part) if inside[-1].keeps_lines else part.replace("\n", " "))
    return "".join(pieces)


class _Inside:
    """How far an element has been read."""

    __slots__ = ("contents", "edge", "keeps_lines")

    def __init__(self, element: Tag, edge: str, *, keeps_lines: bool) -> None:
        self.contents: Iterator[object] = iter(element.contents)
        self.edge = edge
        self.keeps_lines = keeps_lines
