"""The events of a calendar (RFC 5545, section 3.6.1)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from zoneinfo import ZoneInfo

from whenthen.services.calendar.lines import Component, read_contents
from whenthen.services.calendar.recurrence import Budget
from whenthen.services.calendar.rules import Rule, TooOften, read_rule
from whenthen.services.calendar.times import Time, read_duration, read_time, read_times
from whenthen.services.calendar.timezones import Zones, offset_in

MAX_UID_CHARACTERS = 1000
MAX_TITLE_CHARACTERS = 500
MAX_DESCRIPTION_CHARACTERS = 2000
MAX_URL_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Event:
    """An event, or how one occurrence of an event differs from it.

    Parameters
    ----------
    uid:
        What tells it from other events.
    length:
        From its start to its end, never less than nothing.
    rule:
        How it repeats, or None.
    added:
        Further starts, each with a length of its own or None.
    removed:
        Keys of occurrences that are left out; see `occurrence_key`.
    replaces:
        The occurrence that it stands for, or None for an event of its own.
    sequence:
        The higher, the newer.
    created:
        Epoch milliseconds, or None.
    """

    uid: str
    title: str
    description: str
    where: str
    url: str
    start: Time
    length: timedelta
    rule: Rule | None
    added: tuple[tuple[Time, timedelta | None], ...]
    removed: frozenset[str]
    replaces: Time | None
    sequence: int
    cancelled: bool
    created: int | None

    def has_words(self, words: list[str]) -> bool:
        """Say if all the words, in lower case, are in the title, the description or the place."""
        text = "\n".join((self.title, self.description, self.where)).casefold()
        return all(word in text for word in words)


@dataclass(frozen=True, slots=True)
class Calendar:
    """A calendar as it was read; `notes` say what could not be. `budget` pays for what is to be found in it."""

    events: list[Event]
    notes: list[str]
    budget: Budget


def read_calendar(body: bytes, charset: str, zone: ZoneInfo) -> Calendar:
    """Return the calendar that a document holds.

    Parameters
    ----------
    body, charset:
        See `read_contents`.
    zone:
        The zone of times without one, and of zones that nobody knows.

    Raises
    ------
    CheckFailed
        See `read_contents`.
    """
    contents = read_contents(body, charset)
    budget = Budget()
    zones = Zones(offset_in(zone), contents.zones, budget)
    reader = _Reader(zones)
    events = [event for event in map(reader.read, contents.events) if event is not None]
    notes = []
    if reader.broken:
        notes.append(f"Events that can't be read: {reader.broken}.")
    if reader.unruly:
        notes.append(f"Events whose repetition can't be read: {reader.unruly}.")
    if reader.too_often:
        notes.append(f"Events that repeat too often, of which only the first counts: {reader.too_often}.")
    if zones.unknown:
        notes.append(f"Unknown time zones: {len(zones.unknown)}, such as {min(zones.unknown)[:60]!r}.")
    if not contents.complete:
        notes.append("The calendar ends before its end.")
    return Calendar(events, notes, budget)


def occurrence_key(time: Time, *, in_days: bool) -> str:
    """Return what tells an occurrence from the others of its event: its original start.

    Parameters
    ----------
    time:
        The start.
    in_days:
        The event is one of whole days.
    """
    return time.local.date().isoformat() if in_days or time.is_date else str(time.instant())


class _Reader:
    def __init__(self, zones: Zones) -> None:
        self._zones = zones
        self.broken = self.unruly = self.too_often = 0

    def read(self, component: Component) -> Event | None:
        """Return the event that a component describes, or None when it can't be read."""
        try:
            return self._event(component)
        except ValueError:
            self.broken += 1
            return None

    def _event(self, component: Component) -> Event:
        start = self._time(component, "DTSTART")
        if start is None:
            raise ValueError("an event without a start")
        title = component.text("SUMMARY", MAX_TITLE_CHARACTERS)
        where = component.text("LOCATION", MAX_TITLE_CHARACTERS)
        url = component.text("URL", MAX_URL_CHARACTERS)
        created = next((time for time, _ in self._times(component, "CREATED")), None)
        return Event(
            uid=component.text("UID", MAX_UID_CHARACTERS) or _made_uid(title, where, start),
            title=title,
            description=component.text("DESCRIPTION", MAX_DESCRIPTION_CHARACTERS),
            where=where,
            url=url if url.startswith(("https://", "http://")) else "",
            start=start,
            length=self._length(component, start),
            rule=self._rule(component, start),
            added=tuple((time, _period_length(time, end)) for time, end in self._times(component, "RDATE")),
            removed=frozenset(
                occurrence_key(time, in_days=start.is_date) for time, _ in self._times(component, "EXDATE")
            ),
            replaces=self._time(component, "RECURRENCE-ID"),
            sequence=_whole(component.text("SEQUENCE", 20)),
            cancelled=component.text("STATUS", 20).upper() == "CANCELLED",
            created=created.instant() if created else None,
        )

    def _time(self, component: Component, name: str) -> Time | None:
        """Return the time of a property without which the event makes no sense, or None without the property."""
        found = component.first(name)
        return read_times(found, self._zones.offset_of, self._zones.default)[0][0] if found else None

    def _times(self, component: Component, name: str) -> Iterator[tuple[Time, str]]:
        """Yield the times of all properties of a name, without those that can't be read."""
        for found in component.all(name):
            for text in found.value.split(","):
                try:
                    yield from read_times(replace(found, value=text), self._zones.offset_of, self._zones.default)
                except ValueError:
                    continue

    def _length(self, component: Component, start: Time) -> timedelta:
        end = next((time for time, _ in self._times(component, "DTEND")), None)
        if end is not None:
            if start.is_date or end.is_date:
                return max(end.local - start.local, timedelta(0))
            return max((end.instant() - start.instant()) * timedelta(milliseconds=1), timedelta(0))
        duration = component.first("DURATION")
        try:
            return max(read_duration(duration.value), timedelta(0)) if duration else timedelta(days=start.is_date)
        except ValueError:
            return timedelta(days=start.is_date)

    def _rule(self, component: Component, start: Time) -> Rule | None:
        found = component.first("RRULE")
        if found is None:
            return None
        try:
            return read_rule(found.value, start.offset)
        except TooOften:
            self.too_often += 1
        except ValueError:
            self.unruly += 1
        return None


def _period_length(start: Time, end: str) -> timedelta | None:
    """Return the length of a period whose end, or length, follows its start; None for what is no period."""
    try:
        if end.lstrip("+-").startswith("P"):
            return max(read_duration(end), timedelta(0))
        until = read_time(end, start.offset).instant() if end else start.instant()
        return max((until - start.instant()) * timedelta(milliseconds=1), timedelta(0)) if end else None
    except ValueError:
        return None


def _made_uid(title: str, where: str, start: Time) -> str:
    text = "\n".join((title, where, start.local.isoformat()))
    return "-" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
