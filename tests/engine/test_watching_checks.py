"""What those who watch see of checks: the events that they find, how long they take, and those that are late."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from tests.support.collected import Collected, collecting, lines
from tests.support.embedded import House
from tests.support.listing import Listing
from tests.support.sink import Reply
from whenthen.clock import Deadline, now_ms
from whenthen.engine.checker import Checker
from whenthen.metrics import Metric
from whenthen.store.errors import Duplicate, Unreachable

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def collected() -> Iterator[Collected]:
    with collecting() as found:
        yield found


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "whenthen")
    return caplog


def minutes_later(clock: time_machine.Traveller, minutes: int) -> None:
    clock.shift(minutes * 60)


def test_what_a_check_finds(
    listing: Listing, clock: time_machine.Traveller, collected: Collected, log: pytest.LogCaptureFixture
) -> None:
    listing.make(name="one")
    listing.make(name="two")
    listing.show("b", "a")
    minutes_later(clock, 5)
    before = len(collected.values(Metric.CHECK_DURATION))
    listing.house.check()
    listing.house.work()
    executions = [item["execution_id"] for item in listing.house.activity()]
    assert len(executions) == 4
    events = {execution.split(".")[1] for execution in executions}
    found = [
        vars(record)["correlation_id"] for record in log.records if record.getMessage() == "a check found an event"
    ]
    assert sorted(found) == sorted(events)
    for execution in executions:
        assert lines(log, correlation_id=execution.split(".")[1], execution_id=execution)
    assert (collected.total(Metric.FOUND), collected.total(Metric.SUCCEEDED)) == (2, 4)
    assert len(collected.values(Metric.CHECK_DURATION)) - before == 1
    assert collected.values(Metric.CHECKS_CLAIMED) == [1]
    # How late it is found is for its interval and its source to say.
    assert Metric.EVENT_TO_ACTION not in collected.told()


def test_a_schedule_has_a_lag(house: House, clock: time_machine.Traveller, collected: Collected) -> None:
    fields = {"minute": "30", "zone": "UTC"}
    house.make_applet(trigger={"service": "date_time", "trigger": "every_hour_at", "fields": fields})
    minutes_later(clock, 26)
    house.check()
    house.work()
    (lag,) = collected.values(Metric.EVENT_TO_ACTION)
    assert 60_000 <= lag < 120_000


@pytest.mark.parametrize("reply", [Reply(500), Reply(body=b'"bug"')], ids=["source", "service"])
def test_a_check_that_fails(
    listing: Listing, clock: time_machine.Traveller, collected: Collected, reply: Reply
) -> None:
    listing.make()
    assert Metric.CHECK_FAILED not in collected.told()
    listing.reply(reply)
    minutes_later(clock, 5)
    listing.house.check()
    assert collected.total(Metric.CHECK_FAILED) == 1
    assert collected.total(Metric.FOUND) == 0


@pytest.mark.parametrize("error", [Unreachable(), ValueError("a bug")], ids=["database", "bug"])
def test_a_check_that_breaks_off(
    listing: Listing,
    clock: time_machine.Traveller,
    collected: Collected,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    listing.make()

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Checker, "_finish", fail)
    minutes_later(clock, 5)
    listing.house.check()
    assert collected.total(Metric.CHECK_FAILED) == 1


def test_a_check_tells_of_a_lost_write(
    listing: Listing, clock: time_machine.Traveller, collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing.make()
    listing.show("a")
    execute = listing.house.database.execute

    def refuse(sql: str, **options: Any) -> Any:
        if "INSERT INTO trigger_events" in sql:
            raise Duplicate(("event_id",))
        return execute(sql, **options)

    monkeypatch.setattr(listing.house.database, "execute", refuse)
    minutes_later(clock, 5)
    listing.house.check()
    assert collected.total(Metric.LOST_WRITES) == 1
    assert collected.total(Metric.FOUND) == 0


def test_checks_that_a_tick_has_no_time_for_are_overdue(
    listing: Listing, clock: time_machine.Traveller, collected: Collected
) -> None:
    listing.make()
    minutes_later(clock, 5)
    assert listing.house.runtime.checks.tick(now_ms(), Deadline(1)) == 0
    assert collected.total(Metric.TRIGGERS_OVERDUE) == 1


def test_checks_that_are_lost_are_overdue(
    listing: Listing, clock: time_machine.Traveller, collected: Collected
) -> None:
    """Given a poller that dies over every order, then the claims do not hide it."""
    listing.make()
    for _ in range(5):
        minutes_later(clock, 6)
        listing.house.tick()
        while received := listing.house.orders.receive(wait_seconds=0):
            for item in received:
                listing.house.orders.delete(item)
    # Due after 5 minutes: claimed 1, 7, 13, 19 and 25 minutes later, each time that the claim had run out.
    assert collected.values(Metric.CHECKS_CLAIMED) == [1, 1, 1, 1, 1]
    assert collected.total(Metric.TRIGGERS_OVERDUE) == 3


def test_checks_on_time_are_not(listing: Listing, clock: time_machine.Traveller, collected: Collected) -> None:
    listing.make()
    for _ in range(5):
        minutes_later(clock, 5)
        listing.house.check()
    assert collected.total(Metric.CHECKS_CLAIMED) == 5
    assert collected.total(Metric.TRIGGERS_OVERDUE) == 0
