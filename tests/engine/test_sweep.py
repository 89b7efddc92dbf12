"""What a crash, a lost or a doubled message leaves behind, and how the sweep puts it right."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import time_machine

from tests.support.embedded import LEASE, Died, House, die, fire_one
from tests.support.sink import Reply, Sink
from whenthen.engine.deaths import MAX_DEATHS
from whenthen.engine.worker import Worker

pytestmark = pytest.mark.usefixtures("clock")


@pytest.mark.parametrize("at", ["_begin", "prepare", "mark_sending"])
def test_died_before_anything_was_sent(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """F02: the lease runs out and the execution runs, once."""
    execution = fire_one(house, url=sink.url)
    die(house, execution, at, monkeypatch)
    house.wakeups.receive(wait_seconds=0)
    assert house.execution(execution)["state"] == "running"
    clock.shift(LEASE - 10)
    assert house.tick().overdue == 0
    assert house.run(execution) == set()
    assert sink.requests == []
    clock.shift(20)
    assert house.tick().overdue == 1
    house.work()
    assert len(sink.requests) == 1
    assert house.execution(execution)["state"] == "succeeded"


@pytest.mark.parametrize("at", ["perform", "judge", "_record"])
def test_died_after_it_may_have_been_sent(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    execution = fire_one(house, url=sink.url)
    if at == "_record":
        record = Worker._record

        def dead(self: Worker, outcomes: Any, *rest: Any, **options: Any) -> Any:
            if outcomes:
                raise Died
            return record(self, outcomes, *rest, **options)

        with monkeypatch.context() as patch:
            patch.setattr(Worker, "_record", dead)
            with pytest.raises(Died):
                house.run(execution)
    else:
        die(house, execution, at, monkeypatch)
    house.wakeups.receive(wait_seconds=0)
    sent = len(sink.requests)
    clock.shift(LEASE + 1)
    assert house.tick().overdue == 1
    house.work()
    house.run(execution)
    assert len(sink.requests) == sent
    item = house.execution(execution)
    assert item["state"] == "unknown"
    assert "may have been sent" in item["reason"]
    assert item["attempts"][-1]["outcome"] == "unknown"
    assert house.tick().overdue == 0


@pytest.mark.parametrize("options", [{"method": "GET", "body": ""}, {"method": "POST", "repeatable": True}])
def test_what_may_be_repeated_is(
    house: House,
    sink: Sink,
    clock: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
) -> None:
    execution = fire_one(house, url=sink.url, **options)
    die(house, execution, "judge", monkeypatch)
    clock.shift(LEASE + 1)
    house.tick()
    house.work()
    assert [request.key for request in sink.requests] == [f"{execution}.0"] * 2
    assert house.execution(execution)["state"] == "succeeded"


def test_a_lost_wake_up(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    execution = fire_one(house, url=sink.url)
    for item in house.wakeups.receive(wait_seconds=0):
        house.wakeups.delete(item)
    clock.shift(59)
    assert house.tick().overdue == 0
    clock.shift(2)
    assert house.tick().overdue == 1
    # Not again each minute.
    assert house.tick().overdue == 0
    assert house.work() == 1
    assert house.execution(execution)["state"] == "succeeded"


def test_a_doubled_wake_up(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """F03: at once, in parallel, and six minutes later."""
    execution = fire_one(house, url=sink.url)
    sink.reply("/", [Reply(200, hang=0.2)])
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(house.run, execution, execution) for _ in range(4)]
    assert [job.result() for job in jobs] == [set()] * 4
    clock.shift(360)
    house.run(execution, execution)
    assert house.work() == 1
    assert len(sink.requests) == 1
    assert len(house.execution(execution)["attempts"]) == 1


def test_ids_that_are_nowhere_do_not_harm_the_batch(house: House, sink: Sink) -> None:
    execution = fire_one(house, url=sink.url)
    gone = ["209901010000.e.a", execution.replace(".", ".x", 1)]
    assert house.run(gone[0], execution, gone[1]) == set()
    assert len(sink.requests) == 1


def test_a_poisonous_execution_is_given_up(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    for death in range(1, MAX_DEATHS + 1):
        assert house.execution(execution)["state"] in ("queued", "running"), death
        die(house, execution, "prepare", monkeypatch)
        clock.shift(LEASE + 1)
        assert house.tick().overdue == 1
    item = house.execution(execution)
    assert item["state"] == "failed"
    assert "stopped 5 times" in item["reason"]
    assert house.table("SELECT failures FROM applet_runs") == [{"failures": 1}]
    assert house.run(execution) == set()
    assert sink.requests == []


def test_no_time_left_gives_back(house: House, sink: Sink) -> None:
    execution = fire_one(house, url=sink.url)
    house.run(execution, seconds=3)
    assert house.execution(execution)["state"] == "queued"
    assert sink.requests == []
    assert house.work() == 2
    assert len(sink.requests) == 1
