"""From a webhook to an action at a local sink, against the bare rate of the three scripts an execution needs.

As in production, the worker is a process of its own that takes batches of 10; a queue between processes stands
for SQS.
"""

import multiprocessing
import queue
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench import sink
from bench.house import fresh_server, open_slots, rate_of_app_calls, rate_of_threads
from bench.intake import bare_script
from tests.support.scenario import call_applet, executions, prepare
from whenthen.clock import Deadline, now_ms
from whenthen.engine.identity import execution_id
from whenthen.engine.wakeups import read_wakeup
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store import executions as store
from whenthen.store.database import ServerDatabase
from whenthen.store.executions import Outcome, State
from whenthen.store.progress import Progress
from whenthen.store.slots import slot_at
from whenthen.store.statements import Script
from whenthen.web.hooks import make_app
from whenthen.wiring import Runtime

WORKERS = 3
BATCH = 10


class ProcessQueue:
    """Wake-ups between processes."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    def send(self, bodies: Sequence[str], *, delay_seconds: int = 0) -> None:
        """Put messages in the queue."""
        assert not delay_seconds, "nothing is tried again in a benchmark"
        for body in bodies:
            self._messages.put(body)


def work(url: str, key: str, messages: Any) -> None:
    """Take batches from the queue until None comes."""
    settings = Settings.read({"ALOPEX_URL": url, "ALOPEX_API_KEY": key, "WHENTHEN_ALLOWED_NETWORKS": "127.0.0.0/8"})
    runtime = Runtime(settings, wakeups=ProcessQueue(messages), arrivals=MemoryQueue())  # type: ignore[arg-type]
    while True:
        batch = [messages.get()]
        while len(batch) < BATCH and batch[-1] is not None:
            try:
                batch.append(messages.get(timeout=0.005))
            except queue.Empty:
                break
        wanted = [read_wakeup(body) for body in batch if body is not None]
        if wanted:
            assert not runtime.worker.run(wanted, Deadline(60))
        if None in batch:
            return


def bare_triple(database: ServerDatabase) -> None:
    """Send the three scripts of one execution, one after the other: intake, claim, outcome."""
    now = now_ms()
    event = secrets.token_hex(16)
    execution = execution_id(slot_at(now), event, "bench")
    database.execute(bare_script(event, now))
    script = Script()
    store.claim(script, execution, claim="bench", now=now + 1, lease_until=now + 1000)
    store.read_executions(database, script, [execution])
    script = Script()
    store.record_outcome(script, Outcome(execution, "bench", State.SUCCEEDED, Progress(finished_at=now)))
    database.execute(script.sql)


def measure(runs: int = 3000, seconds: float = 6.0) -> tuple[float, float]:
    """Return executions a second: of the bare scripts from 16 clients, and of the product."""
    context = multiprocessing.get_context("spawn")
    with fresh_server() as server:
        database = ServerDatabase(server.url, api_key=server.api_key)
        key = prepare(database)
        open_slots(database)

        def bare(_client: int) -> Callable[[int], None]:
            connection = ServerDatabase(server.url, api_key=server.api_key)
            return lambda _number: bare_triple(connection)

        bare_rate = rate_of_threads(bare, seconds)

        ours, theirs = context.Pipe()
        target = context.Process(target=sink.serve, args=(theirs,), daemon=True)
        target.start()
        call_applet(database, f"http://127.0.0.1:{ours.recv()}/in")
        messages = context.Queue()
        workers = [
            context.Process(target=work, args=(server.url, server.api_key, messages), daemon=True)
            for _ in range(WORKERS)
        ]
        for worker in workers:
            worker.start()
        runtime = Runtime(
            Settings.read({}),
            database=database,
            wakeups=ProcessQueue(messages),  # type: ignore[arg-type]
            arrivals=MemoryQueue(),
        )
        app = make_app(runtime)
        path = f"/trigger/door/with/key/{key}"
        rate_of_app_calls(app, path, calls=100)
        time.sleep(1)

        begun = time.perf_counter()
        rate_of_app_calls(app, path, calls=runs)
        for _ in workers:
            messages.put(None)
        for worker in workers:
            worker.join()
        rate = runs / (time.perf_counter() - begun)

        ours.send("count")
        assert ours.recv() == runs + 100, "every action once"
        target.terminate()
        finished = sum(row.state == "succeeded" and row.applet_id != "bench" for row in executions(database))
        assert finished == runs + 100, "every execution recorded"
        return bare_rate, rate


if __name__ == "__main__":
    bare_rate, rate = measure()
    print(f"bare {bare_rate:.0f}/s, product {rate:.0f}/s, ratio {rate / bare_rate:.2f}")
