"""What a check of `event_starts` knows of the hours to come, so that events are due on time in any case."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

GRACE_MS = 60 * 60_000
"""How late an event may come: later it is left out, and the owner told."""

HORIZON_MS = 24 * 60 * 60_000
"""How far ahead of their being due occurrences are remembered."""

REFRESH_MS = 12 * 60 * 60_000
"""When less than this is known ahead, the calendar is read whether it has changed or not."""

MAX_REMEMBERED = 200
MAX_REMEMBERED_BYTES = 12 * 1024
"""Bounds of a position, which is small. A calendar that is fuller is read again more often."""


@dataclass(frozen=True, slots=True)
class Upcoming:
    """An occurrence with all that its event needs. Times are epoch milliseconds."""

    unique: str
    due: int
    start: int
    end: int
    title: str
    description: str
    where: str
    url: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """Occurrences that are not over, in the order in which they are due, and until when none is left out."""

    upcoming: tuple[Upcoming, ...]
    until: int

    @classmethod
    def of(cls, occurrences: Sequence[Upcoming], now: int) -> "Outlook":
        """Return the outlook from `now` on, with as many of the occurrences as are remembered."""
        size = 0
        kept: list[Upcoming] = []
        for occurrence in occurrences:
            size += len(json.dumps(asdict(occurrence)))
            full = len(kept) >= MAX_REMEMBERED or size > MAX_REMEMBERED_BYTES
            if full and occurrence.due > now:
                return cls(tuple(kept), occurrence.due - 1)
            kept.append(occurrence)
        return cls(tuple(kept), now + HORIZON_MS)

    @classmethod
    def read(cls, position: Mapping[str, Any]) -> "Outlook":
        """Return the outlook that a position holds."""
        return cls(tuple(Upcoming(**values) for values in position["upcoming"]), position["until"])

    def as_dict(self) -> dict[str, Any]:
        """Return what a position holds of it."""
        return {"upcoming": [asdict(occurrence) for occurrence in self.upcoming], "until": self.until}

    def is_short(self, now: int) -> bool:
        """Say if more should be known."""
        return self.until < now + HORIZON_MS - REFRESH_MS

    def due(self, now: int) -> tuple[Upcoming, ...]:
        """Return what is due, and not so long ago that it is left out."""
        return tuple(occurrence for occurrence in self.upcoming if now - GRACE_MS <= occurrence.due <= now)

    def missed(self, now: int) -> int:
        """Return how many occurrences were due too long ago."""
        return sum(occurrence.due < now - GRACE_MS for occurrence in self.upcoming)

    def after(self, now: int) -> "Outlook":
        """Return the outlook without what is due."""
        return Outlook(tuple(occurrence for occurrence in self.upcoming if occurrence.due > now), self.until)

    def next_due(self) -> int | None:
        """Return when the first is due, epoch milliseconds, or None."""
        return self.upcoming[0].due if self.upcoming else None
