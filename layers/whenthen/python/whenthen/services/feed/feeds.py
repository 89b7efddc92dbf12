"""A feed as it is understood, whatever its format. Imported by the process that reads feeds: kept light."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from whenthen.services.isolation.errors import NotRead

MAX_ENTRIES = 10_000
"""The most items that a feed may have."""


class NotAFeed(NotRead):
    """The document is no feed; the message says what it is."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a feed. Texts that it lacks are empty.

    Parameters
    ----------
    guid:
        Its id exactly as the feed has it.
    link, image:
        Absolute URLs.
    title, author:
        Plain text.
    content:
        Sanitised HTML.
    published, updated:
        Epoch milliseconds, None when unknown.
    """

    guid: str
    link: str
    title: str
    author: str
    content: str
    image: str
    published: int | None
    updated: int | None

    @property
    def date(self) -> int | None:
        """When it came out, as far as is known, epoch milliseconds."""
        return self.updated if self.published is None else self.published


@dataclass(frozen=True, slots=True)
class Wishes:
    """How often the publisher wants to be asked.

    Parameters
    ----------
    minutes:
        The least time from one check to the next.
    skip_hours:
        Hours of the day in UTC, 0 to 23, without checks.
    skip_days:
        Days of the week in UTC, Monday is 0, without checks.
    """

    minutes: int = 0
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return those that there are as plain JSON values."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items() if value
        }

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "Wishes":
        """Return what `as_dict` wrote."""
        return cls(values.get("minutes", 0), tuple(values.get("skip_hours", ())), tuple(values.get("skip_days", ())))


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed.

    Parameters
    ----------
    title, author, image:
        As those of an entry.
    entries:
        In document order.
    wishes:
        The publisher's.
    notes:
        What is wrong with the feed, in words for the owner.
    """

    title: str
    author: str
    image: str
    entries: tuple[Entry, ...]
    wishes: Wishes = Wishes()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {
            "title": self.title,
            "author": self.author,
            "image": self.image,
            "entries": [asdict(entry) for entry in self.entries],
            "wishes": self.wishes.as_dict(),
            "notes": list(self.notes),
        }

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "Feed":
        """Return what `as_dict` wrote."""
        entries = tuple(Entry(**entry) for entry in values["entries"])
        return cls(
            values["title"],
            values["author"],
            values["image"],
            entries,
            Wishes.read(values["wishes"]),
            tuple(values["notes"]),
        )
