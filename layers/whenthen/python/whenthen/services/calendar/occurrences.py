"""The occurrences of a calendar's events within some time (RFC 5545, sections 3.8.4.4 and 3.8.5)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from whenthen.services.calendar.events import Calendar, Event, occurrence_key
from whenthen.services.calendar.recurrence import Budget, TooMuchWork, starts_between
from whenthen.services.calendar.times import Time, instant, wall_time

_MOST_AHEAD_MS = 26 * 3600 * 1000
"""More than any clocks differ from UTC."""

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event at one of its times. `unique` tells it from all others; `start` and `end` are epoch milliseconds."""

    event: Event
    unique: str
    start: int
    end: int


def find_occurrences(calendar: Calendar, first: int, last: int) -> tuple[list[Occurrence], list[str]]:
    """Return the occurrences that start from `first` to `last`, epoch milliseconds, in order; and notes.

    A change of an occurrence that is meant for all that follow (RANGE) is taken for that one alone.
    """
    found: list[Occurrence] = []
    skipped = 0
    for events in _by_uid(calendar.events).values():
        try:
            found.extend(_series(events, first, last, calendar.budget))
        except TooMuchWork:
            skipped += 1
    notes = [f"Events whose repetition takes too long to follow: {skipped}."] if skipped else []
    return sorted(found, key=lambda occurrence: (occurrence.start, occurrence.unique)), notes


def masters(events: Iterable[Event]) -> list[Event]:
    """Return the events without the changes of their occurrences; of the versions of one event, the newest."""
    result = []
    for same in _by_uid(events).values():
        own = [event for event in same if event.replaces is None]
        result.extend(_newest(own) if own else same[:1])
    return result


def _by_uid(events: Iterable[Event]) -> dict[str, list[Event]]:
    groups: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        groups[event.uid].append(event)
    return groups


def _newest(versions: list[Event]) -> list[Event]:
    # Some programs give one UID to events that have nothing to do with each other: all of the newest count.
    highest = max(event.sequence for event in versions)
    return [event for event in versions if event.sequence == highest]


def _series(events: list[Event], first: int, last: int, budget: Budget) -> Iterator[Occurrence]:
    own = [event for event in events if event.replaces is None]
    in_days = own[0].start.is_date if own else False
    changes: dict[str, Event] = {}
    for event in events:
        if event.replaces is not None:
            key = occurrence_key(event.replaces, in_days=in_days)
            if key not in changes or changes[key].sequence <= event.sequence:
                changes[key] = event
    removed = {key for event in own for key in event.removed}
    for key, event in changes.items():
        if not event.cancelled and key not in removed and first <= event.start.instant() <= last:
            yield _occurrence(event, key, event.start, event.length)
    for event in _newest(own) if own else []:
        if event.cancelled:
            continue
        gone, seen = event.removed | changes.keys(), set()
        for start, length in _starts(event, first, last, budget):
            key = occurrence_key(start, in_days=start.is_date)
            # An occurrence may also be named by its day.
            if key in gone or key in seen or occurrence_key(start, in_days=True) in gone:
                continue
            if first <= start.instant() <= last:
                seen.add(key)
                yield _occurrence(event, key, start, length)


def _starts(event: Event, first: int, last: int, budget: Budget) -> Iterator[tuple[Time, timedelta]]:
    """Yield the starts of an event that may be from `first` to `last`, each with a length."""
    start = event.start
    for time, length in event.added:
        yield time, event.length if length is None else length
    until = event.rule.until if event.rule else None
    if until is None or _until(start.local, event, until):
        yield start, event.length
    if event.rule is None or (until is not None and until.instant() + _MOST_AHEAD_MS < first):
        return
    earliest, latest = wall_time(first - _MOST_AHEAD_MS), wall_time(last + _MOST_AHEAD_MS)
    for local in starts_between(event.rule, start.local, earliest, latest, budget):
        if until is None or _until(local, event, until):
            yield Time(local, start.offset, start.is_date), event.length


def _until(local: datetime, event: Event, until: Time) -> bool:
    """Say if a start is not after UNTIL, which is a day for events of whole days, whatever it is written as."""
    if event.start.is_date or until.is_date:
        return local.date() <= until.local.date()
    return Time(local, event.start.offset, is_date=False).instant() <= until.instant()


def _occurrence(event: Event, key: str, start: Time, length: timedelta) -> Occurrence:
    begins = start.instant()
    return Occurrence(event, unique=f"{event.uid}\n{key}\n{begins}", start=begins, end=ends_at(start, length))


def ends_at(start: Time, length: timedelta) -> int:
    """Return the instant at which what starts then is over, epoch milliseconds: days have 23 to 25 hours."""
    if start.is_date:
        try:
            return instant(start.local + length, start.offset)
        except OverflowError:
            pass
    return start.instant() + length // _MILLISECOND
