"""Sunrise and sunset, against published times, and where there are none."""

from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest

from tests.unit.services.date_time.clockwork import DAY, HOUR, MINUTE, Watch, local, locals_after, ms
from whenthen.clock import to_datetime
from whenthen.services.date_time.sun import next_sun_event, sun_event
from whenthen.services.schedules.due import NEVER

PLACES = {
    "Greenwich": (51.4779, 0.0, "Europe/London"),
    "New York": (40.7128, -74.006, "America/New_York"),
    "Sydney": (-33.8688, 151.2093, "Australia/Sydney"),
    "Dhaka": (23.8103, 90.4125, "Asia/Dhaka"),
    "Suva": (-18.1248, 178.4501, "Pacific/Fiji"),
    "Apia": (-13.8333, -171.7667, "Pacific/Apia"),
}


@pytest.mark.parametrize(
    ("place", "day", "rise", "down"),
    [
        # Almanac times, to the minute.
        ("Greenwich", "2026-06-21", "04:43", "21:21"),
        ("Greenwich", "2026-12-21", "08:03", "15:53"),
        ("New York", "2026-06-21", "05:25", "20:31"),
        ("New York", "2026-12-21", "07:17", "16:32"),
        ("Sydney", "2026-06-21", "07:00", "16:54"),
        ("Sydney", "2026-12-22", "05:41", "20:06"),
    ],
)
def test_almanac_times(place: str, day: str, rise: str, down: str) -> None:
    latitude, longitude, zone = PLACES[place]
    for trigger, time in (("sunrise", rise), ("sunset", down)):
        fields = Watch(trigger, {"latitude": latitude, "longitude": longitude, "zone": zone}).checks.fields
        slot = fields.next_slot(ms(f"{day}T00:00", zone))  # type: ignore[attr-defined]
        assert slot.key == day
        assert abs(slot.at - ms(f"{day}T{time}", zone)) <= 2 * MINUTE, local(slot.at, zone)


@pytest.mark.parametrize("place", PLACES)
def test_each_local_date_has_one_of_each(place: str) -> None:
    """Also where the sun rises or sets about midnight of UTC, on both sides of the date line."""
    latitude, longitude, zone = PLACES[place]
    for trigger in ("sunrise", "sunset"):
        fields = Watch(trigger, {"latitude": latitude, "longitude": longitude, "zone": zone}).checks.fields
        days = [text[:10] for text in locals_after(fields, ms("2026-01-01T00:00", zone), 365, zone)]
        assert days == [(date(2026, 1, 1) + timedelta(days=n)).isoformat() for n in range(365)]


@pytest.mark.parametrize("longitude", [-180.0, -90.0, -89.5, 89.5, 90.0, 91.0, 95.0, 179.99, 180.0])
def test_no_day_is_lost_at_any_longitude(longitude: float) -> None:
    for latitude in (-60.0, 0.0, 45.0, 65.0):
        for rising in (True, False):
            at = ms("2026-01-01T00:00Z")
            for _ in range(366):
                event = next_sun_event(at, latitude, longitude, rising=rising)
                assert event is not None
                assert abs(event.at - at - DAY) < 12 * MINUTE or at == ms("2026-01-01T00:00Z")
                at = event.at


def test_the_polar_night_and_day_are_left_out() -> None:
    tromso = {"latitude": 69.65, "longitude": 18.96, "zone": "Europe/Oslo"}
    fields = Watch("sunrise", tromso).checks.fields
    runs = [datetime.fromisoformat(text) for text in locals_after(fields, ms("2026-01-01T00:00Z"), 300, "Europe/Oslo")]
    gaps = [(a.date(), b.date()) for a, b in pairwise(runs) if b - a > timedelta(hours=30)]
    ((last_spring, first_summer), (last_autumn, _)) = gaps[:2]
    # The midnight sun lasts from 18 May to 26 July, the polar night begins at the end of November.
    assert abs((last_spring - date(2026, 5, 18)).days) <= 3
    assert abs((first_summer - date(2026, 7, 26)).days) <= 3
    assert abs((last_autumn - date(2026, 11, 27)).days) <= 3
    assert 13 <= runs[0].day <= 17
    assert runs[0].month == 1


def test_a_check_in_the_polar_night_waits_for_the_sun() -> None:
    watch = Watch("sunrise", {"latitude": 78.22, "longitude": 15.65, "zone": "Arctic/Longyearbyen"})
    watch.look(ms("2026-12-01T00:00Z"))
    assert watch.found is not None
    assert watch.found.next_check_at is not None
    assert to_datetime(watch.found.next_check_at).month == 2
    assert watch.look(ms("2027-01-01T00:00Z")) == []


@pytest.mark.parametrize("latitude", [90.0, -90.0])
def test_there_is_none_at_the_poles(latitude: float) -> None:
    for rising in (True, False):
        assert sun_event(date(2026, 6, 21), latitude, 0.0, rising=rising) is None
        assert sun_event(date(2026, 12, 21), latitude, 0.0, rising=rising) is None
    watch = Watch("sunset", {"latitude": latitude, "longitude": 0.0})
    watch.look(ms("2026-05-01T00:00Z"))
    assert watch.found is not None
    assert watch.found.next_check_at is not None
    # About the equinox at the soonest.
    assert watch.found.next_check_at == NEVER or watch.found.next_check_at > ms("2026-08-20T00:00Z")


@pytest.mark.parametrize("offset", [-720, -45, 0, 45, 720])
def test_an_offset_moves_the_run_and_not_the_sun(offset: int) -> None:
    latitude, longitude, zone = PLACES["New York"]
    place = {"latitude": latitude, "longitude": longitude, "zone": zone}
    for trigger, slug in (("sunrise", "SunriseAt"), ("sunset", "SunsetAt")):
        plain = Watch(trigger, place).checks.fields
        watch = Watch(trigger, {**place, "offset_minutes": offset})
        start = ms("2026-09-21T03:00Z")
        watch.look(start)
        assert watch.found is not None
        due = watch.found.next_check_at
        assert due is not None
        (item,) = watch.look(due)
        event = plain.next_slot(due - offset * MINUTE - 1)  # type: ignore[attr-defined]
        assert event.at == due - offset * MINUTE
        assert item.occurred_at == due
        assert item.unique == event.key
        assert item.ingredients[slug] == to_text(event.at, zone)
        assert item.ingredients["CheckTime"] == to_text(due, zone)


def to_text(at: int, zone: str) -> str:
    return datetime.fromisoformat(local(at, zone)).strftime("%B %d, %Y at %I:%M%p")


def test_a_day_of_runs() -> None:
    watch = Watch("sunset", {"latitude": 40.7128, "longitude": -74.006, "zone": "America/New_York"})
    fired = watch.run(ms("2026-10-31T00:00Z"), ms("2026-11-03T00:00Z"))
    assert [text[:13] + text[16:] for text in fired] == [
        "2026-10-31T17-04:00",
        "2026-11-01T16-05:00",
        "2026-11-02T16-05:00",
    ]
    assert 23 * HOUR < watch.fired[1].occurred_at - watch.fired[0].occurred_at < 25 * HOUR
