"""Fields of the date & time service."""

from calendar import monthrange
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from whenthen.clock import isoformat
from whenthen.services.date_time.cron import check_cron, next_cron_slot
from whenthen.services.date_time.once import check_moment, moment_slot
from whenthen.services.date_time.sun import next_sun_event
from whenthen.services.date_time.words import cron_words
from whenthen.services.schedules.days import every_day, is_day_of_month, on_days, time_of_day
from whenthen.services.schedules.fields import Latitude, Longitude, ScheduleFields, TimeOfDay
from whenthen.services.schedules.slots import Slot, next_elapsed_slot, next_wall_slot
from whenthen.services.zones import zone_info

type Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

WEEKDAYS: tuple[Weekday, ...] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MINUTE_MS = 60_000
_LEAP_YEAR = 2024


def _lower_case(names: Any) -> Any:
    return [name.lower() if isinstance(name, str) else name for name in names] if isinstance(names, list) else names


def _in_order(names: tuple[Weekday, ...]) -> tuple[Weekday, ...]:
    return tuple(name for name in WEEKDAYS if name in names)


class EveryHourAtFields(ScheduleFields):
    """A minute of every hour."""

    minute: Annotated[
        int, Field(title="Minute", description="Minutes past the hour: 0, 15, 30, 45 or any other.", ge=0, le=59)
    ]

    def next_slot(self, after: int) -> Slot | None:
        """See `ScheduleFields.next_slot`."""
        return next_elapsed_slot(self._next_wall, zone_info(self.zone), after)

    def _next_wall(self, after: datetime) -> datetime:
        wall = after.replace(minute=self.minute, second=0, microsecond=0)
        return wall if wall > after else wall + timedelta(hours=1)


class EveryMinutesFields(ScheduleFields):
    """An interval shorter than a day, or one day."""

    minutes: Annotated[
        int,
        Field(
            title="Minutes",
            description="Minutes from one run to the next, from 1 to 1440. They are counted in time that passes, from "
            "midnight UTC of 1 January 1970: changes of the clock shift nothing, and 15 runs at :00, :15, :30 and :45.",
            ge=1,
            le=1440,
        ),
    ]

    def next_slot(self, after: int) -> Slot | None:
        """See `ScheduleFields.next_slot`."""
        step = self.minutes * _MINUTE_MS
        at = (after // step + 1) * step
        return Slot(at, isoformat(at))


class EveryDayAtFields(ScheduleFields):
    """A time of every day."""

    time: TimeOfDay

    def next_slot(self, after: int) -> Slot | None:
        """See `ScheduleFields.next_slot`."""
        return next_wall_slot(on_days(time_of_day(self.time), self._is_day), zone_info(self.zone), after)

    def _is_day(self, day: date) -> bool:
        return every_day(day)


class EveryWeekdayAtFields(EveryDayAtFields):
    """A time on some days of the week."""

    weekdays: Annotated[
        tuple[Weekday, ...],
        BeforeValidator(_lower_case),
        AfterValidator(_in_order),
        Field(title="Days", description="Any days of the week, such as monday.", min_length=1, max_length=7),
    ]

    def _is_day(self, day: date) -> bool:
        return WEEKDAYS[day.weekday()] in self.weekdays


class EveryMonthOnTheFields(EveryDayAtFields):
    """A time on a day of every month."""

    month_day: Annotated[
        Annotated[int, Field(ge=1, le=31)] | Literal["last"],
        Field(
            title="Day of the month",
            description="From 1 to 31, or last. A month that has no such day runs on its last one.",
        ),
    ]

    def _is_day(self, day: date) -> bool:
        return is_day_of_month(day, 31 if self.month_day == "last" else self.month_day)


class EveryYearOnFields(EveryDayAtFields):
    """A time on a date of every year."""

    month: Annotated[int, Field(title="Month", description="From 1, January, to 12, December.", ge=1, le=12)]
    day: Annotated[
        int,
        Field(
            title="Day",
            description="Day of the month. 29 February is 28 February in years that have none.",
            ge=1,
            le=31,
        ),
    ]

    @model_validator(mode="after")
    def _exists(self) -> Self:
        days = monthrange(_LEAP_YEAR, self.month)[1]
        if self.day > days:
            raise ValueError(f"must be a date of the calendar: this month has {days} days")
        return self

    def _is_day(self, day: date) -> bool:
        return day.month == self.month and is_day_of_month(day, self.day)


class CronFields(ScheduleFields):
    """A cron expression."""

    expression: Annotated[
        str,
        StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
        AfterValidator(check_cron),
        Field(
            title="Cron expression",
            description="Five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday, "
            "names like mon are taken). One that names every hour keeps running through changes of the clock; "
            "any other runs once for each time of day.",
        ),
    ]

    def next_slot(self, after: int) -> Slot | None:
        """See `ScheduleFields.next_slot`."""
        return next_cron_slot(self.expression, zone_info(self.zone), after)

    def words(self, language: str) -> str:
        """See `ScheduleFields.words`."""
        return cron_words(self.expression, language)


class OnceAtFields(ScheduleFields):
    """A single instant."""

    at: Annotated[
        str,
        StringConstraints(min_length=1, max_length=40, strip_whitespace=True),
        AfterValidator(check_moment),
        Field(
            title="Date and time",
            description="In the time zone, such as 2026-12-24T18:00, or with an offset: 2026-12-24T18:00+01:00. "
            "A time that has passed when the applet is turned on never comes.",
        ),
    ]

    def next_slot(self, after: int) -> Slot | None:
        """See `ScheduleFields.next_slot`."""
        slot = moment_slot(self.at, zone_info(self.zone))
        return slot if slot and slot.at > after else None


class SunFields(ScheduleFields):
    """A place and how far from its sunrise or sunset."""

    latitude: Latitude
    longitude: Longitude
    offset_minutes: Annotated[
        int,
        Field(title="Offset", description="Minutes after it; negative for before. At most 12 hours.", ge=-720, le=720),
    ] = 0

    event_ingredient: ClassVar[str] = ""
    """The ingredient that tells the sunrise or sunset itself."""

    def sun_event_of(self, slot_at: int) -> int:
        """Return the instant of the sunrise or sunset itself from that of a slot; epoch milliseconds."""
        return slot_at - self.offset_minutes * _MINUTE_MS

    def _next(self, after: int, *, rising: bool) -> Slot | None:
        event = next_sun_event(self.sun_event_of(after), self.latitude, self.longitude, rising=rising)
        # Its date alone is the key: the instant may differ by a second from one release of astral to the next.
        return Slot(event.at + self.offset_minutes * _MINUTE_MS, event.day.isoformat()) if event else None


class SunriseFields(SunFields):
    """See `SunFields`."""

    event_ingredient: ClassVar[str] = "SunriseAt"

    def next_slot(self, after: int) -> Slot | None:
        """See `ScheduleFields.next_slot`."""
        return self._next(after, rising=True)


class SunsetFields(SunFields):
    """See `SunFields`."""

    event_ingredient: ClassVar[str] = "SunsetAt"

    def next_slot(self, after: int) -> Slot | None:
        """See `ScheduleFields.next_slot`."""
        return self._next(after, rising=False)
