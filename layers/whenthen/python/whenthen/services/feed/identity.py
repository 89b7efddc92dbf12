"""What makes an item of a feed itself (R1)."""

import re
from collections.abc import Sequence

from whenthen.services.feed.feeds import Entry
from whenthen.services.feed.fields import Identity


def identify(entries: Sequence[Entry], by: Identity) -> list[str]:
    """Return the identity of each entry, empty when it has none.

    It is the guid, or else the link, or else the title with the date; never the content, the place in the document
    or the date alone. When the owner names another key, that goes first.

    When several items of a document share a guid or a link and differ in link or title, the last of them, as a rule
    the oldest, keeps it alone: so had it before the others came. To the others their link and title are added.

    Parameters
    ----------
    entries:
        All of a document, in its order.
    by:
        The key that the owner has chosen.
    """
    found = [_identity(entry, by) for entry in entries]
    last = dict(zip(found, entries, strict=True))
    return [
        identity
        if identity.startswith((by, "dated title")) or _same_item(entry, last[identity])
        else f"{identity}\n{_link(entry.link)}\n{entry.title}"
        for identity, entry in zip(found, entries, strict=True)
    ]


def _identity(entry: Entry, by: Identity) -> str:
    named = {
        "auto": "",
        "link": _named("link", _link(entry.link)),
        "title": _named("title", entry.title),
        "content": _named("content", entry.content),
    }[by]
    dated_title = f"{entry.title}\n{entry.date or ''}" if entry.title else ""
    return (
        named or _named("guid", entry.guid) or _named("link", _link(entry.link)) or _named("dated title", dated_title)
    )


def _named(kind: str, text: str) -> str:
    return f"{kind} {text}" if text else ""


def _same_item(one: Entry, other: Entry) -> bool:
    return (one.link, one.title) == (other.link, other.title)


def _link(url: str) -> str:
    # Sites move from http to https; their items stay.
    return re.sub(r"^https?:", "", url)
