"""kill -9 in the middle: nothing acknowledged is lost, nothing runs twice, and what can't be known is `unknown`."""

import json
import threading
import time
from collections import Counter

import httpx2
import pytest

from tests.server.conftest import Regime
from tests.support.processes import wait_for
from tests.support.product import ARRIVALS, WAKEUPS, SpoolQueue
from tests.support.scenario import Product, call_applet, executions
from tests.support.sink import Sink
from whenthen.clock import Deadline, now_ms
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.sweep import sweep
from whenthen.engine.tick import drain
from whenthen.queues.directory import DirectoryQueue
from whenthen.settings import Settings
from whenthen.store.events import EventRow, find_event
from whenthen.wiring import Runtime

LATER_MS = 10 * 60_000
"""Past every lease."""


def fire(url: str, product: Product, value: str) -> int:
    """Send one delivery and return the answer's status, 0 for none."""
    path = f"/trigger/door/with/key/{product.webhook_key}"
    try:
        answer = httpx2.post(
            url + path, data={"value1": value}, headers={"Idempotency-Key": value}, timeout=20, trust_env=False
        )
    except httpx2.HTTPError:
        return 0
    return answer.status_code


def sweep_later(product: Product) -> None:
    """Sweep as if ten minutes had passed."""
    sweep(product.database, SpoolQueue(product.home / WAKEUPS), now_ms() + LATER_MS)


def states(product: Product) -> Counter[str]:
    """Count executions by state."""
    return Counter(row.state for row in executions(product.database))


def settled(product: Product, count: int) -> bool:
    """Whether `count` executions are final."""
    return sum(row.wake_at is None for row in executions(product.database)) == count


@pytest.mark.parametrize(
    ("crash_at", "method", "calls", "state"),
    [
        pytest.param("before-action", "POST", 1, "succeeded", id="between claim and action"),
        pytest.param("before-send", "POST", 0, "unknown", id="F01 marked, before the request leaves"),
        pytest.param("before-outcome", "POST", 1, "unknown", id="F01 between action and outcome"),
        pytest.param("before-outcome", "PUT", 2, "succeeded", id="F02 between action and outcome, repeatable"),
    ],
)
def test_worker_killed(
    regime: Regime, product: Product, sink: Sink, crash_at: str, method: str, calls: int, state: str
) -> None:
    """Given a worker killed at a point, when its lease has run out, the action is repeated only where it is safe."""
    call_applet(product.database, f"{sink.url}/in", method=method)
    _, url = product.start_trigger()
    worker = product.start("worker", crash_at=crash_at)
    assert fire(url, product, "one") == 200
    assert wait_for(lambda: product.crashed(crash_at))
    worker.kill9()
    regime.boundary()

    sweep(product.database, SpoolQueue(product.home / WAKEUPS), now_ms())
    assert states(product) == {"running": 1}, "a lease that holds is not touched"

    sweep_later(product)
    product.start("worker")
    assert wait_for(lambda: settled(product, 1))
    time.sleep(0.3)
    assert states(product) == {state: 1}
    assert len(sink.requests) == calls
    assert len({request.key for request in sink.requests}) <= 1, "a repeat carries the same key"


def test_trigger_killed_between_commit_and_wakeup(regime: Regime, product: Product, sink: Sink) -> None:
    """Given a trigger killed after its commit, when the sweep runs, then the execution runs once."""
    call_applet(product.database, f"{sink.url}/in")
    trigger, url = product.start_trigger(crash_at="before-wakeup")
    statuses: list[int] = []
    sender = threading.Thread(target=lambda: statuses.append(fire(url, product, "one")))
    sender.start()
    assert wait_for(lambda: product.crashed("before-wakeup"))
    trigger.kill9()
    sender.join()
    regime.boundary()
    assert statuses == [0], "the sender knows nothing and sends again"
    assert states(product) == {"queued": 1}

    _, url = product.start_trigger()
    assert fire(url, product, "one") == 200
    product.start("worker")
    sweep_later(product)
    assert wait_for(lambda: settled(product, 1))
    assert states(product) == {"succeeded": 1}
    assert [request.body for request in sink.requests] == [b"one"]


def test_server_killed_under_load(regime: Regime, product: Product, sink: Sink) -> None:
    """Given clients that send and workers that run, when the server is killed again and again, nothing is lost."""
    call_applet(product.database, f"{sink.url}/in")
    _, url = product.start_trigger()
    for _ in range(2):
        product.start("worker")
    acknowledged: list[str] = []
    unacknowledged: list[str] = []
    stop = threading.Event()

    def client(number: int) -> None:
        for i in range(2000):
            if stop.is_set():
                return
            value = f"{number}-{i}"
            (acknowledged if fire(url, product, value) == 200 else unacknowledged).append(value)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in clients:
        thread.start()
    for _ in range(4):
        time.sleep(1.0)
        product.server.kill9()
        time.sleep(0.3)
        product.server.restart()
    time.sleep(1.0)
    stop.set()
    for thread in clients:
        thread.join()
    regime.boundary()

    queue = DirectoryQueue(product.home / ARRIVALS)
    runtime = Runtime(
        Settings.read({}), database=product.database, wakeups=SpoolQueue(product.home / WAKEUPS), arrivals=queue
    )
    drain(runtime.intake, queue, Deadline(60))
    assert not list((product.home / ARRIVALS).glob("*")), "the intake queue is drained"

    def all_final() -> bool:
        sweep_later(product)
        rows = executions(product.database)
        return all(row.wake_at is None for row in rows)

    assert wait_for(all_final, timeout=60)
    rows = executions(product.database)
    event_ids = {row.execution_id: parse_execution_id(row.execution_id).event_id for row in rows}
    events = {event_id: find_event(product.database, event_id) for event_id in event_ids.values()}
    ran = Counter(request.body.decode() for request in sink.requests)
    by_value = {value_of(events[event_ids[row.execution_id]]): row for row in rows}
    assert len(acknowledged) > 100, "the test did send something"
    assert set(acknowledged) <= by_value.keys(), "an acknowledged event lacks its execution"
    assert len(rows) == len(events) == len(by_value), "an event has two executions"
    assert {value for value, count in ran.items() if count > 1} == set(), "something ran twice"
    for value, row in by_value.items():
        assert row.state in ("succeeded", "unknown"), row
        if row.state == "succeeded":
            assert ran[value] == 1, f"{value} succeeded without its call"


def value_of(event: EventRow | None) -> str:
    """Return the Value1 of an event's ingredients."""
    assert event is not None
    return str(json.loads(event.ingredients)["Value1"])
