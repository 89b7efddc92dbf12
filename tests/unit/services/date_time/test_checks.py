"""Checks of date_time: what they find, and where they go on."""

from itertools import pairwise
from typing import Any

import pytest

from tests.unit.services.date_time.clockwork import DAY, HOUR, MINUTE, Watch, local, locals_after, ms
from tests.unit.services.date_time.samples import SAMPLES
from whenthen.services.registry import SERVICES, find_trigger
from whenthen.services.schedules.due import NEVER

TRIGGERS = [trigger.slug for trigger in SERVICES["date_time"].triggers]

START = ms("2026-09-21T14:13:20Z")


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_the_first_check_finds_nothing_and_says_when_to_look(trigger: str) -> None:
    watch = Watch(trigger, SAMPLES[trigger].fields)
    found = watch.checks.check(START)
    assert found.items == ()
    assert found.position == {"after": START}
    following = watch.checks.fields.next_slot(START)  # type: ignore[attr-defined]
    assert found.next_check_at == following.at > START


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_it_fires_once_with_all_its_ingredients_when_its_slot_comes(trigger: str) -> None:
    definition = find_trigger("date_time", trigger)
    assert definition is not None
    assert definition.offline
    watch = Watch(trigger, SAMPLES[trigger].fields)
    watch.look(START)
    assert watch.found is not None
    due = watch.found.next_check_at
    assert due is not None
    unchanged = watch.checks.position
    assert watch.look(due - 1) == []
    assert watch.checks.position == unchanged
    (item,) = watch.look(due)
    assert set(item.ingredients) == {ingredient.slug for ingredient in definition.ingredients}
    assert all(item.ingredients.values())
    assert (item.occurred_at, item.note, item.ingredients["LateMinutes"]) == (due, "", "0")
    assert watch.checks.position == {"after": due}
    assert watch.look(due) == watch.look(due + 1) == []
    assert len(watch.fired) == 1


def test_ingredients() -> None:
    watch = Watch("every_day_at", {"time": "23:01", "zone": "Asia/Tokyo"})
    watch.look(ms("2010-08-23T00:00Z"))
    (item,) = watch.look(ms("2010-08-23T14:01:30Z"))
    assert item.ingredients == {"CheckTime": "August 23, 2010 at 11:01PM", "DayOfWeek": "Monday", "LateMinutes": "0"}
    assert item.unique == "2010-08-23T23:01"


def test_a_late_run_says_so() -> None:
    watch = Watch("every_day_at", {"time": "07:00"})
    watch.look(ms("2026-09-21T06:00Z"))
    (item,) = watch.look(ms("2026-09-21T07:04:59Z"))
    assert item.note == "4 minutes late"
    assert item.ingredients["LateMinutes"] == "4"
    assert item.ingredients["CheckTime"] == "September 21, 2026 at 07:00AM"
    assert item.occurred_at == ms("2026-09-21T07:00Z")


def test_a_run_beyond_its_grace_is_missed_and_told() -> None:
    watch = Watch("every_day_at", {"time": "07:00", "zone": "Europe/Paris"})
    watch.look(ms("2026-09-21T04:00Z"))
    assert watch.look(ms("2026-09-21T06:01Z")) == []
    assert watch.found is not None
    assert watch.found.note == "The run of September 21, 2026 at 07:00AM was missed."
    assert watch.found.next_check_at == ms("2026-09-22T05:00Z")
    assert watch.checks.position == {"after": ms("2026-09-21T06:01Z")}
    watch.look(ms("2026-09-21T06:02Z"))
    assert watch.found.note == ""


def test_a_clock_that_is_turned_back_fires_nothing_and_forgets_nothing() -> None:
    watch = Watch("every_minutes", {"minutes": 1})
    watch.run(START, START + 10 * MINUTE)
    position = watch.checks.position
    assert watch.look(START + 3 * MINUTE) == []
    assert watch.checks.position == position
    assert watch.found is not None
    assert watch.found.next_check_at is not None
    assert watch.found.next_check_at > START + 10 * MINUTE
    assert len(watch.look(START + 11 * MINUTE)) == 1


def test_many_late_runs_come_fifty_at_a_time_and_each_once() -> None:
    watch = Watch("every_minutes", {"minutes": 1, "catch_up": "all", "grace_minutes": 10080})
    watch.look(START)
    now, looks = START + DAY, 0
    while True:
        fired = watch.look(now)
        assert watch.found is not None
        assert watch.found.next_check_at is not None
        looks += 1
        if watch.found.next_check_at > now:
            break
        assert len(fired) == 50
        now += MINUTE
    expected = range(START // MINUTE + 1, now // MINUTE + 1)
    assert [item.occurred_at // MINUTE for item in watch.fired] == list(expected)
    assert looks < 35


@pytest.mark.parametrize("catch_up", ["last", "all", "none"])
def test_a_check_that_is_not_stored_is_found_again(catch_up: str) -> None:
    watch = Watch("every_minutes", {"minutes": 10, "catch_up": catch_up})
    watch.look(START)
    old = watch.checks.position
    first = watch.checks.check(START + 7 * MINUTE)
    watch.checks.position = old
    again = watch.checks.check(START + 9 * MINUTE)
    assert [item.unique for item in again.items] == ([] if catch_up == "none" else [first.items[0].unique])


@pytest.mark.parametrize("expression", ["* * * * *", "*/7 1-23 * * *", "0 7 * * *"])
def test_a_year_without_a_look_is_no_effort(expression: str) -> None:
    watch = Watch("cron", {"expression": expression, "zone": "Europe/Paris", "grace_minutes": 10080})
    watch.look(START)
    (item,) = watch.look(START + 365 * DAY)
    assert START + 364 * DAY < item.occurred_at <= START + 365 * DAY
    assert watch.found is not None
    assert "runs were missed, the first of September" in watch.found.note


@pytest.mark.parametrize(
    ("fields", "zone", "at", "unique"),
    [
        ({"at": "2026-12-24T18:00"}, "Europe/Paris", "2026-12-24T17:00Z", "2026-12-24T18:00:00"),
        ({"at": "2026-12-24T18:00+05:30"}, "Europe/Paris", "2026-12-24T12:30Z", "2026-12-24T12:30:00.000Z"),
        # In a gap, and in the hour that comes twice.
        ({"at": "2026-03-29T02:30"}, "Europe/Paris", "2026-03-29T01:00Z", "2026-03-29T02:30:00"),
        ({"at": "2026-10-25T02:30"}, "Europe/Paris", "2026-10-25T00:30Z", "2026-10-25T02:30:00"),
    ],
)
def test_once_at(fields: dict[str, Any], zone: str, at: str, unique: str) -> None:
    watch = Watch("once_at", fields, zone=zone)
    watch.look(ms(at) - DAY)
    assert watch.found is not None
    assert watch.found.next_check_at == ms(at)
    (item,) = watch.look(ms(at))
    assert (item.occurred_at, item.unique) == (ms(at), unique)
    assert watch.found.next_check_at == NEVER
    assert watch.look(ms(at) + DAY) == []


def test_once_at_a_time_that_has_passed_never_fires() -> None:
    watch = Watch("once_at", {"at": "2020-01-01T00:00", "catch_up": "all", "grace_minutes": 10080})
    watch.look(START)
    assert watch.found is not None
    assert watch.found.next_check_at == NEVER
    assert watch.look(START + MINUTE) == []


def test_once_at_on_a_date_that_was_left_out_never_fires() -> None:
    watch = Watch("once_at", {"at": "2011-12-30T12:00", "zone": "Pacific/Apia"})
    watch.look(ms("2011-12-01T00:00Z"))
    assert watch.found is not None
    assert watch.found.next_check_at == NEVER


def runs(trigger: str, fields: dict[str, Any], after: str, count: int) -> list[str]:
    return [text[:16] for text in locals_after(Watch(trigger, fields).checks.fields, ms(after), count, "UTC")]


def test_the_last_day_of_a_month_and_days_that_it_lacks() -> None:
    ends = ["2028-01-31T07:00", "2028-02-29T07:00", "2028-03-31T07:00", "2028-04-30T07:00"]
    for month_day in ("last", 31):
        assert runs("every_month_on_the", {"time": "07:00", "month_day": month_day}, "2028-01-05T00:00Z", 4) == ends
    assert runs("every_month_on_the", {"time": "07:00", "month_day": 30}, "2027-01-31T00:00Z", 2) == [
        "2027-02-28T07:00",
        "2027-03-30T07:00",
    ]
    assert runs("every_month_on_the", {"time": "07:00", "month_day": 15}, "2027-01-15T07:00Z", 1) == [
        "2027-02-15T07:00"
    ]


def test_the_29th_of_february() -> None:
    assert runs("every_year_on", {"time": "07:00", "month": 2, "day": 29}, "2027-03-01T00:00Z", 3) == [
        "2028-02-29T07:00",
        "2029-02-28T07:00",
        "2030-02-28T07:00",
    ]
    # Cron says what it says: leap years alone.
    assert runs("cron", {"expression": "0 7 29 2 *"}, "2027-03-01T00:00Z", 2) == [
        "2028-02-29T07:00",
        "2032-02-29T07:00",
    ]


def test_an_interval_that_does_not_divide_the_day_does_not_drift() -> None:
    fields = Watch("every_minutes", {"minutes": 7}).checks.fields
    assert fields.next_slot(START).at == (START // (7 * MINUTE) + 1) * 7 * MINUTE  # type: ignore[attr-defined]
    assert runs("every_minutes", {"minutes": 1440}, "2026-09-21T14:00Z", 2) == ["2026-09-22T00:00", "2026-09-23T00:00"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # Every second hour goes by the wall clock: the one in the gap is made up for, the one twice runs once.
        ("0 */2 * * *", ["00:00+01:00", "03:00+02:00", "04:00+02:00"]),
        ("*/30 2 * * *", ["03:00+02:00"]),
        ("0 2,3 * * *", ["03:00+02:00"]),
        ("30 2,3 * * *", ["03:00+02:00", "03:30+02:00"]),
        ("30 0-23 * * *", ["00:30+01:00", "01:30+01:00", "03:30+02:00", "04:30+02:00"]),
    ],
)
def test_cron_in_the_gap(expression: str, expected: list[str]) -> None:
    zone = "Europe/Paris"
    fields = Watch("cron", {"expression": expression, "zone": zone}).checks.fields
    after, end = ms("2026-03-28T23:59", zone), ms("2026-03-29T04:45", zone)
    found = [text[11:] for text in locals_after(fields, after, 6, zone) if ms(text) <= end]
    assert found == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 */2 * * *", ["00:00+02:00", "02:00+02:00", "04:00+01:00"]),
        ("*/30 2 * * *", ["02:00+02:00", "02:30+02:00"]),
        ("30 0-23 * * *", ["00:30+02:00", "01:30+02:00", "02:30+02:00", "02:30+01:00", "03:30+01:00", "04:30+01:00"]),
    ],
)
def test_cron_in_the_hour_that_comes_twice(expression: str, expected: list[str]) -> None:
    zone = "Europe/Paris"
    fields = Watch("cron", {"expression": expression, "zone": zone}).checks.fields
    after, end = ms("2026-10-24T23:59", zone), ms("2026-10-25T04:45", zone)
    found = [text[11:] for text in locals_after(fields, after, 8, zone) if ms(text) <= end]
    assert found == expected


def test_half_hours_of_lord_howe() -> None:
    zone = "Australia/Lord_Howe"
    fields = Watch("every_hour_at", {"minute": 45, "zone": zone}).checks.fields
    # The clock goes back from 02:00 to 01:30: a quarter to two comes twice.
    assert locals_after(fields, ms("2026-04-04T14:00Z"), 3, zone) == [
        "2026-04-05T01:45+11:00",
        "2026-04-05T01:45+10:30",
        "2026-04-05T02:45+10:30",
    ]


def test_zones_that_have_changed_without_daylight_saving() -> None:
    # Kazakhstan went to one time on 1 March 2024: the clock of Almaty went back an hour at midnight.
    fields = Watch("every_day_at", {"time": "23:30", "zone": "Asia/Almaty"}).checks.fields
    assert locals_after(fields, ms("2024-02-28T20:00Z"), 3, "Asia/Almaty") == [
        "2024-02-29T23:30+06:00",
        "2024-03-01T23:30+05:00",
        "2024-03-02T23:30+05:00",
    ]


def test_checks_are_exact_to_the_hour_of_local_days() -> None:
    watch = Watch("every_day_at", {"time": "12:00", "zone": "America/New_York"})
    fired = watch.run(ms("2026-10-30T12:00Z"), ms("2026-11-03T00:00Z"), 10 * MINUTE)
    gaps = [ms(b) - ms(a) for a, b in pairwise(fired)]
    assert gaps == [24 * HOUR, 25 * HOUR, 24 * HOUR]
    assert [local(ms(text), "America/New_York")[11:16] for text in fired] == ["12:00"] * 4
