"""When a schedule runs, in words: Every Sunday and Wednesday at 19:30."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from whenthen.services.date_time.fields import (
    WEEKDAYS,
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
from whenthen.web.console import language
from whenthen.web.console.language import gettext as _
from whenthen.web.console.language import ngettext

_WORKDAYS = WEEKDAYS[:5]


def when(model: type[BaseModel], values: Mapping[str, Any]) -> str:
    """Return when a trigger of the date & time service runs; empty for others, and when the values are not right."""
    if not issubclass(model, ScheduleFields):
        return ""
    try:
        fields = model.model_validate(dict(values))
    except ValidationError:
        return ""
    return _words(fields)


def duration(seconds: int) -> str:
    """Return a length of time in words: ``1 hour 30 minutes``."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    counted = (
        (days, ngettext("%(num)d day", "%(num)d days", days)),
        (hours, ngettext("%(num)d hour", "%(num)d hours", hours)),
        (minutes, ngettext("%(num)d minute", "%(num)d minutes", minutes)),
        (seconds, ngettext("%(num)d second", "%(num)d seconds", seconds)),
    )
    return " ".join(words % {"num": number} for number, words in counted if number)


def _words(fields: BaseModel) -> str:
    match fields:
        case EveryHourAtFields():
            return _("Every hour at :%(minute)s") % {"minute": f"{fields.minute:02}"}
        case EveryMinutesFields():
            return ngettext("Every minute", "Every %(num)d minutes", fields.minutes) % {"num": fields.minutes}
        case EveryWeekdayAtFields():
            return _on_weekdays(fields)
        case EveryMonthOnTheFields(month_day="last"):
            return _("On the last day of every month at %(time)s") % {"time": fields.time}
        case EveryMonthOnTheFields():
            values = {"day": fields.month_day, "time": fields.time}
            return _("On day %(day)s of every month at %(time)s") % values
        case EveryYearOnFields():
            values = {"day": fields.day, "month": _months()[fields.month - 1], "time": fields.time}
            return _("Every year on %(day)s %(month)s at %(time)s") % values
        case EveryDayAtFields():
            return _("Every day at %(time)s") % {"time": fields.time}
        case CronFields():
            return fields.words(language.current.get())
        case OnceAtFields():
            return _("Once at %(time)s") % {"time": fields.at.replace("T", " ")}
        case SunriseFields(offset_minutes=minutes) if minutes:
            return _beside(minutes, _("%(time)s after sunrise"), _("%(time)s before sunrise"))
        case SunsetFields(offset_minutes=minutes) if minutes:
            return _beside(minutes, _("%(time)s after sunset"), _("%(time)s before sunset"))
    return ""


def _on_weekdays(fields: EveryWeekdayAtFields) -> str:
    if fields.weekdays == WEEKDAYS:
        return _("Every day at %(time)s") % {"time": fields.time}
    if fields.weekdays == _WORKDAYS:
        return _("Monday to Friday at %(time)s") % {"time": fields.time}
    names = _weekdays()
    *first, last = (names[name] for name in fields.weekdays)
    days = _("%(days)s and %(last)s") % {"days": _(", ").join(first), "last": last} if first else last
    return _("Every %(days)s at %(time)s") % {"days": days, "time": fields.time}


def _beside(minutes: int, after: str, before: str) -> str:
    return (after if minutes > 0 else before) % {"time": duration(abs(minutes) * 60)}


def _weekdays() -> dict[str, str]:
    names = (*(_("Monday"), _("Tuesday"), _("Wednesday"), _("Thursday"), _("Friday"), _("Saturday"), _("Sunday")),)
    return dict(zip(WEEKDAYS, names, strict=True))


def _months() -> tuple[str, ...]:
    return (
        *(_("January"), _("February"), _("March"), _("April"), _("May"), _("June")),
        *(_("July"), _("August"), _("September"), _("October"), _("November"), _("December")),
    )
