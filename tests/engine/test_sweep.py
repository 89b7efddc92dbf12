"""What a crash, a lost or a doubled message leaves behind, and how the sweep puts it right."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from tests.support.embedded import House, web_request
from tests.support.sink import Reply, Sink
from whenthen.clock import now_ms
from whenthen.engine import worker as worker_module
from whenthen.engine.sweep import MAX_DEATHS, sweep
from whenthen.engine.worker import Worker
from whenthen.store import executions as store

START = datetime(2026, 11, 29, 18, 5, tzinfo=UTC)
LEASE = 91  # of a worker with 60 seconds


class Died(BaseException):
    """A worker ends on the spot: nothing of it runs any more."""


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START) as traveller:
        yield traveller


def fire_one(house: House, **fields: Any) -> str:
    house.make_applet(actions=[web_request(**fields)])
    house.fire()
    identifier: str = house.activity()[0]["execution_id"]
    return identifier


def die(house: House, execution: str, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the execution in a worker that dies at that point."""

    def dead(*_args: object, **_options: object) -> None:
        raise Died

    with monkeypatch.context() as patch:
        owner = Worker if at.startswith("_") else worker_module
        patch.setattr(owner, at, dead)
        with pytest.raises(Died):
            house.run(execution)


def age(house: House) -> dict[str, Any]:
    (row,) = house.table("SELECT claim, sending, tries, wake_at FROM executions_202611291800")
    return row


@pytest.mark.parametrize("at", ["_begin", "prepare", "_mark_sending"])
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


@pytest.mark.parametrize("at", ["send", "_judge", "_record"])
def test_died_after_it_may_have_been_sent(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    execution = fire_one(house, url=sink.url)
    if at == "_record":
        record = Worker._record

        def dead(self: Worker, outcomes: Any, *rest: Any) -> None:
            outcomes = list(outcomes)
            if outcomes:
                raise Died
            record(self, outcomes, *rest)

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
    die(house, execution, "_judge", monkeypatch)
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


def test_two_sweeps_at_once(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    die(house, execution, "prepare", monkeypatch)
    clock.shift(LEASE + 1)
    now = now_ms()
    due = store.list_due(house.database, "202611291800", now)
    monkeypatch.setattr("whenthen.engine.sweep.list_due", lambda *_: due)
    sweep(house.database, house.wakeups, now)
    house.work()
    sweep(house.database, house.wakeups, now)
    house.work()
    assert len(sink.requests) == 1
    item = house.execution(execution)
    assert (item["state"], [a["outcome"] for a in item["attempts"]]) == ("succeeded", ["succeeded"])
    assert age(house)["tries"] == 0


def test_a_late_answer_replaces_unknown(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    record = Worker._record

    def late(self: Worker, outcomes: Any, *rest: Any) -> None:
        outcomes = list(outcomes)
        if outcomes:
            clock.shift(LEASE + 1)
            assert house.tick().overdue == 1
            assert house.execution(execution)["state"] == "unknown"
        record(self, outcomes, *rest)

    monkeypatch.setattr(Worker, "_record", late)
    house.run(execution)
    item = house.execution(execution)
    assert (item["state"], item["reason"]) == ("succeeded", "")
    assert [attempt["outcome"] for attempt in item["attempts"]] == ["succeeded"]


def test_a_late_answer_does_not_disturb_a_rerun(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    record = Worker._record

    def late(self: Worker, outcomes: Any, *rest: Any) -> None:
        outcomes = list(outcomes)
        if outcomes:
            clock.shift(LEASE + 1)
            house.tick()
            assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
        record(self, outcomes, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_record", late)
        house.run(execution)
    assert house.execution(execution)["state"] == "queued"
    house.work()
    assert house.execution(execution)["state"] == "succeeded"
    assert [request.key for request in sink.requests] == [f"{execution}.0"] * 2


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
    assert house.run(execution) == set()
    assert sink.requests == []


def test_no_time_left_gives_back(house: House, sink: Sink) -> None:
    execution = fire_one(house, url=sink.url)
    house.run(execution, seconds=3)
    assert house.execution(execution)["state"] == "queued"
    assert sink.requests == []
    assert house.work() == 2
    assert len(sink.requests) == 1


def test_slots_are_settled_when_all_is_final(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/", [Reply(503, headers=(("Retry-After", "3600"),)), Reply(200)])
    execution = fire_one(house, url=sink.url)
    house.work()

    def settled() -> dict[str, bool]:
        rows = house.table("SELECT slot, settled_at FROM slots")
        return {row["slot"]: row["settled_at"] is not None for row in rows}

    house.tick()
    assert settled() == {"202611291800": False, "202611291830": False}
    clock.shift(35 * 60)
    house.tick()
    # One execution waits for the target's hour.
    assert not any(settled().values())
    clock.shift(3600)
    house.tick()
    house.work()
    assert house.execution(execution)["state"] == "succeeded"
    house.tick()
    assert settled()["202611291800"] is True
    # A rerun opens it again.
    house.call("POST", f"/executions/{execution}/rerun")
    assert settled()["202611291800"] is False
    for item in house.wakeups.receive(wait_seconds=0):
        house.wakeups.delete(item)
    clock.shift(61)
    assert house.tick().overdue == 1
    house.work()
    house.tick()
    assert settled()["202611291800"] is True


def test_a_worker_that_lost_its_claim_sends_nothing(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    prepare = worker_module.prepare

    def slow(run: Any) -> Any:
        monkeypatch.setattr(worker_module, "prepare", prepare)
        clock.shift(LEASE + 1)
        assert house.tick().overdue == 1
        house.work()
        return prepare(run)

    monkeypatch.setattr(worker_module, "prepare", slow)
    house.run(execution)
    assert len(sink.requests) == 1
    assert [a["outcome"] for a in house.execution(execution)["attempts"]] == ["succeeded"]
