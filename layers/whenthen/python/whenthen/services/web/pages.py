"""From the bytes of a web page to its visible text. Runs in the process that reads documents."""

from collections.abc import Iterable

from bs4 import BeautifulSoup, Tag
from bs4.builder import HTMLTreeBuilder, ParserRejectedMarkup
from bs4.dammit import EncodingDetector
from bs4.element import PageElement, PreformattedString

from whenthen.services.isolation.errors import TOO_HARD, NotRead
from whenthen.services.web.encodings import decode, header_charset

_INVISIBLE = {"script", "style", "noscript", "template", "iframe", "noembed", "noframes"}
_BLOCKS = HTMLTreeBuilder.DEFAULT_BLOCK_ELEMENTS | {
    "body", "br", "caption", "details", "dialog", "head", "legend", "option", "search", "summary", "tbody", "td", "th",
    "thead", "title", "tr",
}  # fmt: skip
_TEXT_TYPES = ("text/", "application/xhtml", "application/xml")
_SNIFFED_BYTES = 4096


def read(body: bytes, content_type: str, selector: str) -> list[str] | None:
    """Return the lines of text that a reader of the page sees. See `isolation.apart.read_apart`.

    Parameters
    ----------
    body:
        The page.
    content_type:
        Its Content-Type header.
    selector:
        CSS selector of the elements whose text is wanted; empty for all of the page.

    Returns
    -------
    The lines with single spaces and without empty ones, or None when no element matches.

    Raises
    ------
    NotRead
        It is not a page, or nested too deeply.
    """
    kind = content_type.strip().lower()
    if kind and not kind.startswith(_TEXT_TYPES):
        raise NotRead(f"The source is not a web page but {kind.partition(';')[0].strip()[:60]}.")
    text = _decode(body, kind)
    if selector or not kind.startswith("text/plain"):
        try:
            page = BeautifulSoup(text, "html.parser")
            found = page.select(selector) if selector else [page]
            text = _visible_text(found)
        except ParserRejectedMarkup as error:
            raise NotRead("The source is not a web page that can be read.") from error
        except RecursionError as error:
            raise NotRead(TOO_HARD) from error
        if not found:
            return None
    lines = [line for line in (" ".join(line.split()) for line in text.split("\n")) if line]
    if not lines and not selector:
        raise NotRead("The page holds no text; it may be made by a script in the browser.")
    return lines


def _decode(body: bytes, content_type: str) -> str:
    body, marked = EncodingDetector.strip_byte_order_mark(body)
    if not marked and b"\x00" in body[:_SNIFFED_BYTES]:
        raise NotRead("The source is not a web page but binary data.")
    declared = EncodingDetector.find_declared_encoding(body, is_html=True) or ""
    # A meta element that can be read is not in UTF-16, whatever it says (Encoding Standard).
    declared = "" if declared.startswith(("utf-16", "utf16")) else declared
    text = decode(body, (marked, header_charset(content_type), declared, "utf-8"))
    return body.decode("cp1252", "replace") if text is None else text


def _visible_text(elements: Iterable[Tag]) -> str:
    """Return the text of elements in their order, each block on lines of its own; what is in two, once."""
    seen = set[int]()
    pieces: list[str] = []
    for element in elements:
        # What is a plain text stays as it is; in those of the page, line breaks are spaces.
        parts: list[PageElement | str] = [] if id(element) in seen else ["\n", *_parts(element), "\n"]
        while parts:
            part = parts.pop()
            if isinstance(part, Tag):
                seen.add(id(part))
                edge = "\n" if part.name in _BLOCKS else ""
                parts += [] if part.name in _INVISIBLE else [edge, *_parts(part), edge]
            elif not isinstance(part, PageElement):
                pieces.append(part)
            elif not isinstance(part, PreformattedString):
                pieces.append(str(part).replace("\n", " "))
    return "".join(pieces)


def _parts(element: Tag) -> list[PageElement | str]:
    """Return what is in an element, last first."""
    return [element.get_text()] if element.name == "pre" else [*reversed(element.contents)]
