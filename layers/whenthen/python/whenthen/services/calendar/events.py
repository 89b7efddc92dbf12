"""The events of a calendar (RFC 5545), as far as they can be read. Runs in the process that reads calendars."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from hashlib import sha256
from typing import Any

from icalendar import Component, Event, Timezone
from icalendar.prop import vBroken, vDDDTypes, vRecur
from icalendar.timezone import tzp
from recurring_ical_events.adapters.event import EventAdapter  # type: ignore[import-untyped]
from x_wr_timezone import UTCChangingWalker  # type: ignore[import-untyped]

from whenthen.services.isolation.errors import NotRead

MAX_EVENTS = 10_000
"""The most events that are read: they take some four seconds."""

MAX_A_DAY = 48
"""An event that repeats more often counts once: nobody wants an applet to run for it."""

# What the libraries raise for events that make no sense.
LIBRARY_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)

_ONCE = ("DESCRIPTION", "DURATION", "LOCATION", "SEQUENCE", "STATUS", "SUMMARY", "UID", "URL")
_TIMES = ("CREATED", "DTEND", "DTSTART", "RECURRENCE-ID")
_LISTS = ("EXDATE", "RDATE", "RRULE")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_LINE = re.compile(r"^(BEGIN:VCALENDAR|END:VCALENDAR|BEGIN:VEVENT)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_PART = re.compile(
    r"^BEGIN:(VEVENT|VTIMEZONE)[ \t]*\n(?:(?!BEGIN:VEVENT|BEGIN:VTIMEZONE|END:\1).*\n)*END:\1[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NAME = re.compile(r"^TZID[^:\n]*:[ \t]*(.*\S)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_ZONE = re.compile(r"^X-WR-TIMEZONE[^:\n]*:[ \t]*(.*\S)[ \t]*$", re.IGNORECASE | re.MULTILINE)

# A property that can't be read must not hide what it is in, such as an alarm and its event.
Component.ignore_exceptions = True


def read_events(body: bytes, zone: tzinfo) -> tuple[list[Event], list[str]]:
    """Return the events of a calendar, their properties sound and with an end, and in words what can't be read.

    Parameters
    ----------
    body:
        The calendar as it came.
    zone:
        The zone of times without one.

    Raises
    ------
    NotRead
        It is no calendar, or has more than `MAX_EVENTS` events.
    """
    text = _decode(body)
    lines = Counter(line.upper() for line in _LINE.findall(text))
    if not lines["BEGIN:VCALENDAR"]:
        raise NotRead(_what_else(text))
    if lines["BEGIN:VEVENT"] > MAX_EVENTS:
        raise NotRead(f"The calendar has more than {MAX_EVENTS} events.")
    # The library reads a calendar as a whole or not at all, so it is given each part on its own.
    parts = [(part[1].upper(), part[0]) for part in _PART.finditer(text)]
    tzp.use_default()  # which forgets the zones that another calendar has defined
    for kind, part in parts:
        if kind == "VTIMEZONE" and _known_zone(_NAME.search(part)) is None:
            # One that is known by its name, also by Windows's, is followed much faster than its definition.
            with suppress(*LIBRARY_ERRORS):
                Timezone.from_ical(part)
    reader = _Reader(zone, _known_zone(_ZONE.search(text)))
    events = [event for kind, part in parts if kind == "VEVENT" for event in reader.read(part)]
    reader.faults["Events that can't be read"] = lines["BEGIN:VEVENT"] - len(events)
    if reader.unknown_zones:
        reader.faults[f"Unknown time zones, such as {min(reader.unknown_zones)[:60]!r}"] = len(reader.unknown_zones)
    notes = [f"{what}: {count}." for what, count in reader.faults.items() if count]
    return events, notes if lines["END:VCALENDAR"] else [*notes, "The calendar ends before its end."]


def instant(time: date, zone: tzinfo) -> int:
    """Return the instant of a time or of the beginning of a day, epoch milliseconds; in `zone` if it has none."""
    moment = time if isinstance(time, datetime) else datetime(time.year, time.month, time.day)
    return ((moment if moment.tzinfo else moment.replace(tzinfo=zone)) - _EPOCH) // timedelta(milliseconds=1)


def _decode(body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        body = body.decode("utf-16", "replace").encode()
    # As bytes: lines may be folded within a character (section 3.1).
    body = re.sub(rb"\n[ \t]", b"", body.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = body.decode("cp1252", "replace")
    return text.replace("\0", "")


def _what_else(text: str) -> str:
    if text.lstrip().startswith("<"):
        return "The address gives a web page, not a calendar; it may need a login, or be the page that shows it."
    return "The source is not a calendar in iCal format."


def _known_zone(name: re.Match[str] | None) -> tzinfo | None:
    try:
        return tzp.timezone(name[1]) if name else None
    except OSError:
        # The name is that of a folder of zones, or too long for a file.
        return None


class _Reader:
    def __init__(self, zone: tzinfo, calendars_zone: tzinfo | None) -> None:
        self._zone = zone
        self._walker = UTCChangingWalker(calendars_zone) if calendars_zone else None
        self.faults = Counter[str]()
        self.unknown_zones: set[str] = set()

    def read(self, text: str) -> Iterator[Event]:
        """Yield the event that a text describes, or none when it can't be read."""
        with suppress(*LIBRARY_ERRORS):
            event: Any = Event.from_ical(text)
            self._keep_sound(event)
            event = self._walker.walk_event(event) if self._walker else event
            self._set_end(event)
            if not str(event.get("UID", "")).strip():
                told = str(event.get("SUMMARY", "")), str(event.get("LOCATION", "")), str(event["DTSTART"].dt)
                event["UID"] = "-" + sha256("\n".join(told).encode()).hexdigest()[:32]
            yield event

    def _keep_sound(self, event: Any) -> None:
        for name in (*_ONCE, *_TIMES, *_LISTS):
            if name not in event:
                continue
            found = event.pop(name)
            values = found if isinstance(found, list) else [found]
            sound = [value for value in values if not isinstance(value, vBroken)]
            if name in _TIMES:
                sound = [value for value in sound if isinstance(value.dt, date)]
                self.unknown_zones.update(value.params["TZID"] for value in sound if _has_lost_its_zone(value))
            if name == "RRULE":
                sound = self._followed(sound)
            if sound:
                event[name] = sound if name in _LISTS and len(sound) > 1 else sound[0]
            elif name == "RECURRENCE-ID":
                raise ValueError("a change of nobody knows what")

    def _followed(self, rules: list[vRecur]) -> list[vRecur]:
        rules = [rule for rule in rules if "FREQ" in rule and min(rule.get("INTERVAL", [1])) > 0]
        too_often = any(_times_a_day(rule) > MAX_A_DAY for rule in rules)
        self.faults["Events whose repetition can't be read"] += not rules
        self.faults["Events that repeat too often, of which only the first counts"] += too_often
        return [] if too_often else rules

    def _set_end(self, event: Any) -> None:
        adapter = EventAdapter(event)
        end = start = adapter.raw_start
        with suppress(*LIBRARY_ERRORS):
            # The library would exchange an end and a start after it.
            if instant(adapter.raw_end, self._zone) >= instant(start, self._zone):
                end = adapter.raw_end
        event.pop("DURATION", None)
        event["DTEND"] = vDDDTypes(end)


def _has_lost_its_zone(time: Any) -> bool:
    return "TZID" in time.params and isinstance(time.dt, datetime) and time.dt.tzinfo is None


def _times_a_day(rule: vRecur) -> int:
    frequency = str(rule["FREQ"][0]).upper()
    if frequency in ("SECONDLY", "MINUTELY"):
        return MAX_A_DAY + 1
    hours = len(rule.get("BYHOUR", ())) or (24 if frequency == "HOURLY" else 1)
    return hours * (len(rule.get("BYMINUTE", ())) or 1) * (len(rule.get("BYSECOND", ())) or 1)
