"""Three hundred deliveries, each sent five times by sixteen clients: every id once (D12, D14, F16, F18)."""

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.server.conftest import Regime
from tests.support.scenario import OWNER, call_applet, executions, make_product
from tests.support.sink import Sink
from whenthen.clock import Deadline
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.wakeups import read_wakeup
from whenthen.queues.directory import DirectoryQueue
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.web.hooks import make_app
from whenthen.wiring import Runtime

DELIVERIES = 300
REPEATS = 5
CLIENTS = 16


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A target that records."""
    with Sink() as running:
        yield running


@pytest.mark.parametrize("listening", [1, 2])
def test_every_delivery_runs_once_however_often_it_arrives(
    regime: Regime, sink: Sink, tmp_path: Path, listening: int
) -> None:
    """Given `listening` applets, when 1,500 requests bring 300 delivery ids in parallel, each runs each applet once."""
    product = make_product(regime.server, tmp_path / "home")
    applet_ids = {call_applet(product.database, f"{sink.url}/{number}") for number in range(listening)}
    settings = Settings.read({"WHENTHEN_ALLOWED_NETWORKS": "127.0.0.0/8"})
    queue = MemoryQueue()
    runtime = Runtime(settings, database=product.database, wakeups=queue, arrivals=DirectoryQueue(tmp_path / "spool"))
    deliveries = [f"id-{number}" for number in range(DELIVERIES)] * REPEATS
    random.Random(7).shuffle(deliveries)
    path = f"/trigger/door/with/key/{product.webhook_key}"

    def send(delivery: str) -> str:
        answer = client.post(path, data={"value1": delivery}, headers={"Idempotency-Key": delivery})
        return f"{answer.status_code} {answer.text}"

    with TestClient(make_app(runtime)) as client, ThreadPoolExecutor(CLIENTS) as pool:
        answers = Counter(pool.map(send, deliveries))
    assert answers == {"200 Congratulations! You've fired the door event": DELIVERIES * REPEATS}
    assert not list((tmp_path / "spool").glob("*")), "nothing had to go to the intake queue"

    regime.boundary()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: work_until_empty(runtime, queue), range(4)))

    rows = executions(product.database)
    assert len(rows) == DELIVERIES * listening
    assert len({parse_execution_id(row.execution_id).event_id for row in rows}) == DELIVERIES
    assert {row.applet_id for row in rows} == applet_ids
    assert Counter(row.state for row in rows) == {"succeeded": DELIVERIES * listening}
    assert all(row.owner_id == OWNER for row in rows)
    calls = Counter((request.path, request.body.decode()) for request in sink.requests)
    assert calls == {(f"/{number}", f"id-{i}"): 1 for number in range(listening) for i in range(DELIVERIES)}
    assert len({request.key for request in sink.requests}) == DELIVERIES * listening
    product.close()


def work_until_empty(runtime: Runtime, queue: MemoryQueue) -> None:
    """Do what is in the queue, sometimes twice: a doubled wake-up does no harm."""
    while received := queue.receive(wait_seconds=1):
        wanted = [read_wakeup(message.body) for message in received]
        assert runtime.worker.run(wanted, Deadline(60)) == set()
        assert runtime.worker.run(wanted[:2], Deadline(60)) == set()
        for message in received:
            queue.delete(message)
