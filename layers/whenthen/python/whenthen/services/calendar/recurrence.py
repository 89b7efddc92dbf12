"""When a rule has times within a few days: work is in proportion to these days, not to how long ago it began.

Libraries count from the beginning, and go on to the year 9999 for a rule like the 30th of February; neither has a
bound that a calendar of thousands of events can be read with.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from itertools import product

from whenthen.services.calendar.rules import Rule, days_in_month

MAX_DAYS = 500_000
"""The days that are looked at for one calendar: some 3 seconds for the most intricate rules."""


class TooMuchWork(Exception):
    """The repetitions of the calendar take too long to follow."""


class Budget:
    """The days that may be looked at for a calendar, all its rules together."""

    def __init__(self, days: int = MAX_DAYS) -> None:
        self._left = days

    def spend(self, days: int) -> None:
        """Pay for looking at so many days.

        Raises
        ------
        TooMuchWork
            Nothing is left.
        """
        if days > self._left:
            raise TooMuchWork
        self._left -= days


def starts_between(rule: Rule, start: datetime, first: datetime, last: datetime, budget: Budget) -> Iterator[datetime]:
    """Yield the times of `rule` from `first` to `last`, in order and as clocks show them. UNTIL is the caller's.

    Parameters
    ----------
    rule:
        The rule.
    start:
        The event's start, from which the rule counts.
    first, last:
        The ends of the time that is asked for, both included.
    budget:
        Pays for it.

    Raises
    ------
    TooMuchWork
        The budget does not suffice.
    """
    if last < start:
        return
    rule = rule.anchored(start)
    origin = _index(rule, start)
    begin = _aligned(rule, origin, _index(rule, max(first, start)))
    clipped = rule.count is None and not rule.positions
    left = rule.count
    if left is not None:
        each = _regular(rule)
        if each is None or begin == origin:
            begin = origin
        else:
            # All periods have as many times, but for the first: a part of it may be before the start.
            initial = sum(moment >= start for moment in _times(rule, origin, _days(rule, origin)))
            left -= initial + ((begin - origin) // rule.interval - 1) * each
    for index in range(begin, _index(rule, last) + 1, rule.interval):
        if left is not None and left <= 0:
            return
        days = _days(rule, index)
        if clipped:
            days = [day for day in days if first.date() <= day <= last.date()]
        budget.spend(1 + len(days))
        times = [moment for moment in _times(rule, index, days) if moment >= start]
        if left is not None:
            times = times[:left]
            left -= len(times)
        yield from (moment for moment in times if first <= moment <= last)


def _aligned(rule: Rule, origin: int, index: int) -> int:
    """Return the first period from `index` on that is a whole number of intervals after `origin`."""
    return origin + max(-(-(index - origin) // rule.interval), 0) * rule.interval


def _index(rule: Rule, moment: datetime) -> int:
    """Return the number of the year, month, week, day or hour that `moment` is in."""
    match rule.frequency:
        case "YEARLY":
            return moment.year
        case "MONTHLY":
            return moment.year * 12 + moment.month - 1
        case "WEEKLY":
            return (moment.toordinal() - 1 - rule.week_start) // 7
        case "DAILY":
            return moment.toordinal()
        case "HOURLY":
            return moment.toordinal() * 24 + moment.hour


def _days(rule: Rule, index: int) -> list[date]:
    """Return the days of a period, without months and days of months that the rule leaves out."""
    match rule.frequency:
        case "YEARLY":
            return [day for month in sorted(rule.months or range(1, 13)) for day in _month(rule, index, month)]
        case "MONTHLY":
            return _month(rule, index // 12, index % 12 + 1)
        case "WEEKLY":
            ordinal = index * 7 + 1 + rule.week_start
            return [date.fromordinal(day) for day in range(max(ordinal, 1), min(ordinal + 7, _LAST_DAY + 1))]
        case "DAILY":
            return [date.fromordinal(index)]
        case "HOURLY":
            return [date.fromordinal(index // 24)]


_LAST_DAY = date.max.toordinal()


def _month(rule: Rule, year: int, month: int) -> list[date]:
    last = days_in_month(year, month)
    days = sorted({day if day > 0 else last + 1 + day for day in rule.month_days} or range(1, last + 1))
    return [date(year, month, day) for day in days if 1 <= day <= last]


def _times(rule: Rule, index: int, days: Sequence[date]) -> list[datetime]:
    """Return the times of an anchored rule on these days of a period."""
    hours = sorted(rule.hours)
    if rule.frequency == "HOURLY":
        hours = [index % 24] if index % 24 in (rule.hours or range(24)) else []
    clock = [time(hour, minute, second) for hour, minute, second in product(hours, rule.minutes, rule.seconds)]
    moments = sorted(datetime.combine(day, at) for day in days if rule.has_day(day) for at in clock)
    if not rule.positions:
        return moments
    chosen = (position - 1 if position > 0 else len(moments) + position for position in rule.positions)
    return [moments[place] for place in sorted(set(chosen)) if 0 <= place < len(moments)]


def _regular(rule: Rule) -> int | None:
    """Return how many times each whole period of an anchored rule has, or None if they differ or may differ."""
    if rule.positions or rule.months or rule.weeks or rule.year_days or rule.month_days:
        return None
    minutes = len(rule.minutes) * len(rule.seconds)
    match rule.frequency:
        case "WEEKLY":
            return len({day for _, day in rule.week_days}) * len(rule.hours) * minutes
        case "DAILY" if not rule.week_days:
            return len(rule.hours) * minutes
        case "HOURLY" if not rule.week_days and not rule.hours:
            return minutes
    return None
