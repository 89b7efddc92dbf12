"""From the entries of a feed to items with ingredients, oldest first."""

from collections.abc import Callable, Sequence

from whenthen.clock import time_text, to_datetime
from whenthen.services.checking import Item
from whenthen.services.feed.feeds import Entry, Feed
from whenthen.services.feed.fields import FeedFields
from whenthen.services.feed.identity import identify


def feed_items(
    feed: Feed, fields: FeedFields, now: int, *, with_updates: bool, wanted: Callable[[Entry], bool]
) -> tuple[tuple[Item, ...], str]:
    """Return the items that are wanted, oldest first, and a note about entries that can't be told apart.

    Parameters
    ----------
    feed:
        What the document holds.
    fields:
        The trigger's.
    now:
        Epoch milliseconds: when an entry without a date occurs.
    with_updates:
        Let each new date of an entry be another item.
    wanted:
        Says which entries are looked for.
    """
    identities = identify(feed.entries, fields.identity)
    identity_of = dict(zip(feed.entries, identities, strict=True))
    found: dict[str, Entry] = {}
    for entry in oldest_first(feed.entries):
        if (identity := identity_of[entry]) and wanted(entry):
            found.setdefault(f"{identity}\n{_version(entry)}" if with_updates else identity, entry)
    items = tuple(
        Item(
            unique=unique,
            ingredients=_ingredients(entry, feed, fields.feed_url),
            occurred_at=now if entry.date is None else min(entry.date, now),
        )
        for unique, entry in found.items()
    )
    lost = identities.count("")
    return items, (
        f"{lost} of its items have no id, link or title and are left out; they can be told apart by content."
        if lost
        else ""
    )


def oldest_first(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries of document order by their dates.

    A feed begins with its newest item as a rule, so among equal dates the later one in the document comes first. An
    entry without a date follows the next one in the document, as if it had come out at the same time.
    """
    dated, date = [], 0
    for entry in reversed(entries):
        date = date if entry.date is None else entry.date
        dated.append((date, entry))
    return [entry for _, entry in sorted(dated, key=lambda pair: pair[0])]


def date_text(ms: int | None) -> str:
    """Return a date as ingredients have it, ``August 23, 2010 at 11:01PM``, in UTC; empty when it is unknown."""
    return "" if ms is None else time_text(to_datetime(ms))


def _version(entry: Entry) -> str:
    return str((entry.updated or entry.published) or "")


def _ingredients(entry: Entry, feed: Feed, feed_url: str) -> dict[str, str]:
    return {
        "EntryTitle": entry.title,
        "EntryUrl": entry.link,
        "EntryAuthor": entry.author or feed.author,
        "EntryContent": entry.content,
        "EntryImageUrl": entry.image or feed.image,
        "EntryPublished": date_text(entry.date),
        "FeedTitle": feed.title,
        "FeedUrl": feed_url,
    }
