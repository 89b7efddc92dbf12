"""A worker whose time runs out."""

import time
from typing import Any

import pytest

from tests.support.embedded import House, fire_one, web_request
from tests.support.sink import Reply, Sink
from whenthen.clock import Deadline
from whenthen.engine import claims
from whenthen.engine.performing import Performer
from whenthen.engine.runs import Run
from whenthen.engine.worker import RESERVE_SECONDS


def test_no_time_is_left_after_the_mark(house: House, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a database so slow that no request fits before the deadline, nothing is sent and nothing is unknown."""
    execution = fire_one(house, url=sink.url + "/in", method="POST")
    mark_sending = claims.mark_sending

    def slow(*args: Any, **kwargs: Any) -> set[str]:
        held = mark_sending(*args, **kwargs)
        time.sleep(1.0)
        return held

    monkeypatch.setattr(claims, "mark_sending", slow)
    assert house.run(execution, seconds=6.8) == set()
    assert house.execution(execution)["state"] == "queued"
    assert sink.requests == []
    monkeypatch.undo()
    house.work()
    assert house.execution(execution)["state"] == "succeeded"
    assert [attempt["number"] for attempt in house.execution(execution)["attempts"]] == [1]
    assert len(sink.requests) == 1


def test_new_tokens_leave_time_to_record(house: House, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a service that answers with new tokens as late as it can, then what has become of it is still recorded."""
    execution = fire_one(house, url=sink.url)
    prepare = Performer.prepare
    left: list[float] = []

    def preparing(performer: Performer, run: Run, deadline: Deadline) -> Any:
        left.append(deadline.left())
        return prepare(performer, run, deadline)

    monkeypatch.setattr(Performer, "prepare", preparing)
    house.run(execution, seconds=20)
    assert 0 < left[0] < 20 - RESERVE_SECONDS


@pytest.mark.parametrize("queries", [0, 2])
def test_a_request_is_not_cut_short(house: House, sink: Sink, queries: int) -> None:
    """Given targets so slow that the last one's answer would come too late, then it is called in another run."""
    sink.reply("/", [Reply(hang=1.7)])
    query = {"service": "webhooks", "query": "web_request", "fields": {"url": sink.url + "/"}}
    house.make_applet(queries=[query] * queries, actions=[web_request(sink.url + "/")] * (3 - queries))
    house.fire()
    execution = house.execution()["execution_id"]
    house.run(execution, seconds=9.5)
    assert (house.execution()["state"], len(sink.requests)) == ("queued", 2)
    house.run(execution, seconds=9.5)
    assert (house.execution()["state"], len(sink.requests)) == ("succeeded", 3)


def test_no_time_is_left_before_anything(house: House, sink: Sink) -> None:
    execution = fire_one(house, url=sink.url + "/in", method="POST")
    assert house.run(execution, seconds=3) == set()
    assert house.execution(execution)["state"] == "queued"
    assert sink.requests == []
