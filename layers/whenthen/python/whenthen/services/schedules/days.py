"""Patterns of wall times: a time of day on certain days."""

from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from whenthen.services.schedules.slots import NextWall

_MOST_DAYS = 800
"""How far to look for a day: each pattern has one in every year."""


def time_of_day(text: str) -> time:
    """Return the time of text as `fields.TimeOfDay` takes it, ``07:30``."""
    return time.fromisoformat(text)


def on_days(clock: time, is_day: Callable[[date], bool]) -> NextWall:
    """Return the pattern of a time of day on each day that `is_day` takes."""

    def next_wall(after: datetime) -> datetime | None:
        day = after.date()
        if datetime.combine(day, clock) <= after:
            day += timedelta(days=1)
        for _ in range(_MOST_DAYS):
            if is_day(day):
                return datetime.combine(day, clock)
            day += timedelta(days=1)
        return None

    return next_wall


def every_day(_day: date) -> bool:
    """Take every day."""
    return True


def is_day_of_month(day: date, wanted: int) -> bool:
    """Say whether `day` is the `wanted` one of its month, or the last one where the month is shorter."""
    return day.day == min(wanted, monthrange(day.year, day.month)[1])
