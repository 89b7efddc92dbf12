"""From the bytes of a document to a feed. Runs in the process that reads feeds."""

from dataclasses import replace
from typing import Any

from whenthen.services.feed.decoding import decode
from whenthen.services.feed.feeds import Feed, NotAFeed
from whenthen.services.feed.json_feeds import json_as_atom
from whenthen.services.feed.markup import FEED_ROOTS, find_root
from whenthen.services.feed.pages import describe_bytes, describe_text
from whenthen.services.feed.xml_feeds import parse_xml


def read(body: bytes, content_type: str, url: str) -> dict[str, Any]:
    """Return the feed that a document is as plain JSON values. As `read_feed`; see `isolation.apart.read_apart`."""
    return read_feed(body, content_type, url).as_dict()


def read_feed(body: bytes, content_type: str, url: str) -> Feed:
    """Return the feed that a document is. Its content decides what it is, whatever its type says.

    Parameters
    ----------
    body:
        The document.
    content_type:
        Its Content-Type header, empty when it has none.
    url:
        Where it came from: relative links start there.

    Raises
    ------
    NotAFeed
        It is something else.
    """
    if words := describe_bytes(body):
        raise NotAFeed(words)
    text, notes = decode(body, content_type)
    if text.lstrip().startswith("{") or (text.lstrip().startswith("[") and "json" in content_type.lower()):
        atom, faults = json_as_atom(text)
        return replace(parse_xml(atom, 0, url), notes=(*notes, *faults))
    markup = find_root(text)
    if markup.root not in FEED_ROOTS:
        raise NotAFeed(describe_text(text, markup.root, content_type, url))
    feed = parse_xml(text, markup.start, url)
    return replace(feed, notes=(*notes, *markup.notes, *feed.notes))
