"""The poller's minute: nothing that waits may hold up the rest."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import time_machine

from tests.support.embedded import LEASE, House, die, fire_one, notification
from tests.support.sink import Reply, Sink
from whenthen.store.errors import ScriptTooLong, StoreError, Unreachable

pytestmark = pytest.mark.usefixtures("clock")


@pytest.mark.parametrize("error", [ScriptTooLong(), StoreError("refused")], ids=lambda error: type(error).__name__)
def test_one_bad_arrival_does_not_stop_the_tick(
    house: House, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch, error: StoreError
) -> None:
    house.make_applet()
    house.fire(query={"value1": "overdue"})
    house.database.error = Unreachable()
    house.runtime.settings = house.runtime.settings.model_copy(update={"intake_timeout_seconds": 0.1})
    for value in ("poison", "good"):
        assert house.fire(query={"value1": value}).status_code == 200
    house.database.error = None
    execute = house.database.execute

    def refuse(sql: str, **options: Any) -> Any:
        if "poison" in sql:
            raise error
        return execute(sql, **options)

    monkeypatch.setattr(house.database, "execute", refuse)
    clock.shift(61)
    assert house.tick().overdue == 1
    assert sorted(house.messages()) == ["door: good", "door: overdue"]


def test_retries_are_no_deaths(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink.reply("/", [Reply(503)])
    execution = fire_one(house, url=sink.url)
    house.work()
    for delay in (13, 80, 400):
        clock.shift(delay)
        house.run(execution)
    assert len(sink.requests) == 4
    clock.shift(2400)
    die(house, execution, "prepare", monkeypatch)
    clock.shift(LEASE + 1)
    house.tick()
    assert house.execution(execution)["state"] == "queued"


def test_ticks_at_once(house: House, clock: time_machine.Traveller) -> None:
    house.make_applet()
    for _ in range(20):
        house.fire()
    for item in [item for _ in range(2) for item in house.wakeups.receive(wait_seconds=0)]:
        house.wakeups.delete(item)
    clock.shift(61)
    with ThreadPoolExecutor(4) as pool:
        reports = [job.result() for job in [pool.submit(house.tick) for _ in range(4)]]
    assert max(report.overdue for report in reports) == 20
    house.work()
    assert len(house.activity(limit="200")) == len(house.inbox()) == 20
    assert {item["state"] for item in house.activity()} == {"succeeded"}


def test_a_batch_with_a_poisonous_neighbour(house: House, sink: Sink) -> None:
    house.make_applet(kind="json_event", actions=[notification("{{(JsonPayload | fromjson).a}}")])
    house.make_applet()
    path = f"/trigger/door/json/with/key/{house.webhook_key}"
    for text in (b'{"a": "x\\u0000y"}', b'{"a": "x\\ud800y"}', b'{"a": {"b": 1e400}}', b"[]"):
        assert house.hooks.post(path, content=text).status_code == 200
        house.fire(query={"value1": "good"})
    assert house.messages().count("door: good") == 4
    assert {item["state"] for item in house.activity()} == {"succeeded", "failed"}
