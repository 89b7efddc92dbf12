"""One delivery, one event; and webhooks while the database or everything is down."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.embedded import LOOPBACK, House
from whenthen.errors import Unavailable
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store.errors import (
    Backpressure,
    Conflict,
    LogFull,
    NotReady,
    OutcomeUnknown,
    StoreError,
    Unauthorized,
    Unreachable,
)
from whenthen.web import hooks
from whenthen.wiring import Runtime

KEY = "Idempotency-Key"


def counts(house: House) -> tuple[int, int]:
    return house.table("SELECT COUNT(*) AS n FROM trigger_events")[0]["n"], len(house.activity())


def test_the_same_delivery_twice_is_one_event(house: House) -> None:
    """D12, D14, D19."""
    house.make_applet()
    answers = [
        house.fire(query={"value1": "once"}, headers={KEY: "d-1", "X-Slack-Retry-Num": str(again)})
        for again in range(3)
    ]
    assert {answer.content for answer in answers} == {b"Congratulations! You've fired the door event"}
    assert counts(house) == (1, 1)
    assert house.work() == 1
    assert house.fire(headers={KEY: "d-1"}).status_code == 200
    assert house.work() == 0
    assert [message["message"] for message in house.inbox()] == ["door: once"]


def test_parallel_deliveries(house: House) -> None:
    house.make_applet()
    house.make_applet()
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(house.fire, headers={KEY: f"d-{i % 5}"}) for i in range(40)]
    assert {job.result().status_code for job in jobs} == {200}
    assert counts(house) == (5, 10)
    assert house.work() == 10


def test_without_an_id_each_call_is_an_event(house: House) -> None:
    """D16."""
    house.make_applet()
    for _ in range(3):
        house.fire()
    house.fire(headers={KEY: "  "})
    assert counts(house) == (4, 4)


def test_ids_are_compared_whole_and_kept_apart_by_event(house: House) -> None:
    for event in ("door", "gate"):
        house.make_applet(event=event)
    for delivery in ("a", "A", "a b", "ä".encode(), "x" * 4000, "idempotency-key:a"):
        house.fire(headers={KEY: delivery})
        house.fire("gate", headers={KEY: delivery})
    assert counts(house) == (12, 12)


def test_the_header_that_the_key_names(house: House) -> None:
    house.make_applet()
    made = house.call(
        "POST", "/keys", {"kind": "webhook", "name": "GitHub", "delivery_id_header": "X-GitHub-Delivery"}
    ).json()

    def fire(**headers: str) -> None:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        assert house.hooks.get(f"/trigger/door/with/key/{made['key']}", headers=sent).status_code == 200

    fire(x_github_delivery="1")
    fire(X_GITHUB_DELIVERY=" 1 ")
    assert counts(house) == (1, 1)
    # It comes before Idempotency-Key, which is used when it is absent or empty.
    fire(x_github_delivery="1", idempotency_key="other")
    assert counts(house) == (1, 1)
    fire(idempotency_key="1")
    fire(idempotency_key="1", x_github_delivery="")
    assert counts(house) == (2, 2)
    # The other key names no header.
    house.fire(headers={"X-GitHub-Delivery": "1"})
    house.fire(headers={"X-GitHub-Delivery": "1"})
    assert counts(house) == (4, 4)


def test_a_delivery_after_a_changed_listener_is_still_the_first(house: House) -> None:
    first = house.make_applet()
    house.fire(headers={KEY: "d"})
    house.make_applet()
    house.call("DELETE", f"/applets/{first['id']}")
    assert house.fire(headers={KEY: "d"}).status_code == 200
    assert counts(house) == (1, 1)


def cold(house: House, arrivals: Any = None) -> TestClient:
    """A process that has not seen the database yet."""
    settings = Settings.read({**LOOPBACK, "WHENTHEN_INTAKE_TIMEOUT_SECONDS": "0.2"})
    house.runtime.settings = settings
    runtime = Runtime(settings, database=house.database, wakeups=house.wakeups, arrivals=arrivals or house.arrivals)
    return TestClient(hooks.make_app(runtime))


DOWN = [Unreachable(), OutcomeUnknown(), Backpressure(), Conflict(), LogFull(), Unauthorized(), StoreError("new code")]


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("error", DOWN, ids=lambda error: type(error).__name__)
def test_the_database_is_down(house: House, error: StoreError, warm: bool) -> None:
    house.make_applet()
    client = cold(house)
    path = f"/trigger/door/with/key/{house.webhook_key}"
    if warm:
        assert client.get(path).status_code == 200
        house.work()
    house.database.error = error
    answer = client.post(path, json={"value1": "kept"}, headers={KEY: "d", "Authorization": "Bearer s3cret"})
    assert (answer.status_code, answer.text) == (200, "Congratulations! You've fired the door event")
    # The sender does it again.
    assert client.post(path, json={"value1": "kept"}, headers={KEY: "d"}).status_code == 200
    waiting = house.arrivals.receive(wait_seconds=0)
    assert len(waiting) == 2
    assert not any(secret in item.body for item in waiting for secret in (house.webhook_key, "s3cret"))
    house.arrivals.send([item.body for item in waiting])
    house.database.error = None
    assert house.tick().drained == 2
    assert house.tick().drained == 0
    house.work()
    assert [message["message"] for message in house.inbox()][:1] == ["door: kept"]
    assert counts(house) == (1 + warm, 1 + warm)


def test_both_are_down(house: House) -> None:
    class Broken(MemoryQueue):
        def send(self, *_: Any, **__: Any) -> None:
            raise Unavailable("the queue can't be reached")

    house.make_applet()
    client = cold(house, Broken())
    house.database.error = Unreachable()
    for method, path in (("GET", "/trigger/door/with/key/k"), ("POST", "/trigger/door/json/with/key/k")):
        answer = client.request(method, path)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "30"
        assert answer.json()["errors"]
    assert client.get("/use/k").status_code == 503


def test_no_intake_queue_is_configured(house: House) -> None:
    house.database.error = Unreachable()
    client = TestClient(hooks.make_app(Runtime(Settings.read({}), database=house.database, wakeups=house.wakeups)))
    assert client.get("/trigger/door/with/key/k").status_code == 503


def test_a_database_that_is_not_ready(house: House) -> None:
    client = cold(house)
    house.database.error = NotReady("run `whenthen db migrate`")
    answer = client.get(f"/trigger/door/with/key/{house.webhook_key}")
    assert answer.status_code == 503
    assert "migrate" not in answer.text
    assert house.arrivals.receive(wait_seconds=0) == []


def test_what_can_never_be_stored_is_refused_also_while_the_database_is_down(house: House) -> None:
    client = cold(house)
    house.database.error = Unreachable()
    path = f"/trigger/door/with/key/{house.webhook_key}"
    assert client.post(path, json={"value1": "\x00"}).status_code == 400
    surrogate = client.post(path, content=b'{"value1": "\\ud800"}', headers={"Content-Type": "application/json"})
    assert surrogate.status_code == 400
    grows = b"value1=" + b"\x01" * 200_000
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post(path, content=grows, headers=form).status_code == 413
    assert house.arrivals.receive(wait_seconds=0) == []


def test_a_wrong_key_while_the_database_was_down_is_dropped_later(house: House) -> None:
    client = cold(house)
    house.database.error = Unreachable()
    assert client.get("/trigger/door/with/key/wrong").status_code == 200
    house.database.error = None
    assert house.tick().drained == 1
    assert counts(house) == (0, 0)


def test_a_lost_wake_up_queue_loses_no_event(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise Unavailable

    house.make_applet()
    monkeypatch.setattr(house.wakeups, "send", refuse)
    assert house.fire().status_code == 200
    assert counts(house) == (1, 1)
