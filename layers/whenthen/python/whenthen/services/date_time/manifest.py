"""What the date & time service offers."""

from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.date_time.checks import check_schedule
from whenthen.services.date_time.fields import (
    CronFields,
    EveryDayAtFields,
    EveryHourAtFields,
    EveryMinutesFields,
    EveryMonthOnTheFields,
    EveryWeekdayAtFields,
    EveryYearOnFields,
    OnceAtFields,
    SunriseFields,
    SunsetFields,
)
from whenthen.services.schedules.fields import ScheduleFields
from whenthen.services.schedules.items import SLOT_INGREDIENTS


def _trigger(
    slug: str, name: str, description: str, fields: type[ScheduleFields], more: tuple[Ingredient, ...] = ()
) -> Trigger:
    return Trigger(
        slug=slug,
        name=name,
        description=description,
        fields=fields,
        ingredients=(*SLOT_INGREDIENTS, *more),
        check=check_schedule,
        offline=True,
    )


SERVICE = Service(
    slug="date_time",
    name="Date & Time",
    triggers=(
        _trigger(
            "every_hour_at",
            "Every hour at",
            "Fires once an hour at a number of minutes past the hour, also in an hour that comes twice.",
            EveryHourAtFields,
        ),
        _trigger(
            "every_minutes",
            "Every so many minutes",
            "Fires at a fixed interval of up to a day.",
            EveryMinutesFields,
        ),
        _trigger("every_day_at", "Every day at", "Fires every day at a time of day.", EveryDayAtFields),
        _trigger(
            "every_weekday_at",
            "On days of the week at",
            "Fires at a time of day on the days of the week you choose.",
            EveryWeekdayAtFields,
        ),
        _trigger(
            "every_month_on_the",
            "Every month on the",
            "Fires every month on a day at a time; a month without that day fires on its last one.",
            EveryMonthOnTheFields,
        ),
        _trigger(
            "every_year_on",
            "Every year on",
            "Fires once a year on a date at a time; 29 February is 28 February in other years.",
            EveryYearOnFields,
        ),
        _trigger("cron", "By a cron expression", "Fires whenever a cron expression says so.", CronFields),
        _trigger("once_at", "Once at", "Fires a single time. A time that has passed never comes.", OnceAtFields),
        _trigger(
            "sunrise",
            "Sunrise",
            "Fires at sunrise, or some minutes before or after it. A day without a sunrise is left out.",
            SunriseFields,
            (Ingredient("SunriseAt", "When the sun rises", "August 23, 2010 at 06:04AM"),),
        ),
        _trigger(
            "sunset",
            "Sunset",
            "Fires at sunset, or some minutes before or after it. A day without a sunset is left out.",
            SunsetFields,
            (Ingredient("SunsetAt", "When the sun sets", "August 23, 2010 at 08:07PM"),),
        ),
    ),
)
