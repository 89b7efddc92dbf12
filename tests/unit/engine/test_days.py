"""An owner's days over slots and hours of UTC."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.clock import from_datetime
from whenthen.engine.days import day_of_hour, day_slots, last_days, read_day
from whenthen.errors import FieldError

ZONES = [
    "UTC",
    "Asia/Tokyo",
    "America/New_York",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
]


@pytest.mark.parametrize(
    ("day", "zone", "slots"),
    [
        ("2026-11-30", "UTC", ("202611300000", "202611302330")),
        ("2026-11-30", "Asia/Tokyo", ("202611291500", "202611301430")),
        ("2026-11-30", "Asia/Kolkata", ("202611291830", "202611301800")),
        # A quarter of an hour off: a slot is of the day in which it begins.
        ("2026-11-30", "Asia/Kathmandu", ("202611291830", "202611301800")),
        # The clock goes forward, and back.
        ("2026-03-29", "Europe/Paris", ("202603282300", "202603292130")),
        ("2026-10-25", "Europe/Paris", ("202610242200", "202610252230")),
    ],
)
def test_the_slots_of_a_day(day: str, zone: str, slots: tuple[str, str]) -> None:
    assert day_slots(date.fromisoformat(day), zone) == slots


@given(st.dates(date(1972, 1, 1), date(2100, 1, 1)), st.sampled_from(ZONES))
def test_days_follow_each_other_without_a_gap(day: date, zone: str) -> None:
    _, last = day_slots(day, zone)
    first, _ = day_slots(day + timedelta(days=1), zone)
    end = datetime.strptime(last, "%Y%m%d%H%M").replace(tzinfo=UTC) + timedelta(minutes=30)
    assert end.strftime("%Y%m%d%H%M") == first


@pytest.mark.parametrize(
    ("hour", "zone", "day"),
    [
        ("2026112923", "UTC", "2026-11-29"),
        ("2026112914", "Asia/Tokyo", "2026-11-29"),
        ("2026112915", "Asia/Tokyo", "2026-11-30"),
        # 18:30 UTC is midnight: the hour is half of either day, and counted to the one it begins in.
        ("2026112918", "Asia/Kolkata", "2026-11-29"),
        ("2026112919", "Asia/Kolkata", "2026-11-30"),
        # 18:15 UTC is midnight.
        ("2026112918", "Asia/Kathmandu", "2026-11-29"),
        ("2026113004", "America/New_York", "2026-11-29"),
        ("2026113005", "America/New_York", "2026-11-30"),
    ],
)
def test_the_day_of_an_hour(hour: str, zone: str, day: str) -> None:
    assert day_of_hour(hour, zone) == date.fromisoformat(day)


def test_the_last_days() -> None:
    now = from_datetime(datetime(2026, 11, 29, 15, tzinfo=UTC))
    assert last_days(now, "Asia/Tokyo", 2) == [date(2026, 11, 29), date(2026, 11, 30)]
    assert last_days(now, "UTC", 1) == [date(2026, 11, 29)]


@pytest.mark.parametrize(
    "text", ["", "today", "2026-13-01", "20261130", "2026-11-30T00", "0001-01-01", "9999-12-31", "٢٠٢٦-١١-٣٠"]
)
def test_what_is_no_day(text: str) -> None:
    with pytest.raises(FieldError, match="day"):
        read_day(text)
