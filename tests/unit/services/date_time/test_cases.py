"""Public complaints about schedules, each as a test (cases.tsv)."""

from typing import Any

import pytest

from tests.unit.services.date_time.clockwork import DAY, HOUR, MINUTE, Watch, local, locals_after, ms


def fields_of(trigger: str, fields: dict[str, Any], zone: str) -> Any:
    return Watch(trigger, {**fields, "zone": zone}).checks.fields


@pytest.mark.parametrize("trigger", ["every_day_at", "cron"])
@pytest.mark.parametrize(
    ("case", "zone", "time", "after", "expected"),
    [
        (
            "C02",
            "Europe/Paris",
            "02:00",
            "2024-03-30T12:00",
            ["2024-03-31T03:00+02:00", "2024-04-01T02:00+02:00"],
        ),
        (
            "C03",
            "America/New_York",
            "02:00",
            "2017-03-11T12:00",
            ["2017-03-12T03:00-04:00", "2017-03-13T02:00-04:00"],
        ),
        (
            "C04",
            "Europe/Prague",
            "07:00",
            "2024-03-30T06:00",
            ["2024-03-30T07:00+01:00", "2024-03-31T07:00+02:00", "2024-04-01T07:00+02:00"],
        ),
        (
            "C06",
            "US/Pacific",
            "00:00",
            "2022-03-12T12:00",
            ["2022-03-13T00:00-08:00", "2022-03-14T00:00-07:00", "2022-03-15T00:00-07:00"],
        ),
        (
            "C12",
            "America/New_York",
            "02:30",
            "2026-03-07T12:00",
            ["2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"],
        ),
        (
            "C13",
            "America/Santiago",
            "00:00",
            "2025-09-06T12:00",
            ["2025-09-07T01:00-03:00", "2025-09-08T00:00-03:00"],
        ),
        (
            "C13",
            "America/Santiago",
            "00:30",
            "2024-09-07T12:00",
            ["2024-09-08T01:00-03:00", "2024-09-09T00:30-03:00"],
        ),
    ],
)
def test_c02_c03_c04_c06_c12_c13_a_time_in_a_gap_runs_at_its_end(
    trigger: str, case: str, zone: str, time: str, after: str, expected: list[str]
) -> None:
    hour, minute = time.split(":")
    values = {"time": time} if trigger == "every_day_at" else {"expression": f"{minute} {hour} * * *"}
    fields = fields_of(trigger, values, zone)
    assert locals_after(fields, ms(after, zone), len(expected), zone) == expected


def test_c02_on_the_day_itself_it_runs_once() -> None:
    watch = Watch("every_day_at", {"time": "02:00", "zone": "Europe/Paris"})
    assert watch.run(ms("2024-03-30T23:00Z"), ms("2024-03-31T12:00Z")) == ["2024-03-31T03:00+02:00"]


def test_c04_a_watch_over_the_change_needs_no_restart() -> None:
    watch = Watch("every_day_at", {"time": "07:00", "zone": "Europe/Prague"})
    fired = watch.run(ms("2024-03-29T12:00Z"), ms("2024-04-01T12:00Z"))
    assert fired == ["2024-03-30T07:00+01:00", "2024-03-31T07:00+02:00", "2024-04-01T07:00+02:00"]
    assert [item.ingredients["CheckTime"] for item in watch.fired][1] == "March 31, 2024 at 07:00AM"


def test_c05_a_slot_has_one_identity_whoever_finds_it_and_when() -> None:
    zone = "Europe/Amsterdam"
    start = ms("2026-03-28T20:00", zone)
    found = set()
    for checked in ("2026-03-29T12:00", "2026-03-29T12:01", "2026-03-29T12:50"):
        watch = Watch("every_day_at", {"time": "12:00", "zone": zone})
        watch.look(start)
        found |= {(item.unique, item.occurred_at) for item in watch.look(ms(checked, zone))}
    assert found == {("2026-03-29T12:00", ms("2026-03-29T12:00", zone))}


def test_c05_it_runs_once_on_the_day_of_the_change() -> None:
    watch = Watch("every_day_at", {"time": "12:00", "zone": "Europe/Amsterdam"})
    fired = watch.run(ms("2026-03-28T12:00Z"), ms("2026-03-30T09:00Z"))
    assert fired == ["2026-03-29T12:00+02:00"]


def test_c05_an_hour_that_comes_twice_runs_the_first_time_alone() -> None:
    for trigger, fields in (("every_day_at", {"time": "01:30"}), ("cron", {"expression": "30 1 * * *"})):
        watch = Watch(trigger, {**fields, "zone": "America/New_York"})
        fired = watch.run(ms("2026-10-31T12:00Z"), ms("2026-11-02T12:00Z"))
        assert fired == ["2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"]


def test_c06_a_late_look_does_not_move_the_slot_that_is_recorded() -> None:
    watch = Watch("every_day_at", {"time": "00:00", "zone": "US/Pacific"})
    watch.look(ms("2022-03-12T12:00", "US/Pacific"))
    (first,) = watch.look(ms("2022-03-13T00:00:37", "US/Pacific"))
    (second,) = watch.look(ms("2022-03-14T00:00:59", "US/Pacific"))
    assert (first.unique, second.unique) == ("2022-03-13T00:00", "2022-03-14T00:00")
    assert second.occurred_at - first.occurred_at == 23 * HOUR


def test_c07_a_weekly_run_keeps_its_wall_time() -> None:
    zone = "Europe/Brussels"
    expected = ["2019-03-26T16:00+01:00", "2019-04-02T16:00+02:00", "2019-04-09T16:00+02:00"]
    for trigger, values in (
        ("every_weekday_at", {"time": "16:00", "weekdays": ["tuesday"]}),
        ("cron", {"expression": "0 16 * * tue"}),
    ):
        assert locals_after(fields_of(trigger, values, zone), ms("2019-03-26T15:00", zone), 3, zone) == expected


def test_c07_an_interval_within_a_day_goes_by_elapsed_time() -> None:
    fields = fields_of("every_minutes", {"minutes": 360}, "Europe/Brussels")
    at = ms("2019-03-30T20:00Z")
    for _ in range(8):
        slot = fields.next_slot(at)
        assert slot.at == at - at % (6 * HOUR) + 6 * HOUR
        at = slot.at


@pytest.mark.parametrize(
    ("catch_up", "minutes_late"), [("last", [0]), ("all", [4, 3, 2, 1, 0]), ("none", [1, 0])], ids=str
)
@pytest.mark.parametrize(
    ("trigger", "fields"), [("cron", {"expression": "* * * * *"}), ("every_minutes", {"minutes": 1})], ids=["cron", "n"]
)
def test_c08_missed_slots_follow_the_stated_policy(
    trigger: str, fields: dict[str, Any], catch_up: str, minutes_late: list[int]
) -> None:
    watch = Watch(trigger, {**fields, "catch_up": catch_up})
    start = ms("2026-09-21T14:00Z")
    watch.look(start)
    assert watch.found is not None
    assert watch.look(start + MINUTE)
    # The clock jumps: the next four minutes are not looked at.
    now = start + 6 * MINUTE
    fired = watch.look(now)
    assert [(now - item.occurred_at) // MINUTE for item in fired] == minutes_late
    missed = 5 - len(minutes_late)
    assert watch.found.note == (
        f"{missed} runs were missed, the first of September 21, 2026 at 02:02PM." if missed else ""
    )
    assert watch.look(now + MINUTE)[0].occurred_at == now + MINUTE


def test_c10_the_next_slot_is_always_later() -> None:
    # All of the properties' zones and more are in test_properties.py; this is the reported hour.
    for zone in ("Europe/London", "America/Sao_Paulo", "Asia/Amman", "Africa/Casablanca", "Australia/Lord_Howe"):
        for expression in ("0 * * * *", "*/10 * * * *", "30 1 * * *", "0 0 * * *", "0 */2 * * *"):
            fields = fields_of("cron", {"expression": expression}, zone)
            for start in ("2018-10-20T00:00Z", "2018-11-03T22:00Z", "2018-10-28T00:00Z", "2018-04-01T00:00Z"):
                at = ms(start)
                for _ in range(40):
                    slot = fields.next_slot(at)
                    assert slot.at > at
                    at = slot.at


@pytest.mark.parametrize(
    ("trigger", "fields"),
    [("cron", {"expression": "*/15 * * * *"}), ("every_minutes", {"minutes": 15})],
    ids=["cron", "every_minutes"],
)
def test_c15_frequent_runs_go_on_through_the_hour_that_comes_twice(trigger: str, fields: dict[str, Any]) -> None:
    watch = Watch(trigger, {**fields, "zone": "Europe/London"})
    fired = watch.run(ms("2025-10-26T00:00Z"), ms("2025-10-26T02:00Z"))
    assert fired == [
        "2025-10-26T01:15+01:00",
        "2025-10-26T01:30+01:00",
        "2025-10-26T01:45+01:00",
        "2025-10-26T01:00+00:00",
        "2025-10-26T01:15+00:00",
        "2025-10-26T01:30+00:00",
        "2025-10-26T01:45+00:00",
        "2025-10-26T02:00+00:00",
    ]
    assert len({item.unique for item in watch.fired}) == len(fired)


def test_c15_every_minute_of_both_changes() -> None:
    for day in ("2025-10-26", "2025-03-30"):
        for trigger, fields in (("cron", {"expression": "* * * * *"}), ("every_minutes", {"minutes": 1})):
            watch = Watch(trigger, {**fields, "zone": "Europe/London"})
            assert len(watch.run(ms(f"{day}T00:00Z"), ms(f"{day}T03:00Z"))) == 180


def test_c15_an_hourly_run_comes_in_both_hours_and_not_in_the_missing_one() -> None:
    for trigger, fields in (("cron", {"expression": "30 * * * *"}), ("every_hour_at", {"minute": 30})):
        assert locals_after(
            fields_of(trigger, fields, "Europe/London"), ms("2025-10-26T00:00Z"), 3, "Europe/London"
        ) == ["2025-10-26T01:30+01:00", "2025-10-26T01:30+00:00", "2025-10-26T02:30+00:00"]
        assert locals_after(
            fields_of(trigger, fields, "Europe/London"), ms("2025-03-30T00:00Z"), 3, "Europe/London"
        ) == ["2025-03-30T00:30+00:00", "2025-03-30T02:30+01:00", "2025-03-30T03:30+01:00"]


def test_c16_the_zone_is_the_owners_unless_another_is_given() -> None:
    owners = Watch("every_day_at", {"time": "09:00"}, zone="America/New_York")
    assert owners.zone == "America/New_York"
    assert locals_after(owners.checks.fields, ms("2026-03-07T20:00Z"), 2, "UTC") == [
        "2026-03-08T13:00+00:00",
        "2026-03-09T13:00+00:00",
    ]
    assert locals_after(owners.checks.fields, ms("2026-11-01T00:00Z"), 2, "UTC") == [
        "2026-11-01T14:00+00:00",
        "2026-11-02T14:00+00:00",
    ]
    given = Watch("every_day_at", {"time": "09:00", "zone": "UTC"}, zone="America/New_York")
    assert locals_after(given.checks.fields, ms("2026-03-07T20:00Z"), 1, "UTC") == ["2026-03-08T09:00+00:00"]


def test_c16_what_is_stored_does_not_follow_the_owner_to_another_zone() -> None:
    stored = Watch("every_day_at", {"time": "09:00"}, zone="Asia/Tokyo").checks.fields.model_dump(mode="json")
    assert Watch("every_day_at", stored, zone="Europe/Paris").zone == "Asia/Tokyo"


def test_c18_an_edited_schedule_runs_by_its_new_fields_alone() -> None:
    zone = "Europe/Paris"
    old = Watch("every_day_at", {"time": "10:00", "zone": zone})
    old.look(ms("2026-05-01T08:00", zone))
    # Fields are a part of the trigger's identity: what is edited is first checked anew.
    new = Watch("every_day_at", {"time": "11:00", "zone": zone})
    fired = new.run(ms("2026-05-01T10:30", zone), ms("2026-05-02T12:00", zone), 10 * MINUTE)
    assert fired == ["2026-05-01T11:00+02:00", "2026-05-02T11:00+02:00"]


def test_c21_turning_on_begins_with_the_next_slot() -> None:
    for trigger, fields in (
        ("every_minutes", {"minutes": 1, "catch_up": "all"}),
        ("cron", {"expression": "* * * * *", "catch_up": "all"}),
        ("every_hour_at", {"minute": 0, "catch_up": "all"}),
    ):
        watch = Watch(trigger, fields)
        start = ms("2026-09-21T14:00Z")
        watch.run(start, start + 5 * MINUTE)
        watch.checks.position = None
        back = start + 60 * MINUTE
        # The slot of this very instant is not after it.
        assert watch.look(back) == []
        assert watch.found is not None
        assert watch.found.items == ()
        assert watch.look(back + 30_000) == []
        following = watch.checks.fields.next_slot(back)  # type: ignore[attr-defined]
        assert [item.occurred_at for item in watch.look(following.at)] == [following.at]


def test_c23_a_slot_found_again_a_day_later_is_the_same_event() -> None:
    watch = Watch("every_day_at", {"time": "10:00", "zone": "Europe/Paris", "catch_up": "all", "grace_minutes": 10080})
    watch.look(ms("2026-05-01T09:00", "Europe/Paris"))
    before = watch.checks.position
    at = ms("2026-05-01T10:00", "Europe/Paris")
    (first,) = watch.look(at)
    watch.checks.position = before
    again = watch.checks.check(at + 25 * HOUR)
    assert [item.unique for item in again.items] == [first.unique, "2026-05-02T10:00"]
    assert again.items[0].ingredients["CheckTime"] == first.ingredients["CheckTime"]


def test_c24_the_weekday_is_that_of_the_zone() -> None:
    # Monday 08:00 in Auckland is Sunday in UTC; Sunday 20:00 in Honolulu is Monday in UTC.
    for zone, time, day, expected in (
        ("Pacific/Auckland", "08:00", "monday", "2026-09-28T08:00+13:00"),
        ("Pacific/Honolulu", "20:00", "sunday", "2026-09-27T20:00-10:00"),
    ):
        hour = time.split(":")[0]
        for trigger, values in (
            ("every_weekday_at", {"time": time, "weekdays": [day]}),
            ("cron", {"expression": f"0 {hour} * * {day[:3]}"}),
        ):
            watch = Watch(trigger, {**values, "zone": zone})
            assert locals_after(watch.checks.fields, ms("2026-09-22T00:00Z"), 1, zone) == [expected]
            watch.look(ms(expected) - HOUR)
            (item,) = watch.look(ms(expected))
            assert item.ingredients["DayOfWeek"] == day.capitalize()


@pytest.mark.parametrize("sunday", ["0", "7", "sun", "SUN", "Sun", "7-7", "6-7", "0,0"])
def test_c24_sunday_in_a_cron_expression(sunday: str) -> None:
    fields = fields_of("cron", {"expression": f"0 12 * * {sunday}"}, "UTC")
    days = {local(at, "UTC")[:10] for at in (fields.next_slot(ms("2026-09-26T13:00Z")).at,)}
    assert days == {"2026-09-27"}


def test_c25_a_schedule_of_every_minute_does_not_stop() -> None:
    for trigger, fields in (("cron", {"expression": "* * * * *"}), ("every_minutes", {"minutes": 1})):
        watch = Watch(trigger, fields, zone="Europe/Rome")
        start = ms("2026-10-24T22:00Z")
        assert len(watch.run(start, start + DAY)) == 24 * 60
        assert watch.found is not None
        assert watch.found.next_check_at == start + DAY + MINUTE


def test_c27_a_yearly_run_on_the_day_of_the_change_moves_on() -> None:
    zone = "Europe/Rome"
    expected = ["2020-10-25T02:00+02:00", "2021-10-25T02:00+02:00", "2022-10-25T02:00+02:00"]
    for trigger, values in (
        ("every_year_on", {"month": 10, "day": 25, "time": "02:00"}),
        ("cron", {"expression": "0 2 25 10 *"}),
    ):
        fields = fields_of(trigger, values, zone)
        assert locals_after(fields, ms("2020-10-24T00:00", zone), 3, zone) == expected
        # From each of the two o'clocks, and from between them.
        for fold in (0, 1):
            after = ms("2020-10-25T02:00", zone, fold)
            assert fields.next_slot(after).key == "2021-10-25T02:00"
