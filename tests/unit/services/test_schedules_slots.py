"""Wall times and instants, against a walk through every minute."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import pytest

from whenthen.clock import from_datetime, to_datetime
from whenthen.services.schedules.slots import (
    NextWall,
    Slot,
    instant_of,
    next_elapsed_slot,
    next_wall_slot,
    upcoming,
    wall_time,
)

MINUTE = 60_000
DAY = 24 * 60 * MINUTE

FIRST, LAST = (from_datetime(datetime(year, 1, 1, tzinfo=UTC)) for year in (2015, 2036))


def every(minutes: int) -> NextWall:
    """The pattern of all wall times that are a multiple of so many minutes from midnight."""

    def next_wall(after: datetime) -> datetime:
        midnight = datetime.combine(after.date(), datetime.min.time())
        return midnight + (((after - midnight) // timedelta(minutes=minutes)) + 1) * timedelta(minutes=minutes)

    return next_wall


@cache
def changes() -> tuple[tuple[str, int, int, int], ...]:
    """One zone for each change of the clock from 2015 to 2035: name, a day before it, and offsets in minutes."""
    found: dict[tuple[int, int, int], str] = {}
    for name in sorted(available_timezones()):
        zone = ZoneInfo(name)
        at, offset = FIRST, _offset(zone, FIRST)
        while at < LAST:
            following = at + 7 * DAY
            after = _offset(zone, following)
            if after != offset:
                low, high = at, following
                while high - low > MINUTE:
                    middle = (low + high) // 2 // MINUTE * MINUTE
                    low, high = (middle, high) if _offset(zone, middle) == offset else (low, middle)
                found.setdefault((high, offset, after), name)
            at, offset = following, after
    return tuple((name, at, before, after) for (at, before, after), name in sorted(found.items()))


def _offset(zone: ZoneInfo, at: int) -> int:
    offset = to_datetime(at).astimezone(zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds() / 60)


def test_the_changes_of_twenty_years_are_found() -> None:
    kinds = {after - before for _, _, before, after in changes()}
    # An hour and half an hour both ways, and countries that have changed their standard time.
    assert {60, -60, 30, -30} <= kinds
    assert len(changes()) > 800


def test_every_wall_time_around_every_change() -> None:
    """The instant of a wall time is the first one at which the clock shows it or a later one."""
    for name, change, _, _ in changes():
        zone = ZoneInfo(name)
        start, end = change - 150 * MINUTE, change + 150 * MINUTE
        first_shown: dict[datetime, int] = {}
        latest = datetime.min
        for at in range(start, end, 5 * MINUTE):
            shown = wall_time(at, zone)
            # Wall times get their instant when the clock goes beyond what it has shown so far.
            wall = shown if latest == datetime.min else latest + timedelta(minutes=5)
            while wall <= shown:
                first_shown[wall] = at
                wall += timedelta(minutes=5)
            latest = max(latest, shown)
        # What lies near the beginning could have been shown before it.
        for wall, at in list(first_shown.items())[25:]:
            assert instant_of(wall, zone) == at, (name, wall)


@pytest.mark.parametrize("step", [10, 30, 60], ids=str)
def test_elapsed_slots_around_every_change(step: int) -> None:
    """They are all the instants at which the clock shows a time of the pattern, and no others."""
    for name, change, _, _ in changes():
        zone = ZoneInfo(name)
        # Casey's clock changed at one minute past midnight.
        start, end = (at // (60 * MINUTE) * 60 * MINUTE for at in (change - 130 * MINUTE, change + 190 * MINUTE))
        expected = []
        for at in range(start + 5 * MINUTE, end + 1, 5 * MINUTE):
            shown = wall_time(at, zone)
            if (shown.hour * 60 + shown.minute) % step == 0:
                expected.append(at)
        found = []
        at = start
        while (slot := next_elapsed_slot(every(step), zone, at)) and slot.at <= end:
            found.append(slot.at)
            at = slot.at
        assert found == expected, name


def test_wall_slots_of_a_gap_are_one_slot_at_its_end() -> None:
    zone = ZoneInfo("Europe/Paris")
    after = from_datetime(datetime(2026, 3, 29, 1, 50, tzinfo=zone))
    first = next_wall_slot(every(10), zone, after)
    assert first == Slot(from_datetime(datetime(2026, 3, 29, 3, 0, tzinfo=zone)), "2026-03-29T02:00")
    second = next_wall_slot(every(10), zone, first.at)
    assert second == Slot(first.at + 10 * MINUTE, "2026-03-29T03:10")
    # From anywhere before it, also from a millisecond before.
    assert next_wall_slot(every(10), zone, first.at - 1) == first


def test_wall_slots_of_an_hour_that_comes_twice_run_in_the_first() -> None:
    zone = ZoneInfo("Europe/Paris")
    after = from_datetime(datetime(2026, 10, 25, 1, 45, tzinfo=zone))
    keys = []
    for _ in range(5):
        slot = next_wall_slot(every(30), zone, after)
        assert slot is not None
        keys.append((slot.key, (slot.at - after) // MINUTE))
        after = slot.at
    assert keys == [
        ("2026-10-25T02:00", 15),
        ("2026-10-25T02:30", 30),
        ("2026-10-25T03:00", 90),
        ("2026-10-25T03:30", 30),
        ("2026-10-25T04:00", 30),
    ]


@pytest.mark.parametrize(
    ("name", "missing"), [("Pacific/Apia", datetime(2011, 12, 30)), ("Pacific/Kwajalein", datetime(1993, 8, 21))]
)
def test_a_date_that_a_zone_has_left_out_has_no_runs(name: str, missing: datetime) -> None:
    zone = ZoneInfo(name)
    assert instant_of(missing.replace(hour=7), zone) is None
    assert instant_of(missing, zone) is None
    after = from_datetime(datetime(missing.year, missing.month, missing.day - 2, 12, tzinfo=zone))
    keys = []
    for _ in range(3):
        slot = next_wall_slot(every(24 * 60), zone, after)
        assert slot is not None
        keys.append((datetime.fromisoformat(slot.key) - missing).days)
        after = slot.at
    assert keys == [-1, 1, 2]


def test_a_pattern_that_ends_has_no_more_slots() -> None:
    zone = ZoneInfo("Europe/Paris")
    assert next_wall_slot(lambda _: None, zone, FIRST) is None
    assert next_elapsed_slot(lambda _: None, zone, FIRST) is None


def test_upcoming_stops_with_the_slots() -> None:
    class Twice:
        def next_slot(self, after: int) -> Slot | None:
            return Slot(after + 1, "") if after < 2 else None

    assert upcoming(Twice(), 0, 5) == [1, 2]
    assert upcoming(Twice(), 0, 1) == [1]
    assert upcoming(Twice(), 0, 0) == []
