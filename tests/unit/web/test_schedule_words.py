"""Schedules in words."""

from typing import Any

import pytest

from whenthen.model.applet import ActionRef, Applet, TriggerRef
from whenthen.services.registry import SERVICES, find_trigger
from whenthen.web.console import language
from whenthen.web.console.applet_words import sentence, trigger_words
from whenthen.web.console.schedule_words import when

_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"]
_PLACE = {"latitude": 48.85, "longitude": 2.35}


def _when(slug: str, fields: dict[str, Any]) -> str:
    found = find_trigger("date_time", slug)
    assert found is not None
    return when(found.fields, fields)


_CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("every_hour_at", {"minute": 5}, "Every hour at :05"),
    ("every_minutes", {"minutes": 1}, "Every minute"),
    ("every_minutes", {"minutes": 15}, "Every 15 minutes"),
    ("every_day_at", {"time": "7:30"}, "Every day at 07:30"),
    ("every_weekday_at", {"time": "19:30", "weekdays": ["friday"]}, "Every Friday at 19:30"),
    ("every_weekday_at", {"time": "19:30", "weekdays": ["sunday", "wednesday"]}, "Every Wednesday and Sunday at 19:30"),
    (
        "every_weekday_at",
        {"time": "19:30", "weekdays": ["friday", "sunday", "monday"]},
        "Every Monday, Friday and Sunday at 19:30",
    ),
    ("every_weekday_at", {"time": "09:00", "weekdays": _DAYS}, "Monday to Friday at 09:00"),
    ("every_weekday_at", {"time": "09:00", "weekdays": [*_DAYS, "saturday", "sunday"]}, "Every day at 09:00"),
    ("every_month_on_the", {"time": "09:00", "month_day": 31}, "On day 31 of every month at 09:00"),
    ("every_month_on_the", {"time": "09:00", "month_day": "last"}, "On the last day of every month at 09:00"),
    ("every_year_on", {"time": "09:00", "month": 12, "day": 24}, "Every year on 24 December at 09:00"),
    ("cron", {"expression": "0 9 * * *"}, "At 09:00"),
    ("once_at", {"at": "2026-12-24T18:00"}, "Once at 2026-12-24 18:00"),
    ("sunset", {**_PLACE, "offset_minutes": -90}, "1 hour 30 minutes before sunset"),
    ("sunrise", {**_PLACE, "offset_minutes": 1}, "1 minute after sunrise"),
    # Its name says it.
    ("sunset", _PLACE, ""),
    # Not right yet.
    ("every_day_at", {"time": "25:00"}, ""),
    ("every_weekday_at", {"time": "09:00", "weekdays": []}, ""),
)


@pytest.mark.parametrize(("slug", "fields", "words"), _CASES)
def test_when_it_runs(slug: str, fields: dict[str, Any], words: str) -> None:
    assert _when(slug, fields) == words


def test_when_it_runs_in_japanese() -> None:
    token = language.current.set("ja")
    try:
        assert (
            _when("every_weekday_at", {"time": "19:30", "weekdays": ["sunday", "monday"]}) == "毎週月曜日、日曜日 19:30"
        )
        assert _when("every_year_on", {"time": "09:00", "month": 12, "day": 24}) == "毎年12月24日 09:00"
    finally:
        language.current.reset(token)


def test_every_schedule_has_words() -> None:
    """Given each trigger of the date & time service, then it is among the cases."""
    assert {slug for slug, *_rest in _CASES} == {trigger.slug for trigger in SERVICES["date_time"].triggers}


def test_an_applet_names_the_days() -> None:
    """Given a schedule on two days, then neither the sentence nor the values say that it runs every day."""
    fields = {"time": "19:30", "weekdays": ["sunday", "wednesday"]}
    trigger = TriggerRef(service="date_time", trigger="every_weekday_at", fields=fields)
    action = ActionRef(service="notifications", action="send_notification", fields={"message": "x"})
    applet = Applet(name="Bins", trigger=trigger, actions=(action,))
    assert sentence(applet) == (
        "When Date & Time: Every Wednesday and Sunday at 19:30, then Notifications: Send a notification"
    )
    assert trigger_words(trigger).name == "On days of the week at"
    assert dict(trigger_words(trigger).values)["Days"] == "Sunday, Wednesday"
