"""Recurrence rules (RFC 5545, section 3.3.10)."""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Literal

from whenthen.services.calendar.times import Offset, Time, read_time

type Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY"]

MAX_TIMES_A_DAY = 48

_FREQUENCIES: dict[str, Frequency] = {
    "YEARLY": "YEARLY", "MONTHLY": "MONTHLY", "WEEKLY": "WEEKLY", "DAILY": "DAILY", "HOURLY": "HOURLY",
}  # fmt: skip
_TOO_OFTEN = {"SECONDLY", "MINUTELY"}
_DAYS = {"MO": 0, "TU": 1, "WE": 2, "TH": 3, "FR": 4, "SA": 5, "SU": 6}
_WEEK_DAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")


class TooOften(ValueError):
    """The rule gives more events than anybody wants to hear of."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How an event repeats. Sets that are empty stand for what the rule does not say.

    Parameters
    ----------
    interval:
        Every how many years, months, weeks, days or hours.
    count:
        How often in all, or None.
    until:
        The last time, or None.
    week_days:
        Days from Monday = 0, each with which one of the month or year it is; 0 for all.
    positions:
        Which of the times of a year, month, week, day or hour count: BYSETPOS.
    week_start:
        The day that weeks begin with.
    """

    frequency: Frequency
    interval: int = 1
    count: int | None = None
    until: Time | None = None
    months: frozenset[int] = frozenset()
    weeks: frozenset[int] = frozenset()
    year_days: frozenset[int] = frozenset()
    month_days: frozenset[int] = frozenset()
    week_days: frozenset[tuple[int, int]] = frozenset()
    hours: frozenset[int] = frozenset()
    minutes: frozenset[int] = frozenset()
    seconds: frozenset[int] = frozenset()
    positions: frozenset[int] = frozenset()
    week_start: int = 0

    def anchored(self, start: datetime) -> "Rule":
        """Return the rule with all that it leaves to the event's start."""
        months, month_days, week_days = self.months, self.month_days, self.week_days
        if not (self.weeks or self.year_days or month_days or week_days):
            if self.frequency == "YEARLY":
                months = months or frozenset({start.month})
            if self.frequency in ("YEARLY", "MONTHLY"):
                month_days = frozenset({start.day})
            elif self.frequency == "WEEKLY":
                week_days = frozenset({(0, start.weekday())})
        hours = self.hours
        if not hours and self.frequency != "HOURLY":
            hours = frozenset({start.hour})
        return replace(
            self,
            months=months,
            month_days=month_days,
            week_days=week_days,
            hours=hours,
            minutes=self.minutes or frozenset({start.minute}),
            seconds=self.seconds or frozenset({start.second}),
        )

    def has_day(self, day: date) -> bool:
        """Say if an anchored rule has times on `day`, as far as its year, month, week and day tell."""
        if self.months and day.month not in self.months:
            return False
        if self.month_days and not _counted(day.day, days_in_month(day.year, day.month), self.month_days):
            return False
        if self.year_days and not _counted(day.timetuple().tm_yday, _days_in_year(day.year), self.year_days):
            return False
        if self.week_days and not self._has_week_day(day):
            return False
        return not self.weeks or _counted(*_week_of(day, self.week_start), self.weeks)

    def _has_week_day(self, day: date) -> bool:
        week_day = day.weekday()
        numbered = self.frequency == "MONTHLY" or self.frequency == "YEARLY"
        if (0, week_day) in self.week_days or (not numbered and any(w == week_day for _, w in self.week_days)):
            return True
        if not numbered:
            return False
        if self.frequency == "MONTHLY" or self.months:
            at, of = day.day, days_in_month(day.year, day.month)
        else:
            at, of = day.timetuple().tm_yday, _days_in_year(day.year)
        return ((at - 1) // 7 + 1, week_day) in self.week_days or (-((of - at) // 7 + 1), week_day) in self.week_days


def read_rule(text: str, offset: Offset) -> Rule:
    """Return the rule that `text` writes for an event whose zone has this offset.

    Raises
    ------
    TooOften
        It repeats by the second or minute, or more than `MAX_TIMES_A_DAY` times a day.
    ValueError
        It is no rule.
    """
    parts = {}
    for part in text.strip().strip(";").split(";"):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError("not a rule")
        parts[name.strip().upper()] = value.strip().upper()
    frequency = parts.get("FREQ", "")
    if frequency in _TOO_OFTEN:
        raise TooOften
    if frequency not in _FREQUENCIES or parts.get("RSCALE", "GREGORIAN") != "GREGORIAN":
        raise ValueError("not a rule")
    rule = Rule(
        _FREQUENCIES[frequency],
        interval=_number(parts.get("INTERVAL", "1"), 1, 10**6),
        # Some programs write -1 for no end.
        count=_number(parts["COUNT"], 1, 10**9) if not parts.get("COUNT", "-").startswith("-") else None,
        until=read_time(parts["UNTIL"], offset) if "UNTIL" in parts else None,
        months=_numbers(parts, "BYMONTH", 1, 12),
        weeks=_numbers(parts, "BYWEEKNO", 1, 53, signed=True),
        year_days=_numbers(parts, "BYYEARDAY", 1, 366, signed=True),
        month_days=_numbers(parts, "BYMONTHDAY", 1, 31, signed=True),
        week_days=frozenset(_week_days(parts.get("BYDAY", ""))),
        hours=_numbers(parts, "BYHOUR", 0, 23),
        minutes=_numbers(parts, "BYMINUTE", 0, 59),
        seconds=frozenset(min(second, 59) for second in _numbers(parts, "BYSECOND", 0, 60)),
        positions=_numbers(parts, "BYSETPOS", 1, 366, signed=True),
        week_start=_DAYS.get(parts.get("WKST", ""), 0),
    )
    hours = 24 if rule.frequency == "HOURLY" and not rule.hours else len(rule.hours) or 1
    if hours * (len(rule.minutes) or 1) * (len(rule.seconds) or 1) > MAX_TIMES_A_DAY:
        raise TooOften
    return rule


def _numbers(parts: dict[str, str], name: str, least: int, most: int, *, signed: bool = False) -> frozenset[int]:
    found = parts.get(name, "")
    if not found:
        return frozenset()
    return frozenset(_number(text, least, most, signed=signed) for text in found.split(","))


def _number(text: str, least: int, most: int, *, signed: bool = False) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError("not a rule")
    number = int(text)
    if not least <= (abs(number) if signed else number) <= most:
        raise ValueError("not a rule")
    return number


def _week_days(text: str) -> list[tuple[int, int]]:
    days = []
    for part in filter(None, text.split(",")):
        found = _WEEK_DAY.fullmatch(part)
        if found is None:
            raise ValueError("not a rule")
        days.append((int(found[1] or 0), _DAYS[found[2]]))
    return days


def _counted(at: int, of: int, numbers: frozenset[int]) -> bool:
    """Say if place `at` among `of` is one of the numbers, which are negative from the end."""
    return at in numbers or at - of - 1 in numbers


def _days_in_year(year: int) -> int:
    return 366 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 365


def days_in_month(year: int, month: int) -> int:
    """Return how many days a month has."""
    if month == 2:
        return _days_in_year(year) - 337
    return 30 if month in (4, 6, 9, 11) else 31


def _week_of(day: date, week_start: int) -> tuple[int, int]:
    """Return the number of a day's week, and how many weeks its year has: the one with most of the week's days."""
    try:
        middle = day + timedelta(days=3 - (day.weekday() - week_start) % 7)
    except OverflowError:
        return 0, 0
    year_day = middle.timetuple().tm_yday
    number = (year_day - 1) // 7 + 1
    return number, number + (_days_in_year(middle.year) - year_day) // 7
