"""From the bytes of a calendar to what the checks look for. Runs in the process that reads calendars."""

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import recurring_ical_events  # type: ignore[import-untyped]
from icalendar import Calendar, Event

from whenthen.services.calendar.events import LIBRARY_ERRORS, instant, read_events

MAX_UID_CHARACTERS = 1000
MAX_TITLE_CHARACTERS = 500
MAX_DESCRIPTION_CHARACTERS = 2000
MAX_UPCOMING_DESCRIPTION_CHARACTERS = 500
"""Less of what occurs, as it is remembered."""
MAX_URL_CHARACTERS = 2000

_HOUR = timedelta(hours=1)
_HOUR_MS = 3_600_000


def read(body: bytes, zone: str, search: str, hours: list[int] | None = None) -> dict[str, Any]:
    """Return the events of a calendar, and notes on what could not be read; see `isolation.apart.read_apart`.

    Each event has `title`, `description`, `where`, `url`, `start` and `end`, and `unique`, which tells it from the
    others. Times are epoch milliseconds.

    Parameters
    ----------
    body:
        The calendar as it came.
    zone:
        The IANA name of the zone of times without one.
    search:
        Words that the events hold.
    hours:
        The first and the last hour since the epoch in which they start: what occurs then is returned, in order. None
        for each event once, with when it was `created`, None when that is unknown.

    Raises
    ------
    NotRead
        See `read_events`.
    """
    with warnings.catch_warnings():
        # Of names of zones that are guessed.
        warnings.simplefilter("ignore")
        events, notes = read_events(body, ZoneInfo(zone))
        reader = _Reader(ZoneInfo(zone), search.casefold().split())
        if hours is None:
            return {"events": list(reader.events(_series(events))), "notes": notes}
        found = {values["unique"]: values for values in reader.occurrences(_series(events), *hours)}
    if reader.unruly:
        notes.append(f"Events whose repetition can't be followed: {reader.unruly}.")
    return {"events": sorted(found.values(), key=lambda values: (values["start"], values["unique"])), "notes": notes}


def _series(events: Iterable[Event]) -> Iterator[list[Any]]:
    """Yield each event with the changes of its occurrences behind it."""
    by_uid: dict[str, list[Any]] = defaultdict(list)
    for event in events:
        by_uid[str(event["UID"])].append(event)
    for same in by_uid.values():
        own = [event for event in same if "RECURRENCE-ID" not in event]
        newest = max((event.get("SEQUENCE", 0) for event in own), default=0)
        own = [event for event in own if event.get("SEQUENCE", 0) == newest]
        yield [*own[:1], *(event for event in same if "RECURRENCE-ID" in event)]
        # Some programs give one UID to events that have nothing to do with each other: all of the newest count.
        yield from ([other] for other in own[1:])


class _Reader:
    def __init__(self, zone: ZoneInfo, words: list[str]) -> None:
        self._zone = zone
        self._words = words
        self.unruly = 0

    def events(self, series: Iterable[list[Any]]) -> Iterator[dict[str, Any]]:
        """Yield each event once, whatever changes of it there are."""
        named = Counter[str]()
        for event, *_ in series:
            uid = _text(event, "UID", MAX_UID_CHARACTERS)
            # R1: of events that share a UID, each but the first is told by its start too.
            unique = f"{uid}\n{self._instant(event, 'DTSTART')}" if named[uid] else uid
            named[uid] += 1
            if self._counts(event):
                created = self._instant(event, "CREATED") if "CREATED" in event else None
                yield {**self._values(event), "unique": unique, "created": created}

    def occurrences(self, series: Iterable[list[Any]], first: int, last: int) -> Iterator[dict[str, Any]]:
        """Yield what occurs from the hour `first` to the hour `last`."""
        for components in series:
            for event in self._follow(components, first, last):
                values = self._values(event)
                if self._counts(event) and first <= values["start"] // _HOUR_MS <= last:
                    original = self._instant(event, "RECURRENCE-ID" if "RECURRENCE-ID" in event else "DTSTART")
                    uid = _text(event, "UID", MAX_UID_CHARACTERS)
                    description = _cut(values["description"], MAX_UPCOMING_DESCRIPTION_CHARACTERS)
                    yield {**values, "unique": f"{uid}\n{original}\n{values['start']}", "description": description}

    def _follow(self, components: list[Any], first: int, last: int) -> list[Any]:
        if not any(name in event for event in components for name in ("RRULE", "RDATE", "RECURRENCE-ID")):
            return components  # as most of a large calendar
        calendar = Calendar()
        calendar.subcomponents = components
        # In the zone of times without one; an hour more at both ends, as there may be one twice when clocks change.
        start, stop = (datetime.fromtimestamp(hour * 3600, UTC).astimezone(self._zone) for hour in (first, last + 1))
        try:
            found: list[Any] = recurring_ical_events.of(calendar).between(start - _HOUR, stop + _HOUR)
        except OverflowError:
            return []  # at the ends of time
        except LIBRARY_ERRORS:
            self.unruly += 1
            return components[:1]
        return found

    def _counts(self, event: Any) -> bool:
        text = "\n".join(str(event.get(name, "")) for name in ("SUMMARY", "DESCRIPTION", "LOCATION")).casefold()
        called_off = str(event.get("STATUS", "")).strip().upper() == "CANCELLED"
        return not called_off and all(word in text for word in self._words)

    def _instant(self, event: Any, name: str) -> int:
        return instant(event[name].dt, self._zone)

    def _values(self, event: Any) -> dict[str, Any]:
        url = _text(event, "URL", MAX_URL_CHARACTERS)
        return {
            "title": _text(event, "SUMMARY", MAX_TITLE_CHARACTERS),
            "description": _text(event, "DESCRIPTION", MAX_DESCRIPTION_CHARACTERS),
            "where": _text(event, "LOCATION", MAX_TITLE_CHARACTERS),
            "url": url if url.startswith(("https://", "http://")) else "",
            "start": self._instant(event, "DTSTART"),
            "end": self._instant(event, "DTEND"),
        }


def _text(event: Any, name: str, characters: int) -> str:
    return _cut(str(event.get(name, "")).strip(), characters)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
