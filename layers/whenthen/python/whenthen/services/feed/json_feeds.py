"""Reading JSON Feed by writing it as Atom: so there is one way to clean texts, resolve links and read dates."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from whenthen.services.feed.decoding import without_forbidden
from whenthen.services.feed.feeds import NotAFeed

_VERSIONS = ("https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1")


def json_as_atom(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a JSON Feed, version 1 or 1.1, as an Atom document, and what was wrong with it.

    Raises
    ------
    NotAFeed
        The text is not JSON, or no JSON Feed.
    """
    try:
        # Numbers stay text: ids keep their digits.
        document = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise NotAFeed(f"The document is no feed: it should be JSON and can't be read. {_words(error)}") from error
    items = document.get("items") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise NotAFeed("The document is no feed: it is JSON without a JSON Feed's list of items.")
    notes = []
    if document.get("version") not in _VERSIONS:
        notes.append("It does not name a version of JSON Feed.")
    if not _text(document.get("title")):
        notes.append("It lacks a title, which JSON Feed requires.")
    known = [item for item in items if isinstance(item, dict)]
    if len(known) < len(items):
        notes.append("Some of its items are no objects and are left out.")
    return "".join(_feed(document, known)), tuple(notes)


def _feed(document: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">'
    yield _element("title", document.get("title"))
    yield _element("logo", document.get("icon") or document.get("favicon"))
    yield _authors(document)
    for item in items:
        yield "<entry>"
        yield _element("id", item.get("id"))
        if link := _text(item.get("url")) or _text(item.get("external_url")):
            yield f"<link href={quoteattr(link)}/>"
        yield _element("title", item.get("title"))
        yield _authors(item)
        if image := _text(item.get("image")) or _text(item.get("banner_image")):
            yield f"<media:thumbnail url={quoteattr(image)}></media:thumbnail>"
        yield _element("published", item.get("date_published"))
        yield _element("updated", item.get("date_modified"))
        if markup := _text(item.get("content_html")):
            yield f'<content type="html">{escape(markup)}</content>'
        else:
            yield _element("content", item.get("content_text") or item.get("summary"), ' type="text"')
        yield "</entry>"
    yield "</feed>"


def _element(name: str, value: object, attributes: str = "") -> str:
    text = _text(value)
    return f"<{name}{attributes}>{escape(text)}</{name}>" if text else ""


def _authors(values: Mapping[str, Any]) -> str:
    # Version 1 has one author, version 1.1 a list.
    found = values.get("authors") or [values.get("author")]
    authors = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    names = ", ".join(filter(None, (_text(author.get("name")) for author in authors)))
    return f"<author>{_element('name', names)}</author>" if names else ""


def _text(value: object) -> str:
    return without_forbidden(value) if isinstance(value, str) else ""


def _words(error: Exception) -> str:
    return "It is nested too deeply." if isinstance(error, RecursionError) else f"{error}."
