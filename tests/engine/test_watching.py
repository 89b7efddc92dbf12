"""What those who watch see: log lines that lead from an event to its actions, and metrics that say what happened."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from tests.support.collected import Collected, carried, collecting, lines
from tests.support.embedded import LEASE, House, die, fire_one, notification, web_request
from tests.support.sink import Reply, Sink
from whenthen.engine import performing
from whenthen.engine.deaths import MAX_DEATHS
from whenthen.engine.wire import perform
from whenthen.metrics import Metric
from whenthen.store.errors import Duplicate, Unreachable
from whenthen.web.receiving import EVENT_ID_HEADER

pytestmark = pytest.mark.usefixtures("clock")

EXECUTED = {Metric.SUCCEEDED, Metric.FAILED, Metric.SKIPPED, Metric.UNKNOWN, Metric.RETRIED}


@pytest.fixture
def collected() -> Iterator[Collected]:
    with collecting() as found:
        yield found


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "whenthen")
    return caplog


def test_from_a_webhook_to_its_action(
    house: House, sink: Sink, collected: Collected, log: pytest.LogCaptureFixture
) -> None:
    house.make_applet(actions=[web_request(sink.url), notification("then")])
    event = house.fire().headers[EVENT_ID_HEADER]
    assert lines(log, correlation_id=event) == ["an event was accepted"]
    house.work()

    (request,) = sink.requests
    execution = house.activity()[0]["execution_id"]
    assert event in execution
    assert carried(log, "an event was accepted")["execution_ids"] == (execution,)
    assert request.key.startswith(execution)
    assert lines(log, correlation_id=event, execution_id=execution) == [
        "webhooks.make_web_request: succeeded",
        "notifications.send_notification: succeeded",
        "the execution ended: succeeded",
    ]
    assert lines(log, correlation_id=event, idempotency_key=request.key) == ["webhooks.make_web_request: succeeded"]

    assert collected.told() & EXECUTED == {Metric.SUCCEEDED}
    assert (collected.total(Metric.ACCEPTED), collected.total(Metric.SUCCEEDED)) == (1, 1)
    assert len(collected.values(Metric.EVENT_TO_ACTION)) == 1


def test_an_event_that_comes_again(house: House, collected: Collected, log: pytest.LogCaptureFixture) -> None:
    house.make_applet()
    first, second = (house.fire(headers={"Idempotency-Key": "d"}).headers[EVENT_ID_HEADER] for _ in range(2))
    assert first == second
    assert lines(log, correlation_id=first) == ["an event was accepted", "an event had arrived before"]
    assert (collected.total(Metric.ACCEPTED), collected.total(Metric.DUPLICATE)) == (1, 1)


def test_an_event_that_nobody_listens_to(house: House, collected: Collected, log: pytest.LogCaptureFixture) -> None:
    answer = house.fire()
    assert answer.status_code == 200
    assert EVENT_ID_HEADER not in answer.headers
    assert "arrival_id" in carried(log, "no applet listens to an event")
    assert collected.told() == set()


def test_an_arrival_keeps_its_name_through_the_intake_queue(
    house: House, collected: Collected, log: pytest.LogCaptureFixture
) -> None:
    house.make_applet()
    house.database.error = Unreachable()
    house.runtime.settings = house.runtime.settings.model_copy(update={"intake_timeout_seconds": 0.1})
    answer = house.fire()
    assert answer.status_code == 200
    assert EVENT_ID_HEADER not in answer.headers
    assert collected.told() == {Metric.SENT_TO_INTAKE_QUEUE}
    (sent,) = [record for record in log.records if "went to the intake queue" in record.getMessage()]

    house.database.error = None
    house.tick()
    accepted = carried(log, "an event was accepted")
    assert accepted["arrival_id"] == vars(sent)["arrival_id"]
    assert accepted["correlation_id"] in house.activity()[0]["execution_id"]
    assert (collected.total(Metric.ACCEPTED), collected.total(Metric.DRAINED)) == (1, 1)


def test_arrivals_have_names_of_their_own(house: House, log: pytest.LogCaptureFixture) -> None:
    for event, delivery in (("door", "a"), ("door", "b"), ("gate", "a"), ("door", "a")):
        house.fire(event, headers={"Idempotency-Key": delivery})
    names = [vars(record)["arrival_id"] for record in log.records if hasattr(record, "arrival_id")]
    assert names[3] == names[0]
    assert len(set(names)) == 3


def test_a_lost_write_is_told(
    house: House, collected: Collected, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a database that knows an event's key and has no row for it."""
    house.make_applet()
    execute = house.database.execute
    refusals = iter([Duplicate(("event_id",))])

    def refuse(sql: str, **options: Any) -> Any:
        if "INSERT INTO trigger_events" in sql and (error := next(refusals, None)) is not None:
            raise error
        return execute(sql, **options)

    monkeypatch.setattr(house.database, "execute", refuse)
    event = house.fire().headers[EVENT_ID_HEADER]
    told = carried(log, "an event was refused as a duplicate but is not stored")
    assert (told["correlation_id"], told["levelname"]) == (event, "ERROR")
    assert (collected.total(Metric.LOST_WRITES), collected.total(Metric.ACCEPTED)) == (1, 1)


@pytest.mark.parametrize(
    ("reply", "changes", "metric"),
    [
        (Reply(), {}, Metric.SUCCEEDED),
        (Reply(404), {}, Metric.FAILED),
        (Reply(503), {}, Metric.RETRIED),
        (Reply(close=True), {}, Metric.UNKNOWN),
        (Reply(), {"filter": "Value1 == 'no'"}, Metric.SKIPPED),
    ],
)
def test_every_end_is_counted_once(
    house: House,
    sink: Sink,
    collected: Collected,
    log: pytest.LogCaptureFixture,
    reply: Reply,
    changes: dict[str, str],
    metric: Metric,
) -> None:
    sink.reply("/", [reply])
    house.make_applet(actions=[web_request(sink.url)], **changes)
    event = house.fire().headers[EVENT_ID_HEADER]
    house.work()
    assert collected.told() & EXECUTED == {metric}
    assert collected.total(metric) == 1
    tried, ended = [f"webhooks.make_web_request: {metric.lower()}"], [f"the execution ended: {metric.lower()}"]
    if metric is Metric.RETRIED:
        tried, ended = ["webhooks.make_web_request: retry"], []
    elif metric is Metric.SKIPPED:
        tried = []
    assert lines(log, correlation_id=event) == ["an event was accepted", *tried, *ended]


def test_a_rerun_begins_no_action_of_a_new_event(house: House, sink: Sink, collected: Collected) -> None:
    sink.reply("/", [Reply(404), Reply()])
    execution = fire_one(house, url=sink.url)
    house.work()
    assert house.call("POST", f"/executions/{execution}/rerun").status_code < 300
    house.work()
    assert (collected.total(Metric.FAILED), collected.total(Metric.SUCCEEDED)) == (1, 1)
    assert len(collected.values(Metric.EVENT_TO_ACTION)) == 1


def test_a_rerun_of_what_was_skipped_has_no_lag(house: House, collected: Collected) -> None:
    made = house.make_applet(filter="Value1 == 'no'")
    house.fire()
    house.work()
    assert house.call("PATCH", f"/applets/{made['id']}", {"filter": None}).status_code == 200
    assert house.call("POST", f"/executions/{house.activity()[0]['execution_id']}/rerun").status_code < 300
    house.work()
    assert (collected.total(Metric.SKIPPED), collected.total(Metric.SUCCEEDED)) == (1, 1)
    assert Metric.EVENT_TO_ACTION not in collected.told()


def test_the_lag_of_an_event(house: House, clock: time_machine.Traveller, collected: Collected) -> None:
    house.make_applet()
    clock.move_to(1_800_000_000, tick=False)
    house.fire()
    clock.shift(2)
    house.work()
    assert collected.values(Metric.EVENT_TO_ACTION) == [2000]


def test_a_worker_that_died(
    house: House,
    sink: Sink,
    clock: time_machine.Traveller,
    collected: Collected,
    log: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    execution = fire_one(house, url=sink.url)
    die(house, execution, "perform", monkeypatch)
    house.tick()
    assert collected.values(Metric.OVERDUE) == [0]
    assert Metric.OLDEST_DUE not in collected.told()
    clock.shift(LEASE + 30)
    house.tick()
    assert collected.values(Metric.OVERDUE) == [0, 1]
    assert 29 <= collected.values(Metric.OLDEST_DUE)[0] < 60
    assert collected.total(Metric.UNKNOWN) == 1
    event = execution.split(".")[1]
    assert lines(log, correlation_id=event, execution_id=execution)[-2:] == [
        "the lease of an execution has run out",
        "the execution ended: unknown",
    ]


def test_a_worker_that_dies_again_and_again(
    house: House,
    sink: Sink,
    clock: time_machine.Traveller,
    collected: Collected,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    execution = fire_one(house, url=sink.url)
    for death in range(1, MAX_DEATHS + 1):
        assert collected.total(Metric.FAILED) == 0
        die(house, execution, "prepare", monkeypatch)
        clock.shift(LEASE + 1)
        house.tick()
        assert collected.values(Metric.OVERDUE)[-1] == 1, death
    assert collected.told() & EXECUTED == {Metric.FAILED}
    assert collected.total(Metric.FAILED) == 1


def test_the_oldest_of_those_that_wait(house: House, clock: time_machine.Traveller, collected: Collected) -> None:
    house.make_applet()
    house.fire()
    clock.shift(100)
    house.fire()
    clock.shift(100)
    house.tick()
    assert collected.values(Metric.OVERDUE) == [2]
    assert 200 <= collected.values(Metric.OLDEST_DUE)[0] < 210


def test_an_outcome_that_comes_too_late_is_not_counted(
    house: House, sink: Sink, collected: Collected, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given another worker that has taken the execution over while the request was on its way."""
    execution = fire_one(house, url=sink.url)
    slot, event, _ = execution.split(".")

    def slowly(*arguments: Any, **options: Any) -> Any:
        house.table(f"UPDATE executions_{slot} SET claim = 'other' WHERE execution_id = CAST('{execution}' AS TEXT)")
        return perform(*arguments, **options)

    monkeypatch.setattr(performing, "perform", slowly)
    house.run(execution)
    assert len(sink.requests) == 1
    assert collected.told() & EXECUTED == set()
    assert "executions are not held any more" in lines(log, correlation_id=event, execution_id=execution)


def test_what_a_worker_can_not_write_down_is_told_with_its_events(house: House, log: pytest.LogCaptureFixture) -> None:
    house.make_applet()
    events = {house.fire().headers[EVENT_ID_HEADER] for _ in range(2)}
    executions = [item["execution_id"] for item in house.activity()]
    house.database.error = Unreachable()
    assert house.run(*executions, seconds=0.1) == set(executions)
    (failed,) = [record for record in log.records if "could not claim" in record.getMessage()]
    assert set(vars(failed)["correlation_ids"]) == events


def test_a_tick_that_fails_tells_its_numbers_too(house: House, collected: Collected) -> None:
    house.tick()
    house.database.error = Unreachable()
    with pytest.raises(Unreachable):
        house.tick()
    assert len(collected.values(Metric.OVERDUE)) == 2
