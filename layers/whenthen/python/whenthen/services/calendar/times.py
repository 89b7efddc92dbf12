"""Dates, times and durations of a calendar (RFC 5545, sections 3.3.4 to 3.3.6)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from whenthen.services.calendar.lines import Property

type Offset = Callable[[datetime], timedelta]
"""What a zone's clocks are ahead of UTC by, at a time that they show."""

_EPOCH = datetime(1970, 1, 1)
_MILLISECOND = timedelta(milliseconds=1)
_OFFSETS_FROM_YEAR, _OFFSETS_TO_YEAR = 1900, 2200

_TIME = re.compile(
    r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T ]([0-9]{2}):?([0-9]{2})(?::?([0-9]{2})(?:\.[0-9]{1,9})?)?([Zz]?))?"
)
_DURATION = re.compile(
    r"([+-]?)P(?:([0-9]{1,6})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,7})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,9})S)?)?"
)


def utc(_local: datetime) -> timedelta:
    """Return the offset of UTC."""
    return timedelta(0)


@dataclass(frozen=True, slots=True)
class Time:
    """A date, or a time on a zone's clocks.

    Parameters
    ----------
    local:
        What the clocks show; midnight for a date.
    offset:
        The zone's.
    is_date:
        It is a whole day.
    """

    local: datetime
    offset: Offset
    is_date: bool

    def instant(self) -> int:
        """Return the instant, epoch milliseconds. Far from our days clocks are taken to show UTC."""
        return instant(self.local, self.offset)


def instant(local: datetime, offset: Offset) -> int:
    """Return the instant at which clocks show `local`, the first if there are two, epoch milliseconds."""
    ahead = offset(local) if _OFFSETS_FROM_YEAR < local.year < _OFFSETS_TO_YEAR else timedelta(0)
    return (local - _EPOCH - ahead) // _MILLISECOND


def wall_time(ms: int) -> datetime:
    """Return what clocks in UTC show at an instant, at the ends of time at the latest."""
    try:
        return _EPOCH + ms * _MILLISECOND
    except OverflowError:
        return datetime.max if ms > 0 else datetime.min


def read_times(found: Property, zone_of: Callable[[str], Offset], default: Offset) -> list[tuple[Time, str]]:
    """Return the times of a property, each with what follows a slash in a period.

    Parameters
    ----------
    found:
        The property: one or more dates, times or periods.
    zone_of:
        Gives the offset of a TZID.
    default:
        The offset of times without a zone.

    Raises
    ------
    ValueError
        There are none.
    """
    tzid = found.parameters.get("TZID", "")
    offset = zone_of(tzid) if tzid else default
    return [(read_time(text, offset), end) for text, _, end in (part.partition("/") for part in found.value.split(","))]


def read_time(text: str, offset: Offset) -> Time:
    """Return the time that `text` writes, which is in the zone of `offset` unless it ends in Z.

    Raises
    ------
    ValueError
        It is none.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError("not a time")
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    if found[4] is None:
        return Time(datetime(year, month, day), offset, is_date=True)
    # A leap second is the second before it.
    local = datetime(year, month, day, int(found[4]), int(found[5]), min(int(found[6] or 0), 59))
    return Time(local, utc if found[7] else offset, is_date=False)


def read_duration(text: str) -> timedelta:
    """Return the duration that `text` writes.

    Raises
    ------
    ValueError
        It is none.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError("not a duration")
    weeks, days, hours, minutes, seconds = (int(number or 0) for number in found.groups()[1:])
    duration = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -duration if found[1] == "-" else duration
