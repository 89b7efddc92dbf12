"""Schedules through the whole engine: ticks of given instants, and what they set off."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.embedded import House, Json, notification
from whenthen.clock import Deadline

MINUTE = timedelta(minutes=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def ms(when: datetime) -> int:
    return round(when.timestamp() * 1000)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The clock, standing still on a Wednesday in winter."""
    with time_machine.travel(at("2026-01-07T10:00"), tick=False) as traveller:
        yield traveller


def make(house: House, trigger: str, *, name: str = "Clock", **fields: object) -> Json:
    """An applet that notifies of the slot."""
    return house.make_applet(
        name=name,
        trigger={"service": "date_time", "trigger": trigger, "fields": fields},
        actions=[notification("{{CheckTime}}, {{DayOfWeek}}, late {{LateMinutes}}")],
    )


def run(house: House, clock: time_machine.Traveller, start: str, end: str, step: timedelta = MINUTE) -> list[str]:
    """Tick from `start` to `end`; the messages, oldest first."""
    when = at(start)
    while when <= at(end):
        clock.move_to(when)
        house.tick()
        when += step
    house.work()
    items = house.call("GET", "/inbox?limit=200").json()["items"]
    return sorted(item["message"] for item in items)


def test_each_minutes_tick_fires_what_is_due(house: House, clock: time_machine.Traveller) -> None:
    applet = make(house, "every_day_at", time="10:02", zone="UTC")
    assert applet["check"]["next_check_at"] == "2026-01-07T10:02:00.000Z"
    found = run(house, clock, "2026-01-07T10:00", "2026-01-07T10:05")
    assert found == ["January 07, 2026 at 10:02AM, Wednesday, late 0"]
    assert house.activity()[0]["occurred_at"] == "2026-01-07T10:02:00.000Z"
    assert house.activity()[0]["note"] == ""
    checked = house.call("GET", f"/applets/{applet['id']}").json()["check"]
    assert checked["next_check_at"] == "2026-01-08T10:02:00.000Z"


@pytest.mark.parametrize(
    ("case", "zone", "time", "start", "end", "expected"),
    [
        ("C02", "Europe/Paris", "02:00", "2024-03-31T00:50", "2024-03-31T01:10", "March 31, 2024 at 03:00AM"),
        ("C03", "America/New_York", "02:30", "2017-03-12T06:50", "2017-03-12T07:40", "March 12, 2017 at 03:00AM"),
        ("C04", "Europe/Prague", "07:00", "2024-03-31T04:30", "2024-03-31T06:30", "March 31, 2024 at 07:00AM"),
        ("C05", "Europe/Amsterdam", "12:00", "2026-03-29T08:30", "2026-03-29T12:30", "March 29, 2026 at 12:00PM"),
        ("C06", "US/Pacific", "00:00", "2022-03-13T07:30", "2022-03-13T09:30", "March 13, 2022 at 12:00AM"),
        ("C13", "America/Santiago", "00:00", "2026-09-06T03:30", "2026-09-06T05:30", "September 06, 2026 at 01:00AM"),
        ("C27", "Europe/Rome", "02:00", "2020-10-24T23:30", "2020-10-25T03:30", "October 25, 2020 at 02:00AM"),
    ],
)
def test_days_with_a_change_of_the_clock(
    house: House,
    clock: time_machine.Traveller,
    case: str,
    zone: str,
    time: str,
    start: str,
    end: str,
    expected: str,
) -> None:
    """C02 to C06, C13, C27: each such day has exactly one run, at the first instant that exists."""
    clock.move_to(at(start) - timedelta(hours=1))
    make(house, "every_day_at", time=time, zone=zone)
    found = run(house, clock, start, end)
    assert [message.rpartition(", late")[0].rpartition(", ")[0] for message in found] == [expected], case


def test_c08_several_missed_slots_give_the_last_one(house: House, clock: time_machine.Traveller) -> None:
    """Given that the machine slept for four minutes, then the default is one run, marked late."""
    applet = make(house, "cron", expression="* * * * *", zone="UTC")
    run(house, clock, "2026-01-07T10:01", "2026-01-07T10:01")
    clock.move_to(at("2026-01-07T10:05:30"))
    house.tick()
    house.work()
    notes = [item["note"] for item in house.activity()]
    assert len(notes) == 2
    checked = house.call("GET", f"/applets/{applet['id']}").json()["check"]
    assert checked["next_check_at"] == "2026-01-07T10:06:00.000Z"


def test_c08_a_late_run_says_so(house: House, clock: time_machine.Traveller) -> None:
    make(house, "every_day_at", time="10:02", zone="UTC")
    clock.move_to(at("2026-01-07T10:22"))
    house.tick()
    assert "20 minutes late" in house.activity()[0]["note"]
    house.work()
    assert "20 minutes late" in house.activity()[0]["note"]
    assert house.messages() == ["January 07, 2026 at 10:02AM, Wednesday, late 20"]


def test_c08_a_run_that_is_too_late_is_told_and_not_made(house: House, clock: time_machine.Traveller) -> None:
    applet = make(house, "every_day_at", time="10:02", zone="UTC")
    clock.move_to(at("2026-01-07T12:00"))
    house.tick()
    assert house.activity() == []
    checked = house.call("GET", f"/applets/{applet['id']}").json()["check"]
    assert "was missed" in checked["message"]


@pytest.mark.parametrize(("catch_up", "runs"), [("all", 59), ("last", 1), ("none", 1)])
def test_c08_the_owner_says_what_becomes_of_missed_slots(
    house: House, clock: time_machine.Traveller, catch_up: str, runs: int
) -> None:
    """More than one check lets fire come over several ticks, and each once."""
    make(house, "cron", expression="* * * * *", zone="UTC", catch_up=catch_up)
    clock.move_to(at("2026-01-07T10:59:40"))
    house.tick()
    house.tick()
    house.tick()
    notes = house.activity(limit="200")
    assert len(notes) == len({item["occurred_at"] for item in notes}) == runs


def test_c17_two_pollers_at_once(house: House, clock: time_machine.Traveller) -> None:
    """F19: a daily job runs once in its minute, however many look at the clock."""
    for number in range(20):
        make(house, "every_day_at", name=str(number), time="10:02", zone="UTC", grace_minutes=number)
    clock.move_to(at("2026-01-07T10:02"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: house.runtime.checks.tick(ms(at("2026-01-07T10:02")), Deadline(60)), range(4)))
    assert len(house.activity(limit="200")) == 20


def test_c18_an_edit_moves_the_schedule(house: House, clock: time_machine.Traveller) -> None:
    applet = make(house, "every_day_at", time="10:02", zone="UTC")
    change = {"trigger": {**applet["trigger"], "fields": {"time": "10:04", "zone": "UTC"}}}
    house.call("PATCH", f"/applets/{applet['id']}", change)
    found = run(house, clock, "2026-01-07T10:00", "2026-01-07T10:10")
    assert [message.split(", late")[0] for message in found] == ["January 07, 2026 at 10:04AM, Wednesday"]


def test_c21_turning_on_again_runs_nothing_that_was_missed(house: House, clock: time_machine.Traveller) -> None:
    applet = make(house, "cron", expression="* * * * *", zone="UTC", catch_up="all")
    path = f"/applets/{applet['id']}"
    house.call("PATCH", path, {"enabled": False})
    clock.move_to(at("2026-01-07T10:10:20"))
    house.tick()
    house.call("PATCH", path, {"enabled": True})
    found = run(house, clock, "2026-01-07T10:11", "2026-01-07T10:12")
    assert [message.split(",")[1] for message in found] == [" 2026 at 10:11AM", " 2026 at 10:12AM"]


def test_who_joins_a_schedule_gets_no_slot_of_before(house: House, clock: time_machine.Traveller) -> None:
    """Given slots that nobody has looked at yet, when a second applet joins, then they are the first one's alone."""
    first = make(house, "every_minutes", minutes=1, catch_up="all", zone="UTC")
    clock.move_to(at("2026-01-07T10:03:20"))
    make(house, "every_minutes", name="Second", minutes=1, catch_up="all", zone="UTC")
    assert {item["applet_id"] for item in house.activity()} == {first["id"]}
    assert len(house.activity()) == 3
    run(house, clock, "2026-01-07T10:04", "2026-01-07T10:04")
    assert len(house.activity()) == 5


def test_c23_a_slot_fires_once_for_ever(house: House, clock: time_machine.Traveller) -> None:
    """Given a day and an hour later, when the old slot is looked at once more, then its event is still known."""
    applet = make(house, "every_day_at", time="10:02", zone="UTC", grace_minutes=10080, catch_up="all")
    run(house, clock, "2026-01-07T10:01", "2026-01-07T10:03")
    clock.move_to(at("2026-01-08T11:00"))
    house.tick()
    house.work()
    assert len(house.activity()) == 2
    before = at("2026-01-07T10:00")
    service = f'{{"service":{{"after":{ms(before)}}},"seen":[]}}'
    house.table(f"UPDATE positions SET position = '{service}'")
    assert house.call("POST", f"/applets/{applet['id']}/check").json()["fired"] == 0
    assert len(house.activity()) == 2


def test_the_owners_zone_is_filled_in_and_stays(house: House, clock: time_machine.Traveller) -> None:
    """C16: the zone is the owner's unless the applet names one; changing the owner's later moves nothing."""
    assert house.call("GET", "/me").json()["zone"] == "UTC"
    assert house.call("PATCH", "/me", {"zone": "Asia/Tokyo"}).json()["zone"] == "Asia/Tokyo"
    applet = make(house, "every_day_at", time="19:02")
    assert applet["trigger"]["fields"]["zone"] == "Asia/Tokyo"
    house.call("PATCH", "/me", {"zone": "America/New_York"})
    house.call("PATCH", f"/applets/{applet['id']}", {"name": "Renamed"})
    assert house.call("GET", f"/applets/{applet['id']}").json()["trigger"]["fields"]["zone"] == "Asia/Tokyo"
    found = run(house, clock, "2026-01-07T10:01", "2026-01-07T10:03")
    assert found == ["January 07, 2026 at 07:02PM, Wednesday, late 0"]
    for zone in ("", "Mars/Base", "UTC+1", "x" * 100, "../etc/passwd", 5, None):
        answer = house.call("PATCH", "/me", {"zone": zone})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "zone")


def test_c24_weekdays_are_those_of_the_zone(house: House, clock: time_machine.Traveller) -> None:
    """Given Thursday in Tokyo while it is Wednesday in UTC, then the schedule for Thursdays runs."""
    make(house, "every_weekday_at", time="06:00", weekdays=["thursday"], zone="Asia/Tokyo")
    found = run(house, clock, "2026-01-07T20:58", "2026-01-07T21:02")
    assert found == ["January 08, 2026 at 06:00AM, Thursday, late 0"]


def test_a_clock_that_is_turned_back_fires_nothing_again(house: House, clock: time_machine.Traveller) -> None:
    make(house, "cron", expression="* * * * *", zone="UTC", catch_up="all")
    run(house, clock, "2026-01-07T10:01", "2026-01-07T10:05")
    assert len(run(house, clock, "2026-01-07T10:01", "2026-01-07T10:05")) == 5
    assert len(run(house, clock, "2026-01-07T10:06", "2026-01-07T10:06")) == 6


def test_an_instant_replayed_by_hand(house: House) -> None:
    """Given the present, when the tick of a day in spring is replayed, then its slot runs, on time."""
    make(house, "every_day_at", time="02:30", zone="Europe/Paris")
    house.tick(ms(at("2027-03-28T01:00")))
    assert house.messages() == ["March 28, 2027 at 03:00AM, Sunday, late 0"]
    house.tick(ms(at("2027-03-28T01:00")))
    assert len(house.messages()) == 1
