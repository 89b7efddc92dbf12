"""Reading RSS, RDF and Atom with feedparser. Runs in the process that reads feeds."""

import calendar
import html
import io
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import feedparser  # type: ignore[import-untyped]
from feedparser.mixin import _FeedParserMixin  # type: ignore[import-untyped]

from whenthen.services.feed.decoding import without_forbidden
from whenthen.services.feed.feeds import MAX_ENTRIES, Entry, Feed, NotAFeed
from whenthen.services.feed.publishing import read_wishes

MAX_NAME_CHARACTERS = 2_000
"""Of titles and authors."""

MAX_URL_CHARACTERS = 8_192
MAX_CONTENT_BYTES = 64 * 1024

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_SCHEMES = ("http", "https", "ftp", "magnet")
_PAGE_SCHEMES = ("http", "https")
_REQUIRED = {"rss": ("title", "link", "description"), "atom": ("id", "title", "updated")}
_REFERENCE = re.compile(r"&#(?:x0*([0-9a-f]+)|0*([0-9]+));", re.IGNORECASE)
_ENTRY_TAG = re.compile(r"<(/?)(?:[A-Za-z_][\w.-]{0,30}:)?(?:item|entry)(?=[\s/>])[^<>]*>?", re.IGNORECASE)
_ROOT_END = re.compile(r"</(?:[A-Za-z_][\w.-]{0,30}:)?(?:rss|rdf|feed)\s*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_IMG = re.compile(r'<img [^<>]*?src="([^"<>]+)"')

# An id stays as it is: joined with the document's address it would change whenever a redirect does.
_FeedParserMixin.can_be_relative_uri = _FeedParserMixin.can_be_relative_uri - {"id"}


def parse_xml(text: str, start: int, url: str) -> Feed:
    """Return the feed of an XML document; one that is not well-formed is read as far as possible, with a note.

    HTML is sanitised, and relative links in it are resolved.

    Parameters
    ----------
    text:
        The document.
    start:
        Where its first element begins: what comes before it is not parsed.
    url:
        Where the document came from.

    Raises
    ------
    NotAFeed
        There is neither an item nor what makes a feed, or there are too many items.
    """
    opened = sum(not match[1] for match in _ENTRY_TAG.finditer(text, start))
    if opened > MAX_ENTRIES:
        raise NotAFeed(f"The feed has {opened} items, and at most {MAX_ENTRIES} are read.")
    source = _REFERENCE.sub(_allowed, text[start:]).encode()
    headers = {"content-type": "application/xml; charset=utf-8", "content-location": url}
    try:
        # A file object: bytes alone would be taken for the name of a file first.
        result = feedparser.parse(io.BytesIO(source), response_headers=headers)
    except MemoryError:
        raise
    except Exception as error:
        # A hostile document leads feedparser into errors of any kind.
        raise NotAFeed(f"The document is too broken to be read as a feed ({type(error).__name__}).") from error
    entries, head = list(result.entries), result.feed
    notes = []
    if result.bozo:
        notes.append(_broken(result.bozo_exception, text.count("\n", 0, start)))
        if entries and _breaks_off(text, start):
            entries.pop()
            notes.append("Its last item is not complete and is left out.")
    if not entries and not result.version and "title" not in head:
        raise NotAFeed("The document is no feed: it is XML without a feed's parts.")
    notes.extend(_missing(head, result.version))
    pictures = [_text(_mapping(head, "image"), "href"), _text(head, "logo"), _text(head, "icon")]
    return Feed(
        title=_plain(head, "title"),
        author=_text(head, "author")[:MAX_NAME_CHARACTERS],
        image=_first_url(url, pictures),
        entries=tuple(_entry(entry, url) for entry in entries),
        wishes=read_wishes(head, text),
        notes=tuple(notes),
    )


def _entry(entry: dict[str, Any], url: str) -> Entry:
    links = _mappings(entry, "links")
    content = _content(entry)
    pictures = [
        *(_text(item, "url") for item in _mappings(entry, "media_thumbnail")),
        *(_text(item, "url") for item in _mappings(entry, "media_content") if _is_image(item)),
        *(_text(item, "href") for item in links if item.get("rel") == "enclosure" and _is_image(item)),
        _text(_mapping(entry, "image"), "href"),
        *(html.unescape(match[1]) for match in _IMG.finditer(content)),
    ]
    guid, link = _text(entry, "id"), _text(entry, "link")
    targets = [
        # feedparser takes a guid for the link that an item lacks, also one that is no URL.
        link if link != guid or "://" in link else "",
        *(_text(item, "href") for rel in ("alternate", "enclosure") for item in links if item.get("rel") == rel),
    ]
    return Entry(
        guid=guid,
        link=_first_url(url, targets, _SCHEMES),
        title=_plain(entry, "title"),
        author=_text(entry, "author")[:MAX_NAME_CHARACTERS],
        content=content,
        image=_first_url(url, pictures),
        published=_date(entry, "published_parsed"),
        updated=_date(entry, "updated_parsed"),
    )


def _content(entry: Mapping[str, Any]) -> str:
    """Return the longest of an entry's texts as HTML: which element holds the full one differs from feed to feed."""
    texts = [_html(item) for item in _mappings(entry, "content")]
    if detail := _detail(entry, "summary"):
        texts.append(_html(detail))
    # A summary without a detail is feedparser's copy of a content, or of an unknown kind.
    return _cut(max(texts, key=len) if texts else html.escape(_text(entry, "summary"), quote=False))


def _html(detail: Mapping[str, Any]) -> str:
    text = _text(detail, "value")
    # feedparser sanitises what it knows to be HTML, and only that.
    return text if detail.get("type") in _HTML_TYPES else html.escape(text, quote=False)


def _detail(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    # An element of this name would be a plain dictionary: it may not say what is sanitised.
    detail = _mapping(values, f"{key}_detail")
    return detail if isinstance(detail, feedparser.FeedParserDict) else {}


def _cut(text: str) -> str:
    data = text.encode()
    if len(data) <= MAX_CONTENT_BYTES:
        return text
    text = data[:MAX_CONTENT_BYTES].decode(errors="ignore")
    # Not within a tag or an entity.
    if text.rfind("<") > text.rfind(">"):
        text = text[: text.rfind("<")]
    return re.sub(r"&#?\w{0,10}$", "", text)


def _plain(values: Mapping[str, Any], key: str) -> str:
    text = _text(values, key)
    if _detail(values, key).get("type") in _HTML_TYPES:
        text = html.unescape(_TAG.sub("", text))
    return " ".join(text.split())[:MAX_NAME_CHARACTERS]


def _date(entry: dict[str, Any], key: str) -> int | None:
    # feedparser's own `get` gives the published date for a missing updated one.
    parsed = dict.get(entry, key)
    if not isinstance(parsed, time.struct_time):
        return None
    ms = calendar.timegm(parsed) * 1000
    # What has no date has the epoch's in many programs.
    return ms if ms > 0 else None


def _is_image(item: Mapping[str, Any]) -> bool:
    return item.get("medium") == "image" or _text(item, "type").startswith("image/")


def _first_url(base: str, references: list[str], schemes: tuple[str, ...] = _PAGE_SCHEMES) -> str:
    for reference in filter(None, references):
        try:
            url = urljoin(base, reference)
            if urlsplit(url).scheme in schemes and len(url) <= MAX_URL_CHARACTERS:
                return url
        except ValueError:
            continue
    return ""


def _broken(error: object, lines_before: int) -> str:
    where = ""
    line = getattr(error, "getLineNumber", lambda: None)()
    if isinstance(line, int):
        # feedparser puts a line in front.
        where = f" in line {line - 1 + lines_before}"
    message = getattr(error, "getMessage", lambda: str(error))()
    return f"It is not well-formed XML: {message[:100]}{where}."


def _allowed(reference: re.Match[str]) -> str:
    # One to a character that XML forbids ends feedparser with an error.
    digits, base = (reference[1], 16) if reference[1] else (reference[2], 10)
    code = int(digits, base) if len(digits) <= 7 else 0
    return reference[0] if 0 < code < 0x110000 and without_forbidden(chr(code)) else "\ufffd"


def _breaks_off(text: str, start: int) -> bool:
    if _ROOT_END.search(text, max(start, len(text) - 500)):
        return False
    tags = [(match[1], match[0]) for match in _ENTRY_TAG.finditer(text, start)]
    return bool(tags) and not tags[-1][0] and not tags[-1][1].endswith("/>")


def _missing(head: Mapping[str, Any], version: str) -> Iterator[str]:
    kind = "atom" if version.startswith("atom") else "rss"
    aliases = {"description": "subtitle"}
    if missing := [name for name in _REQUIRED[kind] if aliases.get(name, name) not in head]:
        names = " and ".join(f"<{name}>" for name in missing)
        yield f"It lacks {names}, which {feedparser.api.SUPPORTED_VERSIONS.get(version) or 'RSS'} requires."


def _text(values: Mapping[str, Any], key: str) -> str:
    # The name of an element that nobody knows may be one of feedparser's own keys, with any value.
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, Mapping) else {}


def _mappings(values: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = values.get(key)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
