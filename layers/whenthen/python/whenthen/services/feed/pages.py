"""Saying what a document is when it is no feed."""

from contextlib import suppress
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

MAX_FEEDS = 5
_LOOKED_AT_CHARACTERS = 512 * 1024
_FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml")
_PAGE_ROOTS = ("html", "head", "body")

_MAGIC = (
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"RIFF", "an image, a sound or a video"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PK\x03\x04", "a zip archive"),
)


def describe_bytes(body: bytes) -> str:
    """Return what a document is that is no text, or empty text."""
    return next((f"The document is no feed: it is {name}." for magic, name in _MAGIC if body.startswith(magic)), "")


def describe_text(text: str, root: str, content_type: str, url: str) -> str:
    """Return what a document is that is no feed, with the feeds that it offers when it is a web page.

    Parameters
    ----------
    text:
        The document.
    root:
        The local name of its first element, empty without one.
    content_type:
        Its Content-Type header.
    url:
        Where it came from.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    is_page = root in _PAGE_ROOTS or text[:1024].lstrip().lower().startswith("<!doctype html")
    if is_page or (root and media_type == "text/html"):
        return _describe_page(text, url)
    if root:
        return f"The document is no feed: it is XML whose first element is <{root[:64]}>."
    if not text.strip():
        return "The document is empty."
    return f"The document is no feed: it is neither XML nor JSON{f' but {media_type[:64]}' if media_type else ''}."


def _describe_page(text: str, url: str) -> str:
    page = _Page(url)
    # The parser raises it for some broken declarations; what came before them counts.
    with suppress(AssertionError):
        page.feed(text[:_LOOKED_AT_CHARACTERS])
    if page.feeds:
        return f"The address is a web page, not a feed. It offers: {', '.join(page.feeds)}"
    if page.asks_for_password:
        return "The address is a page to log in, not a feed. A feed must be readable without logging in."
    return "The address is a web page, not a feed, and it names no feed."


class _Page(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.feeds: list[str] = []
        self.asks_for_password = False
        self._base = url

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: (value or "").strip() for name, value in attrs}
        with suppress(ValueError):
            if tag == "base" and values.get("href"):
                self._base = urljoin(self._base, values["href"])
            if tag == "link" and "alternate" in values.get("rel", "").lower().split():
                self._add(values.get("type", "").partition(";")[0].strip().lower(), values.get("href", ""))
        if tag == "input" and values.get("type", "").lower() == "password":
            self.asks_for_password = True

    def _add(self, media_type: str, reference: str) -> None:
        feed = urljoin(self._base, reference)
        if (
            reference
            and media_type in _FEED_TYPES
            and urlsplit(feed).scheme in ("http", "https")
            and len(feed) <= 500
            and feed not in self.feeds
            and len(self.feeds) < MAX_FEEDS
        ):
            self.feeds.append(feed)
