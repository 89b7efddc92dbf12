"""The time zones of a calendar: what its TZIDs stand for (RFC 5545, sections 3.2.19 and 3.6.5)."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from whenthen.services.calendar.lines import Component
from whenthen.services.calendar.recurrence import Budget, TooMuchWork, starts_between
from whenthen.services.calendar.rules import Rule, read_rule
from whenthen.services.calendar.times import Offset, read_times, utc
from whenthen.services.zones import check_zone, zone_info

MAX_PARTS = 100
"""The most parts of a time zone that are read: its summer and winter times, with those of former days."""

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])([0-9]{1,2}):?([0-9]{2})?(?::?[0-9]{2})?")


def offset_in(zone: ZoneInfo) -> Offset:
    """Return the offset of a zone; at a time that its clocks skip, the one before (RFC 5545, section 3.3.5)."""

    def offset(local: datetime) -> timedelta:
        return local.replace(tzinfo=zone).utcoffset() or timedelta(0)

    return offset


class Zones:
    """The zones of one calendar.

    Parameters
    ----------
    default:
        The offset of times without a zone, and of zones that nobody knows.
    definitions:
        The calendar's VTIMEZONE components.
    budget:
        Pays for what these take.
    """

    def __init__(self, default: Offset, definitions: Iterable[Component], budget: Budget) -> None:
        self.default = default
        self.unknown: set[str] = set()
        self._budget = budget
        self._found: dict[str, Offset] = {}
        self._definitions = {zone.text("TZID", 200): zone for zone in definitions}

    def offset_of(self, tzid: str) -> Offset:
        """Return the offset of the zone that the calendar calls `tzid`; the default's if it can't be known."""
        if tzid not in self._found:
            self._found[tzid] = self._offset(tzid)
        return self._found[tzid]

    def _offset(self, tzid: str) -> Offset:
        for name in self._names(tzid):
            if name in ("Z", "UTC", "GMT"):
                return utc
            try:
                return offset_in(zone_info(check_zone(name)))
            except ValueError:
                continue
        defined = _Defined.read(self._definitions.get(tzid), self.default, self._budget)
        if defined is not None:
            return defined.offset
        fixed = _fixed(tzid)
        if fixed is None:
            self.unknown.add(tzid)
            return self.default
        return lambda _: fixed

    def _names(self, tzid: str) -> Iterable[str]:
        yield tzid
        # A long table, in a library of which we need nothing else.
        from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

        if tzid in WINDOWS_TO_OLSON:
            yield WINDOWS_TO_OLSON[tzid]
        definition = self._definitions.get(tzid)
        if definition is not None:
            yield definition.text("X-LIC-LOCATION", 200)
        # /example.org/20050126_1/Europe/Berlin
        parts = tzid.strip("/").split("/")
        for start in range(max(len(parts) - 3, 0), len(parts)):
            yield "/".join(parts[start:])


class _Defined:
    """A zone as a calendar defines it.

    Parameters
    ----------
    parts:
        Its parts, each with when it begins for the first time, by the clocks before, and the offset from then on.
    before:
        The offset before all of them.
    """

    def __init__(self, parts: list[tuple[datetime, Rule | None, timedelta]], before: timedelta, budget: Budget) -> None:
        self._parts = parts
        self._before = before
        self._budget = budget
        self._changes: dict[int, list[tuple[datetime, timedelta]]] = {}
        # A rule that has ended goes on in what it did last.
        self._endings = {rule.until.local.year for _, rule, _ in parts if rule and rule.until}

    @classmethod
    def read(cls, zone: Component | None, default: Offset, budget: Budget) -> "_Defined | None":
        """Return the zone that a VTIMEZONE component defines, or None when it can't be read."""
        parts: list[tuple[datetime, Rule | None, timedelta]] = []
        before: dict[datetime, timedelta] = {}
        for component in zone.parts[:MAX_PARTS] if zone else []:
            start, to, since = (component.first(name) for name in ("DTSTART", "TZOFFSETTO", "TZOFFSETFROM"))
            after, ahead = _fixed(to.value) if to else None, _fixed(since.value) if since else None
            if start is None or after is None or ahead is None:
                continue
            found = component.first("RRULE")
            try:
                begins = read_times(start, lambda _: default, default)[0][0].local
                rule = read_rule(found.value, utc) if found else None
                others = [
                    time.local for more in component.all("RDATE") for time, _ in read_times(more, lambda _: utc, utc)
                ]
            except ValueError:
                continue
            parts.append((begins, rule if rule and rule.frequency == "YEARLY" else None, after))
            parts.extend((other, None, after) for other in others[:MAX_PARTS])
            before[begins] = ahead
        return cls(parts, before[min(before)], budget) if before else None

    def offset(self, local: datetime) -> timedelta:
        """See `Offset`."""
        try:
            years = {local.year - 1, local.year, *self._endings}
            changes = [change for year in years for change in self._changes_in(year)]
        except TooMuchWork:
            changes = []
        single = [(begins, after) for begins, _, after in self._parts]
        past = [change for change in (*changes, *single) if change[0] <= local]
        return max(past)[1] if past else self._before

    def _changes_in(self, year: int) -> list[tuple[datetime, timedelta]]:
        if year not in self._changes:
            first, last = datetime(max(year, 1), 1, 1), datetime(max(year, 1), 12, 31, 23, 59, 59)
            self._changes[year] = [
                (moment, after)
                for begins, rule, after in self._parts
                if rule is not None
                for moment in starts_between(rule, begins, first, last, self._budget)
                # UNTIL is in UTC; a day more or less makes no difference to a change of the clocks.
                if rule.until is None or moment <= rule.until.local + timedelta(days=1)
            ]
        return self._changes[year]


def _fixed(text: str) -> timedelta | None:
    """Return the offset that a text such as +0200 or GMT+02:00 is, or None."""
    found = _OFFSET.fullmatch(text.strip())
    if found is None:
        return None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    return min(offset, timedelta(hours=24)) * (-1 if found[1] == "-" else 1)
