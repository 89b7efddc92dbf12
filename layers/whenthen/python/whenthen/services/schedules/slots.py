"""Slots: from wall times to instants and back, through changes of the clock (R7).

A schedule is a pattern of wall times. It runs by one of two rules:

- by the wall clock, for what happens at times of day: a wall time that a change of the clock leaves out runs at
  the first instant after it, and one that comes twice runs the first time only. A date that a zone has left out
  altogether has no runs.
- by elapsed time, for what happens in every hour: each instant at which the clock shows a time of the pattern is
  a slot, so the hour that comes twice has its slots twice, and the one that is left out has none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from whenthen.clock import from_datetime, isoformat, to_datetime

_STEP_MS = 24 * 60 * 60_000
"""How far apart a zone's offsets are compared. No zone has changed its clock twice within a day."""

type NextWall = Callable[[datetime], datetime | None]
"""Gives the first naive wall time of a pattern that is later than another one; None when there are no more."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One run of a schedule.

    Parameters
    ----------
    at:
        The instant, epoch milliseconds.
    key:
        What makes it this slot and no other of its schedule, however often and with whichever rules of the zone
        it is calculated.
    """

    at: int
    key: str


class Scheduled(Protocol):
    """What has slots, for example the fields of a trigger."""

    def next_slot(self, after: int) -> Slot | None:
        """Return the first slot later than `after`, epoch milliseconds, or None when there are no more."""


def upcoming(scheduled: Scheduled, after: int, count: int) -> list[int]:
    """Return the instants of the next `count` slots later than `after`, or fewer; epoch milliseconds."""
    found: list[int] = []
    while len(found) < count and (slot := scheduled.next_slot(after)) is not None:
        found.append(slot.at)
        after = slot.at
    return found


def wall_time(at: int, zone: ZoneInfo) -> datetime:
    """Return what the clocks of a zone show at an instant, without a zone."""
    return to_datetime(at).astimezone(zone).replace(tzinfo=None, fold=0)


def instant_of(wall: datetime, zone: ZoneInfo) -> int | None:
    """Return the instant of a wall time, epoch milliseconds, by the rule of the wall clock.

    None says that its whole date has been left out, as 30 December 2011 was in Samoa.
    """
    at = from_datetime(wall.replace(tzinfo=zone, fold=0))
    if wall_time(at, zone) == wall:
        return at
    # In a gap, fold 1 names an instant before it and fold 0 one after it (PEP 495).
    change = _change_between(zone, from_datetime(wall.replace(tzinfo=zone, fold=1)), at)
    if wall_time(change - 1, zone).date() < wall.date() < wall_time(change, zone).date():
        return None
    return change


def next_wall_slot(next_wall: NextWall, zone: ZoneInfo, after: int) -> Slot | None:
    """Return the first slot later than `after` by the rule of the wall clock.

    Of wall times that fall on one instant, being in the same gap, there is one slot, with the first one's key.
    """
    wall: datetime | None = wall_time(after, zone)
    while wall is not None and (wall := next_wall(wall)) is not None:
        at = instant_of(wall, zone)
        if at is not None and at > after:
            return Slot(at, wall.isoformat(timespec="minutes"))
    return None


def next_elapsed_slot(next_wall: NextWall, zone: ZoneInfo, after: int) -> Slot | None:
    """Return the first slot later than `after` by the rule of elapsed time; its key is its instant."""
    start, shown = after, wall_time(after, zone)
    while (wall := next_wall(shown)) is not None:
        at = from_datetime(wall.replace(tzinfo=UTC)) - _offset_ms(zone, start)
        change = _next_change(zone, start, at)
        if change is None:
            return Slot(at, isoformat(at))
        # From there on the clock shows other times; the one at the change itself counts.
        start, shown = change, wall_time(change, zone) - timedelta(seconds=1)
    return None


def _offset_ms(zone: ZoneInfo, at: int) -> int:
    offset = to_datetime(at).astimezone(zone).utcoffset()
    return round(offset.total_seconds() * 1000) if offset else 0


def _next_change(zone: ZoneInfo, start: int, end: int) -> int | None:
    """Return the first change of the clock after `start` and until `end`, or None."""
    offset = _offset_ms(zone, start)
    while start < end:
        until = min(start + _STEP_MS, end)
        if _offset_ms(zone, until) != offset:
            return _change_between(zone, start, until)
        start = until
    return None


def _change_between(zone: ZoneInfo, before: int, after: int) -> int:
    """Return the first instant with another offset than at `before`; there is one until `after`."""
    offset = _offset_ms(zone, before)
    # Clocks change at whole seconds.
    low, high = before // 1000, -(-after // 1000)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset_ms(zone, middle * 1000) == offset:
            low = middle
        else:
            high = middle
    return high * 1000
