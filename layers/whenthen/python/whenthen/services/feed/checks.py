"""Checks of the feed service."""

import hashlib
from collections.abc import Callable
from typing import Any

from whenthen.net.errors import NetError
from whenthen.services.checking import Check, CheckFailed, Found, Item, Position
from whenthen.services.documents import Document, Gone, Source, known_source, read_document
from whenthen.services.feed.feeds import Entry, Feed, Wishes
from whenthen.services.feed.fields import FeedFields, MatchingFields
from whenthen.services.feed.items import feed_items
from whenthen.services.feed.keywords import parse_keywords, plain_text
from whenthen.services.feed.publishing import not_before
from whenthen.services.isolation.apart import read_apart
from whenthen.services.isolation.errors import NotRead

_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, "
    "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, */*;q=0.1"
)
_MAX_NOTE_CHARACTERS = 400
_PROGRAM = "whenthen.services.feed.reading"


def new_feed_item(check: Check[FeedFields]) -> Found:
    """Find all items of the feed; one is itself whatever is edited (R1)."""
    return _check(check)


def new_feed_item_matches(check: Check[MatchingFields]) -> Found:
    """Find the items that hold the keywords. One that does so only after an edit is found then."""
    holds = parse_keywords(check.fields.keyword)
    return _check(check, wanted=lambda entry: holds(f"{entry.title}\n{plain_text(entry.content)}"))


def new_or_updated_feed_item(check: Check[FeedFields]) -> Found:
    """Find all items of the feed; each new date of an item makes another one."""
    return _check(check, with_updates=True)


def _check[F: FeedFields](
    check: Check[F], *, with_updates: bool = False, wanted: Callable[[Entry], bool] = lambda _: True
) -> Found:
    """Read the feed if it has changed. The position is the source, the document's hash, wishes and the note."""
    url = check.fields.feed_url
    position = check.position or {}
    source = known_source(position, url)
    try:
        document = read_document(check, source, field="feed_url", accept=_ACCEPT)
        if document is None:
            return _found(check, (), position)
        sha256 = hashlib.sha256(document.body).hexdigest()
        if sha256 == position.get("sha256"):
            return _found(check, (), {**position, "source": document.source.as_dict()})
        feed = _read(document)
    except CheckFailed as error:
        if source.url == url or not _may_have_moved_again(error):
            raise
        # A redirect for good need not have been: the address that the owner gave is asked again.
        note = f"{error} The feed had moved there; the address in the field is asked next time."
        return Found((), {"source": Source(url).as_dict()}, note=note[:_MAX_NOTE_CHARACTERS])
    items, lost = feed_items(feed, check.fields, check.now, with_updates=with_updates, wanted=wanted)
    note = " ".join(filter(None, (*feed.notes, lost)))[:_MAX_NOTE_CHARACTERS]
    position = {"source": document.source.as_dict(), "sha256": sha256, **feed.wishes.as_dict()}
    return _found(check, items, position | ({"note": note} if note else {}), feed.title)


def _found(check: Check[Any], items: tuple[Item, ...], position: Position, title: str = "") -> Found:
    # Wishes and note hold for as long as the document does not change.
    wishes = Wishes.read(position)
    return Found(
        items,
        position,
        not_before=not_before(wishes, check.now, check.fields.interval_minutes),
        note=position.get("note", ""),
        title=title,
    )


def _read(document: Document) -> Feed:
    content_type = document.headers.get("content-type", "")
    try:
        feed = read_apart(_PROGRAM, document.body, content_type=content_type, url=document.url)
    except NotRead as error:
        raise CheckFailed(str(error), field="feed_url") from error
    return Feed.read(feed)


def _may_have_moved_again(error: CheckFailed) -> bool:
    return isinstance(error, Gone) or isinstance(error.__cause__, NotRead | NetError)
