"""A worker whose time runs out."""

import time
from typing import Any

import pytest

from tests.support.embedded import House, fire_one
from tests.support.sink import Sink
from whenthen.engine import claims


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


def test_no_time_is_left_before_anything(house: House, sink: Sink) -> None:
    execution = fire_one(house, url=sink.url + "/in", method="POST")
    assert house.run(execution, seconds=3) == set()
    assert house.execution(execution)["state"] == "queued"
    assert sink.requests == []
