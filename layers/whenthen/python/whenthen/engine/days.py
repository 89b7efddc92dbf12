"""An owner's days: dates in a time zone, over slots and hours that are those of UTC."""

from datetime import date, datetime, time, timedelta

from whenthen.clock import from_datetime
from whenthen.errors import FieldError
from whenthen.services.zones import zone_info
from whenthen.store.slots import SLOT_MINUTES, slot_at, slot_before

_SLOT_MS = SLOT_MINUTES * 60_000
_FIRST_YEAR, _LAST_YEAR = 1971, 9000


def read_day(text: str) -> date:
    """Return the day that ``2026-11-30`` names.

    Raises
    ------
    FieldError
        It names none.
    """
    try:
        day = date.fromisoformat(text)
        if len(text) != len("2026-11-30") or not _FIRST_YEAR <= day.year <= _LAST_YEAR:
            raise ValueError
    except ValueError as error:
        raise FieldError("day", "must be a day such as 2026-11-30") from error
    return day


def day_start(day: date, zone: str) -> int:
    """Return the instant at which the day begins in the zone, epoch milliseconds."""
    return from_datetime(datetime.combine(day, time(), zone_info(zone)))


def day_slots(day: date, zone: str) -> tuple[str, str]:
    """Return the first and the last slot of a day: those that begin in it, so that each slot is of one day."""
    first, following = (slot_at(day_start(one, zone) + _SLOT_MS - 1) for one in (day, day + timedelta(days=1)))
    return first, slot_before(following)


def day_of_hour(hour: str, zone: str) -> date:
    """Return the day in the zone that an hour of UTC, ``yyyymmddhh``, is counted to.

    It is the day in which the hour begins. Where a zone's midnight is no full hour of UTC, what is left of that hour is
    counted to the day before.
    """
    return datetime.strptime(f"{hour}+0000", "%Y%m%d%H%z").astimezone(zone_info(zone)).date()


def last_days(now: int, zone: str, days: int) -> list[date]:
    """Return the last days in the zone, the one of `now` (epoch milliseconds) included, oldest first."""
    today = datetime.fromtimestamp(now / 1000, zone_info(zone)).date()
    return [today - timedelta(days=ago) for ago in reversed(range(days))]
