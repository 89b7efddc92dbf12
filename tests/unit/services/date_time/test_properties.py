"""What is true of every schedule, in all zones from 2015 to 2035.

`test_schedules_slots.py` goes through every change of the clock; here is what holds for whole schedules.
"""

from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.services.date_time.clockwork import DAY, HOUR, MINUTE, Watch, ms
from whenthen.services.schedules.fields import ScheduleFields
from whenthen.services.schedules.slots import Slot, wall_time
from whenthen.services.zones import _zones, zone_info


def quick(examples: int) -> settings:
    return settings(derandomize=True, max_examples=examples, deadline=None, database=None)


zones = st.sampled_from(sorted(_zones()))
instants = st.integers(ms("2015-01-01T00:00Z"), ms("2034-12-31T00:00Z"))
# Most changes are in the small hours: half of the times are there.
times = st.one_of(st.integers(0, 4 * 60), st.integers(0, 24 * 60 - 1)).map(lambda m: f"{m // 60:02}:{m % 60:02}")


def fields_of(trigger: str, fields: dict[str, Any], zone: str) -> Any:
    return Watch(trigger, {**fields, "zone": zone}).checks.fields


def slots(fields: ScheduleFields, after: int, end: int) -> list[Slot]:
    found = []
    while (slot := fields.next_slot(after)) and slot.at <= end:
        assert slot.at > after
        found.append(slot)
        after = slot.at
    return found


def dates(zone: str, after: int, end: int) -> list[date]:
    """The dates that a zone has had from the day after `after` to the one before `end`."""
    rules = zone_info(zone)
    shown = {wall_time(at, rules).date() for at in range(after, end, 6 * HOUR)}
    return sorted(shown - {wall_time(after, rules).date(), wall_time(end, rules).date()})


def check_local(zone: str, slot: Slot) -> None:
    """A slot is at the wall time of its key, or at the end of the gap that this is in."""
    rules, wall = zone_info(zone), datetime.fromisoformat(slot.key)
    shown = wall_time(slot.at, rules)
    assert shown == wall or (shown > wall > wall_time(slot.at - 1, rules))


@quick(50)
@given(zone=zones, time=times, after=instants)
def test_every_date_has_one_daily_run(zone: str, time: str, after: int) -> None:
    end = after + 210 * DAY
    for trigger, values in (
        ("every_day_at", {"time": time}),
        ("cron", {"expression": f"{int(time[3:])} {int(time[:2])} * * *"}),
    ):
        found = slots(fields_of(trigger, values, zone), after, end)
        keys = [slot.key for slot in found]
        assert len(set(keys)) == len(keys)
        for slot in found:
            check_local(zone, slot)
            assert slot.key.endswith(time)
        days = [date.fromisoformat(key[:10]) for key in keys]
        assert days == sorted(days)
        assert set(days) >= set(dates(zone, after, end))


@quick(40)
@given(zone=zones, time=times, after=instants, weekday=st.integers(0, 6))
def test_every_week_has_one_weekly_run(zone: str, time: str, after: int, weekday: int) -> None:
    names = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    end = after + 400 * DAY
    expected = [day for day in dates(zone, after, end) if day.weekday() == weekday]
    for trigger, values in (
        ("every_weekday_at", {"time": time, "weekdays": [names[weekday]]}),
        ("cron", {"expression": f"{int(time[3:])} {int(time[:2])} * * {(weekday + 1) % 7}"}),
    ):
        found = slots(fields_of(trigger, values, zone), after, end)
        for slot in found:
            check_local(zone, slot)
        days = [date.fromisoformat(slot.key[:10]) for slot in found]
        assert {day.weekday() for day in days} == {weekday}
        assert len(set(days)) == len(days)
        assert set(days) >= set(expected)


@quick(40)
@given(zone=zones, time=times, after=instants, month_day=st.one_of(st.integers(1, 31), st.just("last")))
def test_every_month_has_one_monthly_run(zone: str, time: str, after: int, month_day: int | str) -> None:
    found = slots(
        fields_of("every_month_on_the", {"time": time, "month_day": month_day}, zone), after, after + 800 * DAY
    )
    months = []
    for slot in found:
        check_local(zone, slot)
        day = date.fromisoformat(slot.key[:10])
        months.append(day.year * 12 + day.month)
        wanted = 31 if month_day == "last" else int(month_day)
        assert day.day == wanted or (day.day < wanted and (day + timedelta(days=1)).day == 1)
    assert months == list(range(months[0], months[0] + len(months)))
    assert len(months) >= 25


@quick(40)
@given(zone=zones, after=instants, minute=st.integers(0, 59))
def test_an_hourly_run_comes_whenever_the_clock_shows_its_minute(zone: str, after: int, minute: int) -> None:
    end = after + 3 * DAY
    rules = zone_info(zone)
    first = (after // MINUTE + 1) * MINUTE
    expected = [at for at in range(first, end + 1, MINUTE) if wall_time(at, rules).minute == minute]
    for trigger, values in (("every_hour_at", {"minute": minute}), ("cron", {"expression": f"{minute} * * * *"})):
        found = slots(fields_of(trigger, values, zone), after, end)
        assert [slot.at for slot in found] == expected
        assert len({slot.key for slot in found}) == len(found)


minutes_field = st.one_of(
    st.just("*"), st.integers(1, 59).map("*/{}".format), st.lists(st.integers(0, 59), min_size=1, max_size=3).map(str)
)
hours_field = st.one_of(
    st.just("*"), st.integers(1, 23).map("*/{}".format), st.lists(st.integers(0, 5), min_size=1, max_size=3).map(str)
)
days_field = st.one_of(st.just("*"), st.integers(1, 28).map(str))
weekdays_field = st.one_of(st.just("*"), st.sampled_from(["0", "7", "mon-fri", "sun", "2#1", "5L"]))


@quick(80)
@given(zone=zones, after=instants, minute=minutes_field, hour=hours_field, day=days_field, weekday=weekdays_field)
def test_cron_goes_on_and_never_runs_a_slot_twice(
    zone: str, after: int, minute: str, hour: str, day: str, weekday: str
) -> None:
    expression = " ".join(field.strip("[]").replace(" ", "") for field in (minute, hour, day, "*", weekday))
    fields = fields_of("cron", {"expression": expression}, zone)
    found = []
    for _ in range(60):
        slot = fields.next_slot(after)
        assert slot is not None
        assert slot.at > after
        # Wherever before it one begins, the next slot is this one.
        assert fields.next_slot(slot.at - 1) == slot
        assert fields.next_slot((after + slot.at) // 2) == slot
        found.append(slot)
        after = slot.at
    assert len({slot.key for slot in found}) == len(found)
    if not found[0].key.endswith("Z"):
        for slot in found:
            check_local(zone, slot)


@quick(40)
@given(after=instants, minutes=st.integers(1, 1440), zone=zones)
def test_an_interval_is_always_the_same(after: int, minutes: int, zone: str) -> None:
    found = slots(fields_of("every_minutes", {"minutes": minutes}, zone), after, after + 5 * minutes * MINUTE)
    assert {b.at - a.at for a, b in pairwise(found)} == {minutes * MINUTE}
    assert 0 < found[0].at - after <= minutes * MINUTE


@quick(80)
@given(
    trigger=st.sampled_from(["sunrise", "sunset"]),
    latitude=st.floats(-90, 90),
    longitude=st.floats(-180, 180),
    offset=st.integers(-720, 720),
    after=instants,
)
def test_the_sun_comes_once_a_day_and_always_later(
    trigger: str, latitude: float, longitude: float, offset: int, after: int
) -> None:
    place = {"latitude": latitude, "longitude": longitude, "offset_minutes": offset}
    fields = fields_of(trigger, place, "UTC")
    found = []
    for _ in range(20):
        slot = fields.next_slot(after)
        if slot is None:
            # Nowhere but at the poles.
            assert abs(latitude) > 89
            break
        assert slot.at > after
        assert fields.next_slot(slot.at - 1) == slot
        found.append(slot)
        after = slot.at
    days = [date.fromisoformat(slot.key) for slot in found]
    assert days == sorted(set(days))
    if abs(latitude) < 60:
        gaps = [b.at - a.at for a, b in pairwise(found)]
        assert all(abs(gap - DAY) < 6 * MINUTE for gap in gaps)
