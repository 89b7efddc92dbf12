"""What the fields of date_time take, and what they refuse."""

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from whenthen.services.registry import find_trigger

PLACE = {"latitude": 48.85, "longitude": 2.35}


def validate(trigger: str, fields: dict[str, Any], zone: str = "UTC") -> Any:
    found = find_trigger("date_time", trigger)
    assert found is not None
    return found.fields.model_validate(fields, context={"zone": zone})


def refusal(trigger: str, fields: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as caught:
        validate(trigger, fields)
    return "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in caught.value.errors())


@pytest.mark.parametrize(
    ("given", "kept"), [("07:30", "07:30"), ("7:30", "07:30"), (" 23:59 ", "23:59"), ("0:00", "00:00")]
)
def test_times(given: str, kept: str) -> None:
    assert validate("every_day_at", {"time": given}).time == kept


@pytest.mark.parametrize("given", ["", "24:00", "12:60", "12", "12:5", "12:30:00", "7.30", "7:30 PM", "٠٧:٣٠", "noon"])
def test_no_times(given: str) -> None:
    assert "time: Value error, must be a time of day from 00:00 to 23:59" in refusal("every_day_at", {"time": given})


@pytest.mark.parametrize(
    ("trigger", "fields", "field"),
    [
        ("every_hour_at", {"minute": 60}, "minute"),
        ("every_hour_at", {"minute": -1}, "minute"),
        ("every_minutes", {"minutes": 0}, "minutes"),
        ("every_minutes", {"minutes": 1441}, "minutes"),
        ("every_weekday_at", {"time": "07:00", "weekdays": []}, "weekdays"),
        ("every_weekday_at", {"time": "07:00", "weekdays": ["someday"]}, "weekdays"),
        ("every_weekday_at", {"time": "07:00", "weekdays": "monday"}, "weekdays"),
        ("every_weekday_at", {"time": "07:00", "weekdays": [1]}, "weekdays"),
        ("every_month_on_the", {"time": "07:00", "month_day": 0}, "month_day"),
        ("every_month_on_the", {"time": "07:00", "month_day": 32}, "month_day"),
        ("every_month_on_the", {"time": "07:00", "month_day": "first"}, "month_day"),
        ("every_year_on", {"time": "07:00", "month": 13, "day": 1}, "month"),
        ("every_day_at", {"time": "07:00", "grace_minutes": -1}, "grace_minutes"),
        ("every_day_at", {"time": "07:00", "grace_minutes": 10081}, "grace_minutes"),
        ("every_day_at", {"time": "07:00", "catch_up": "some"}, "catch_up"),
        ("every_day_at", {"time": "07:00", "zone": "Europe/Nowhere"}, "zone"),
        ("every_day_at", {"time": "07:00", "zone": "../etc/passwd"}, "zone"),
        ("sunrise", {**PLACE, "latitude": 90.1}, "latitude"),
        ("sunrise", {**PLACE, "latitude": float("nan")}, "latitude"),
        ("sunrise", {**PLACE, "longitude": -180.5}, "longitude"),
        ("sunset", {**PLACE, "longitude": float("inf")}, "longitude"),
        ("sunset", {**PLACE, "offset_minutes": 721}, "offset_minutes"),
        ("sunset", {**PLACE, "offset_minutes": -721}, "offset_minutes"),
    ],
)
def test_what_is_out_of_range(trigger: str, fields: dict[str, Any], field: str) -> None:
    assert refusal(trigger, fields).startswith(field)


@pytest.mark.parametrize(("month", "day", "days"), [(4, 31, 30), (2, 30, 29), (11, 31, 30)])
def test_dates_that_no_year_has(month: int, day: int, days: int) -> None:
    assert f"this month has {days} days" in refusal("every_year_on", {"time": "07:00", "month": month, "day": day})


def test_weekdays_are_kept_in_order_and_once() -> None:
    fields = validate("every_weekday_at", {"time": "07:00", "weekdays": ["Sunday", "monday", "SUNDAY"]})
    assert fields.weekdays == ("monday", "sunday")
    assert fields.model_dump(mode="json")["weekdays"] == ["monday", "sunday"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("0 0 30 2 *", "names a date that never comes"),
        ("0 0 31 4,6,9,11 *", "names a date that never comes"),
        ("0 0 */31 * MON#2", "names a date that never comes"),
        ("* * * * * *", "must have five fields"),
        ("* * * *", "must have five fields"),
        ("@daily", "must have five fields"),
        ("60 * * * *", "a minute that can't be read: '60'"),
        ("* 24 * * *", "an hour that can't be read".replace("an hour", "a hour")),
        ("* * 0 * *", "a day-of-month that can't be read"),
        ("* * * 13 *", "a month that can't be read"),
        ("* * * * 8", "a day-of-week that can't be read"),
        ("* * * * someday", "a day-of-week that can't be read"),
        ("*/0 * * * *", "a minute that can't be read"),
        ("5-1 * * * *", "a minute that can't be read"),
        ("? * * * *", "a minute that can't be read"),
        ("²³ * * * *", "a minute that can't be read"),
        ("1,,2 * * * *", "a minute that can't be read"),
        ("-1 * * * *", "a minute that can't be read"),
        ("*/" + "9" * 150 + "x * * * *", "a minute that can't be read"),
    ],
)
def test_no_cron_expressions(given: str, words: str) -> None:
    assert words in refusal("cron", {"expression": given})


@pytest.mark.parametrize(
    "given", ["0 0 29 2 *", "0 0 * 2 MON#5", "0 0 29 2 */7", "0 0 L * *", "0 0 LW * *", "0 0 31 2 1"]
)
def test_rare_cron_expressions(given: str) -> None:
    assert validate("cron", {"expression": given}).expression == given


def test_spaces_of_a_cron_expression() -> None:
    assert validate("cron", {"expression": " 0\t7  * * mon-fri "}).expression == "0 7 * * mon-fri"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "tomorrow",
        "2026-12-24",
        "18:00",
        "2026-02-30T18:00",
        "2026-12-24T25:00",
        "1969-12-31T18:00",
        "9999-12-31T18:00",
        "2026-12-24T18:00+25:00",
        "2026-12-24T18:00 Europe/Paris",
        "20261224T1800",
        "2026-W52-4T18:00",
        "1790000000",
    ],
)
def test_no_moments(given: str) -> None:
    assert refusal("once_at", {"at": given}).startswith("at: ")


@pytest.mark.parametrize(
    "given",
    [
        "2026-12-24T18:00",
        "2026-12-24 18:00:30",
        "2026-12-24T18:00:00.250Z",
        "2026-12-24t18:00z",
        "2001-01-01T00:00-03:30",
    ],
)
def test_moments_also_past_ones(given: str) -> None:
    fields = validate("once_at", {"at": given})
    assert validate("once_at", fields.model_dump(mode="json")) == fields


def test_a_text_of_another_type_is_refused() -> None:
    for value in (None, 7, ["07:30"], {"time": 1}):
        refusal("every_day_at", {"time": value})
        refusal("cron", {"expression": value})
        refusal("once_at", {"at": value})


def test_the_catalogue_does_not_load_what_only_checks_need() -> None:
    code = "import whenthen.services.registry, sys; print(sorted({'astral', 'cronsim'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
