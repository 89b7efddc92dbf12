"""Times in the words of ingredients and notes."""

from zoneinfo import ZoneInfo

from whenthen import clock
from whenthen.services.schedules.slots import wall_time

_MINUTE_MS = 60_000


def time_text(at: int, zone: ZoneInfo) -> str:
    """Return an instant as people in a zone read it, ``August 23, 2010 at 11:01PM``."""
    return clock.time_text(wall_time(at, zone))


def weekday_text(at: int, zone: ZoneInfo) -> str:
    """Return the day of the week of an instant in a zone, ``Monday``."""
    return wall_time(at, zone).strftime("%A")


def late_text(late_ms: int) -> str:
    """Return words for how late something is, ``4 minutes late``."""
    minutes = late_ms // _MINUTE_MS
    for size, name in ((24 * 60, "day"), (60, "hour"), (1, "minute")):
        # Two of a unit at least: rounding down to one would hide too much.
        if minutes >= 2 * size or size == 1:
            count = minutes // size
            return f"{count} {name}{'' if count == 1 else 's'} late"
    raise AssertionError
