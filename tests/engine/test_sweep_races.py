"""Sweeps, workers and owners that meet: late answers, lost claims, slots that close."""

from typing import Any

import pytest
import time_machine

from tests.support.embedded import LEASE, House, die, fire_one
from tests.support.sink import Reply, Sink
from whenthen.clock import now_ms
from whenthen.engine import actions, performing
from whenthen.engine.sweep import sweep
from whenthen.engine.worker import Worker
from whenthen.store import executions as store
from whenthen.store.progress import Progress

pytestmark = pytest.mark.usefixtures("clock")


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
    (row,) = house.table("SELECT progress FROM executions_202611291800")
    assert Progress.from_json(row["progress"]).tries == 0


def test_a_late_answer_replaces_unknown(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    record = Worker._record

    def late(self: Worker, outcomes: Any, *rest: Any, **options: Any) -> Any:
        if outcomes:
            clock.shift(LEASE + 1)
            assert house.tick().overdue == 1
            assert house.execution(execution)["state"] == "unknown"
        return record(self, outcomes, *rest, **options)

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

    def late(self: Worker, outcomes: Any, *rest: Any, **options: Any) -> Any:
        if outcomes:
            clock.shift(LEASE + 1)
            house.tick()
            assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
        return record(self, outcomes, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_record", late)
        house.run(execution)
    assert house.execution(execution)["state"] == "queued"
    house.work()
    assert house.execution(execution)["state"] == "succeeded"
    assert [request.key for request in sink.requests] == [f"{execution}.0"] * 2


def test_slots_are_settled_when_all_is_final(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/", [Reply(503, headers=(("Retry-After", "2400"),)), Reply(200)])
    execution = fire_one(house, url=sink.url)
    house.work()

    def settled() -> dict[str, bool]:
        rows = house.table("SELECT slot, settled_at FROM slots")
        return {row["slot"]: row["settled_at"] is not None for row in rows}

    house.tick()
    assert settled() == {"202611291800": False, "202611291830": False}
    clock.shift(35 * 60)
    house.tick()
    # One execution waits for the target.
    assert not any(settled().values())
    clock.shift(20 * 60)
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
    prepare = actions.prepare

    def slow(*arguments: Any) -> Any:
        monkeypatch.setattr(performing, "prepare", prepare)
        clock.shift(LEASE + 1)
        assert house.tick().overdue == 1
        house.work()
        return prepare(*arguments)

    monkeypatch.setattr(performing, "prepare", slow)
    house.run(execution)
    assert len(sink.requests) == 1
    assert [a["outcome"] for a in house.execution(execution)["attempts"]] == ["succeeded"]
