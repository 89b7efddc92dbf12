"""What the list of applets and the dashboard show: numbers that add up, on slots that are open, closing and closed."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
import time_machine

from tests.support.embedded import START, House, notification, web_request
from tests.support.history import HOUR, Made, close, fill
from tests.support.listing import Listing
from tests.support.sink import Reply
from whenthen.clock import from_datetime, now_ms
from whenthen.engine.dashboard import MAX_APPLETS, Dashboard, read_dashboard
from whenthen.engine.stats import read_stats
from whenthen.engine.summaries import LastRun, Summary, summarize
from whenthen.store.applets import list_applets
from whenthen.store.slots import begin_closing, list_slots, slot_at
from whenthen.store.statements import Script
from whenthen.store.stats import STATES, Numbers

T0 = from_datetime(START) - 5 * 60_000
HALF = HOUR // 2
OWNER = "owner"


@pytest.fixture
def still(house: House) -> Iterator[House]:
    """A house five minutes into a slot."""
    with time_machine.travel(START, tick=False):
        yield house


def fill_ages(house: House, ages: list[int], count: int = 8, **options: Any) -> list[Made]:
    """Executions in slots that are so many half hours old."""
    made = []
    for age in ages:
        at = T0 - age * HALF
        made += fill(house.database, slot_at(at), count, at=at, prefix=f"{age}e", **options)
    return made


def summaries(house: House) -> dict[str, Summary]:
    rows = list_applets(house.database, OWNER)
    return summarize(house.runtime.history, OWNER, rows, now=now_ms())


def board(house: House, *, days: int = 7, zone: str = "UTC") -> Dashboard:
    return read_dashboard(house.runtime.history, OWNER, days=days, zone=zone, now=now_ms())


def states(numbers: Numbers) -> dict[str, int]:
    return {state: getattr(numbers, state) for state in STATES if getattr(numbers, state)}


def test_a_summary_of_open_slots_and_of_the_log(still: House) -> None:
    ids = [still.make_applet(name=name)["id"] for name in ("both", "old", "new", "never", "long ago")]
    both, old, new, never, long_ago = ids
    made = fill_ages(still, [0], applets=[both, new], ends=["succeeded", "failed"])
    made += fill_ages(still, [48], applets=[both, old], ends=["failed"])
    fill_ages(still, [48 * 9], applets=[long_ago])
    close(still.runtime.history, now_ms())
    found = summaries(still)
    assert states(found[both].numbers) == {"succeeded": 4, "failed": 4}
    assert found[both].numbers.success_rate == 0.5
    newest = max(one.occurred_at for one in made if one.applet_id == both)
    assert found[both].last_run == LastRun("20261129", newest, "succeeded")
    assert found[old].last_run == LastRun("20261128")
    assert (states(found[new].numbers), found[new].numbers.success_rate) == ({"failed": 4}, 0.0)
    assert found[never] == Summary()
    assert (found[long_ago].last_run, found[long_ago].numbers.success_rate) == (None, None)


def test_what_is_under_way_and_what_comes_next(listing: Listing, clock: time_machine.Traveller) -> None:
    house = listing.house
    house.make_applet(name="Waits", actions=[web_request(listing.sink.url + "/down")])
    trigger = {"service": "date_time", "trigger": "every_hour_at", "fields": {"minute": 30}}
    house.make_applet(name="Hourly", trigger=trigger)
    listing.make()
    listing.sink.reply("/down", [Reply(503)])
    house.fire()
    house.work()
    by_name = {row.definition.split('"')[3]: row.applet_id for row in list_applets(house.database, OWNER)}
    found = summaries(house)
    waits, hourly, listed = (found[by_name[name]] for name in ("Waits", "Hourly", "List"))
    assert (waits.under_way, waits.numbers.runs, waits.check) == (1, 0, None)
    assert waits.last_run is not None
    assert waits.last_run.state == "waiting"
    assert hourly.check is not None
    assert (hourly.check.offline, hourly.check.next_check_at) == (True, T0 + HALF)
    assert listed.check is not None
    assert not listed.check.offline


def test_connections_that_fail_are_named(house: House) -> None:
    fields = {"scheme": "github", "secret": "s" * 20}
    connection = house.call(
        "POST", "/connections", {"service": "signed_webhooks", "name": "Hub", "fields": fields}
    ).json()
    trigger = {"service": "signed_webhooks", "trigger": "received", "fields": {}, "connection": connection["id"]}
    applet = house.make_applet(trigger=trigger)["id"]
    assert summaries(house)[applet].connections == ()
    house.database.execute("UPDATE connections SET state = 'broken'")
    assert [row.connection_name for row in summaries(house)[applet].connections] == ["Hub"]
    house.database.execute("UPDATE connections SET owner_id = 'stranger'")
    assert summaries(house)[applet].connections == ()


def test_a_page_of_summaries_scans_twice(still: House) -> None:
    """However many applets: the rollups, and the open slots at once. The others are keys."""
    for number in range(5):
        still.make_applet(name=str(number))
    fill_ages(still, [0, 1, 2, 48])
    close(still.runtime.history, now_ms())
    rows = list_applets(still.database, OWNER)
    still.database.sent.clear()
    summarize(still.runtime.history, OWNER, rows, now=now_ms())
    assert [("GROUP BY" in sql, "daily_stats" in sql) for sql in still.database.sent if "GROUP BY" in sql] == [
        (True, True),
        (True, False),
    ]
    assert len(still.database.sent) == 5
    still.database.sent.clear()
    assert summarize(still.runtime.history, OWNER, [], now=now_ms()) == {}
    assert still.database.sent == []


def test_the_numbers_are_those_of_the_statistics(still: House) -> None:
    """Given that all is in the log, then days, applets and services of the dashboard are those of GET /api/stats.

    Some parts of it have so many applets that their numbers stand apart.
    """
    fill_ages(still, [5, 47, 96, 1000], 40, applets=[f"a{n}" for n in range(20)])
    fill_ages(still, [6, 48, 300], 80, applets=[f"a{n}" for n in range(40)])
    close(still.runtime.history, now_ms())
    for days in (1, 7, 30):
        shown = board(still, days=days)
        stats = read_stats(still.runtime.history, OWNER, days=days, now=now_ms())
        assert {f"{day:%Y%m%d}": states(n) for day, n in shown.days.items() if n.runs} == {
            day: states(numbers) for day, numbers in stats.days.items()
        }
        assert {one.applet_id: states(one.numbers) for one in shown.applets} == {
            applet: states(numbers) for applet, numbers in stats.applets.items()
        }
        totals: Counter[str] = Counter()
        for service, hours in stats.services.items():
            totals[service] += sum(numbers.runs for numbers in hours.values())
        assert {service: numbers.runs for service, numbers in shown.services.items()} == totals
        assert len(shown.days) == days


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles", "Asia/Kolkata"])
def test_what_is_open_counts_and_all_adds_up(still: House, zone: str) -> None:
    """Given slots that are open and closed, then each execution is counted once, whatever the zone."""
    made = fill_ages(still, [0, 1, 2, 5, 20, 60, 100])
    close(still.runtime.history, now_ms())
    assert list_slots(still.database)
    shown = board(still, zone=zone)
    ended = Counter(one.state for one in made)
    for numbers in (shown.days, shown.services, {one.applet_id: one.numbers for one in shown.applets}):
        total = Numbers()
        for one in numbers.values():
            total.add_all(one)
        assert states(total) == ended
    assert {name: numbers.failed for name, numbers in shown.services.items() if numbers.failed} == Counter(
        one.service for one in made if one.state == "failed"
    )


def test_days_are_those_of_the_zone(still: House) -> None:
    """Given 18:05 UTC, then it is the next day in Tokyo, and what ran at 14:30 was on the day before."""
    fill_ages(still, [0], 3)
    fill_ages(still, [7], 2)
    shown = board(still, days=2, zone="Asia/Tokyo")
    assert {day: numbers.runs for day, numbers in shown.days.items()} == {date(2026, 11, 29): 2, date(2026, 11, 30): 3}
    shown = board(still, days=1, zone="Asia/Tokyo")
    assert {day: numbers.runs for day, numbers in shown.days.items()} == {date(2026, 11, 30): 3}
    assert sum(numbers.runs for numbers in shown.services.values()) == 3


def test_a_slot_that_is_half_in_the_log_is_not_counted_twice(still: House) -> None:
    fill_ages(still, [5])
    row = next(row for row in list_slots(still.database))
    script = Script()
    begin_closing(script, row)
    still.database.execute(script.sql)
    assert sum(numbers.runs for numbers in board(still).days.values()) == 0
    close(still.runtime.history, now_ms())
    assert sum(numbers.runs for numbers in board(still).days.values()) == 8


def test_applets_with_most_failures_come_first(still: House) -> None:
    failing = still.make_applet(name="Failing")["id"]
    fill_ages(still, [0], 70, applets=[f"a{n:02}" for n in range(70)], ends=["succeeded"])
    fill_ages(still, [1], 2, applets=[failing], ends=["failed"])
    shown = board(still)
    first = shown.applets[0]
    assert (first.applet_id, first.name, first.numbers.success_rate) == (failing, "Failing", 0.0)
    assert (len(shown.applets), shown.applets_left_out) == (MAX_APPLETS, 71 - MAX_APPLETS)


def test_the_oldest_that_waits_comes_first(house: House, clock: time_machine.Traveller) -> None:
    delayed = {**notification("x"), "delay": {"seconds": 7200}}
    slow = house.make_applet(name="Slow", event="slow", actions=[delayed])
    house.fire("slow")
    house.work()
    clock.shift(60)
    house.make_applet(name="Quick")
    house.fire()
    first, second = board(house).waiting
    assert (first.applet_id, first.name, first.state, first.runs) == (slow["id"], "Slow", "waiting", 1)
    assert first.due_at is not None
    assert abs(first.due_at - first.since - 7200_000) < 5000
    assert (second.name, second.state) == ("Quick", "queued")
    # It outlives its slot.
    clock.shift(6600)
    house.tick()
    assert [one.name for one in board(house).waiting if one.state == "waiting"] == ["Slow"]


def test_triggers_that_are_not_checked_are_told(listing: Listing, clock: time_machine.Traveller) -> None:
    house = listing.house
    made = listing.make(name="Names")
    assert board(house).triggers == []
    clock.shift(timedelta(hours=1))
    (late,) = board(house).triggers
    assert (late.applets, late.trigger.service, late.check.failures) == ({made["id"]: "Names"}, "listing", 0)
    listing.reply(Reply(404))
    house.check()
    (failing,) = board(house).triggers
    assert failing.check.failures == 1
    house.call("PATCH", f"/applets/{made['id']}", {"enabled": False})
    assert board(house).triggers == []


def test_others_are_not_in_it(listing: Listing, clock: time_machine.Traveller) -> None:
    house = listing.house
    listing.make()
    fill(house.database, slot_at(now_ms()), 8, at=now_ms())
    clock.shift(timedelta(hours=1))
    shown = read_dashboard(house.runtime.history, "stranger", days=7, zone="UTC", now=now_ms())
    assert (shown.applets, shown.services, shown.waiting, shown.triggers) == ([], {}, [], [])
    assert not any(numbers.runs for numbers in shown.days.values())


def test_a_dashboard_scans_three_times(still: House) -> None:
    # Each month has something.
    fill_ages(still, [0, 1, 2, 48, 1500, 3000, 4350])
    close(still.runtime.history, now_ms())
    still.database.sent.clear()
    board(still, days=90)
    scanning = [sql for sql in still.database.sent if "GROUP BY" in sql or "FROM checks WHERE next" in sql]
    assert len(scanning) == 3
    # And months, slots and names by key.
    assert len(still.database.sent) == 6


def test_nothing_ran_in_some_months(still: House) -> None:
    fill_ages(still, [5])
    close(still.runtime.history, now_ms())
    assert sum(numbers.runs for numbers in board(still, days=90).days.values()) == 8
    assert len(board(still, days=90).days) == 90


def test_the_last_checks_are_told(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given checks that found nothing, something and failed, then each is told with its time."""
    house = listing.house
    made = listing.make()
    assert [one["found"] for one in listing.checked(made)["last_checks"]] == [0]
    for names in ((), ("b", "a")):
        clock.shift(timedelta(hours=1))
        listing.show(*names)
        house.check()
    clock.shift(timedelta(hours=1))
    listing.reply(Reply(404))
    house.check()
    check = listing.checked(made)
    assert [one["found"] for one in check["last_checks"]] == [None, 2, 0, 0]
    assert check["last_checks"][0]["at"] == check["last_checked_at"]
    assert "\n" not in check["message"]
