"""What is tried again, when, with which key, and what is not (R6)."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import time_machine

from tests.support.embedded import House, web_request
from tests.support.processes import free_port
from tests.support.sink import Reply, Sink
from whenthen.engine.retry import JITTER, MAX_RETRY_AFTER_SECONDS, RETRY_DELAYS_SECONDS

NOW = datetime(2026, 11, 29, 18, 5, tzinfo=UTC)


def start(house: House, **fields: Any) -> str:
    """Fire one event at an applet with one request; return the execution's id."""
    house.make_applet(actions=[web_request(**fields)])
    house.fire(query={"value1": "x"})
    house.work()
    identifier: str = house.activity()[0]["execution_id"]
    return identifier


def wait_of(item: dict[str, Any]) -> float:
    """Seconds from the last try's end to the next try."""
    ended = datetime.fromisoformat(item["attempts"][-1]["finished_at"])
    return (datetime.fromisoformat(item["due_at"]) - ended).total_seconds()


@pytest.fixture
def clock() -> Any:
    with time_machine.travel(NOW) as traveller:
        yield traveller


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 599])
def test_a_failure_of_the_moment_is_tried_again_with_the_same_key(
    house: House, sink: Sink, clock: time_machine.Traveller, status: int
) -> None:
    """F05: the target did its work and answered 500; it can tell the retry from a new request."""
    sink.reply("/", [Reply(status), Reply(200)])
    execution = start(house, url=sink.url)
    item = house.execution(execution)
    assert item["state"] == "waiting"
    assert str(status) in item["reason"]
    assert RETRY_DELAYS_SECONDS[0] - 1 <= wait_of(item) <= RETRY_DELAYS_SECONDS[0] * (1 + JITTER) + 1
    clock.shift(5)
    assert house.run(execution) == set()
    assert len(sink.requests) == 1
    clock.shift(10)
    house.run(execution)
    assert [request.key for request in sink.requests] == [f"{execution}.0"] * 2
    assert len({request.body for request in sink.requests}) == 1
    item = house.execution(execution)
    assert (item["state"], item["reason"], item["due_at"]) == ("succeeded", "", None)
    assert [(a["number"], a["outcome"]) for a in item["attempts"]] == [(1, "retry"), (2, "succeeded")]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        ("0", RETRY_DELAYS_SECONDS[0]),
        ("99999999", MAX_RETRY_AFTER_SECONDS),
        ("9" * 50, RETRY_DELAYS_SECONDS[0]),
        (format_datetime(NOW + timedelta(seconds=600), usegmt=True), 600),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), RETRY_DELAYS_SECONDS[0]),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER_SECONDS),
        ("-5", RETRY_DELAYS_SECONDS[0]),
        ("soon", RETRY_DELAYS_SECONDS[0]),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after(
    house: House, sink: Sink, clock: time_machine.Traveller, status: int, header: str, seconds: int
) -> None:
    sink.reply("/", [Reply(status, headers=(("Retry-After", header),))])
    item = house.execution(start(house, url=sink.url))
    assert item["state"] == "waiting"
    assert seconds - 2 <= wait_of(item) <= seconds * (1 + JITTER) + 2


def test_at_most_five_retries(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/", [Reply(503)])
    execution = start(house, url=sink.url)
    for delay in RETRY_DELAYS_SECONDS:
        assert house.execution(execution)["state"] == "waiting"
        clock.shift(delay * (1 + JITTER) + 1)
        # The sweep finds it when the wake-up is lost.
        clock.shift(61)
        assert house.tick().overdue == 1
        house.work()
    item = house.execution(execution)
    assert (item["state"], len(item["attempts"]), len(sink.requests)) == ("failed", 6, 6)
    assert item["reason"] == "The target answered 503 Service Unavailable: it can't do this now."
    assert {request.key for request in sink.requests} == {f"{execution}.0"}
    clock.shift(86_400)
    assert house.tick().overdue == 0
    assert house.work() == 0


def test_nothing_listens_at_the_target(house: House, clock: time_machine.Traveller) -> None:
    item = house.execution(start(house, url=f"http://127.0.0.1:{free_port()}"))
    assert item["state"] == "waiting"
    assert item["reason"].startswith("Nothing was sent:")
    assert item["attempts"][0]["answer"] is None


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"method": "POST"}, "unknown"),
        ({"method": "PATCH"}, "unknown"),
        ({"method": "POST", "repeatable": True}, "waiting"),
        ({"method": "GET", "body": ""}, "waiting"),
        ({"method": "PUT"}, "waiting"),
        ({"method": "DELETE"}, "waiting"),
    ],
)
@pytest.mark.parametrize("reply", [Reply(hang=1.0), Reply(close=True)], ids=["hangs", "closes"])
def test_a_request_without_an_answer(
    sink: Sink, house: House, fields: dict[str, Any], state: str, reply: Reply
) -> None:
    """F01: no blind repeat of what may have been done."""
    sink.reply("/", [reply])
    house.runtime.worker._action_timeout = 0.3
    execution = start(house, url=sink.url, **fields)
    item = house.execution(execution)
    assert item["state"] == state
    assert "no answer came" in item["reason"]
    assert item["attempts"][0]["answer"] is None
    assert len(sink.requests) == 1
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=2)):
        house.tick()
        house.work()
        house.run(execution)
    assert len(sink.requests) == (1 if state == "unknown" else 2)


def test_unknown_stops_no_other_action_and_can_be_run_again(house: House, sink: Sink) -> None:
    sink.reply("/1", [Reply(close=True), Reply(200)])
    house.make_applet(actions=[web_request(f"{sink.url}/1"), web_request(f"{sink.url}/2")])
    house.fire()
    house.work()
    item = house.execution()
    assert item["state"] == "unknown"
    assert [attempt["outcome"] for attempt in item["attempts"]] == ["unknown", "succeeded"]
    path = f"/executions/{item['execution_id']}/rerun"
    assert house.call("POST", path).json() == {"execution_id": item["execution_id"], "state": "queued"}
    assert house.call("POST", path).status_code == 409
    house.work()
    again = house.execution()
    assert again["state"] == "succeeded"
    assert again["attempts"][:2] == item["attempts"]
    assert [attempt["outcome"] for attempt in again["attempts"]] == ["unknown", "succeeded"] + ["succeeded"] * 2
    keys = [request.key for request in sink.requests]
    assert keys == [f"{item['execution_id']}.{n}" for n in (0, 1, 0, 1)]


@pytest.mark.parametrize("text", ["not so", "Value1 == 'open'"])
def test_a_rerun_of_what_was_skipped_looks_at_the_filter_again(house: House, sink: Sink, text: str) -> None:
    made = house.make_applet(filter="Value1 == 'shut'", actions=[web_request(sink.url)])
    house.fire(query={"value1": "open"})
    house.work()
    assert house.execution()["state"] == "skipped"
    house.call("PATCH", f"/applets/{made['id']}", {"filter": None if text == "not so" else text})
    assert house.call("POST", f"/executions/{house.execution()['execution_id']}/rerun").status_code == 202
    house.work()
    assert house.execution()["state"] == "succeeded"
    assert len(sink.requests) == 1


def test_a_rerun_leaves_one_notification(house: House) -> None:
    house.make_applet()
    house.fire()
    house.work()
    assert house.call("POST", f"/executions/{house.execution()['execution_id']}/rerun").status_code == 202
    house.work()
    assert len(house.inbox()) == 1
    assert len(house.execution()["attempts"]) == 2


def test_a_retry_after_beyond_all_calendars(house: House, sink: Sink) -> None:
    sink.reply("/", [Reply(503, headers=(("Retry-After", "Mon, 01 Jan 99999999999 00:00:00 GMT"),))])
    assert house.execution(start(house, url=sink.url))["state"] == "waiting"
