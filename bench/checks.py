"""2,000 triggers over 50 local feeds of 50 items: checks a second when nothing has changed, and executions a second
when there is one new item in each.

The poller is a process of its own, as in production, and takes batches of 10 orders.
"""

import multiprocessing
import re
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from bench import feeds
from bench.end_to_end import ProcessQueue, work
from bench.house import fresh_server, open_slots
from tests.support.scenario import OWNER, executions, prepare
from whenthen.clock import Deadline, now_ms
from whenthen.engine import applets
from whenthen.engine.orders import Order
from whenthen.model.applet import Applet
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Rows, ServerDatabase
from whenthen.wiring import Runtime

TRIGGERS = 2000
FEEDS = 50
BATCH = 10
_MINUTE_MS = 60_000


class CountingDatabase(ServerDatabase):
    """Counts what it sends: scripts that change something, and all."""

    def __init__(self, url: str, *, api_key: str) -> None:
        super().__init__(url, api_key=api_key)
        self.scripts: Counter[str] = Counter()

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        """See `Database.execute`."""
        writes = re.search(r"\b(INSERT|UPDATE)\b", sql)
        self.scripts["writing" if writes else "reading"] += 1
        return super().execute(sql, timeout_seconds=timeout_seconds)


@dataclass(frozen=True)
class Measured:
    """What a round of all triggers took: seconds, scripts by kind, and events that were stored."""

    seconds: float
    scripts: dict[str, int]
    fired: int


def make_applets(runtime: Runtime, url: str) -> None:
    """Make the applets, each with a trigger of its own."""
    for number in range(TRIGGERS):
        document = {
            "name": f"Feed {number}",
            # The interval makes triggers on the same feed distinct.
            "trigger": {
                "service": "feed",
                "trigger": "new_feed_item",
                "fields": {"feed_url": f"{url}/{number % FEEDS}", "interval_minutes": 5 + number // FEEDS},
            },
            "actions": [
                {"service": "notifications", "action": "send_notification", "fields": {"message": "{{EntryTitle}}"}}
            ],
        }
        applets.create(runtime.database, OWNER, Applet.model_validate(document), checks=runtime.checks)


def poll(url: str, key: str, start: Any, done: Any, wakeups: Any) -> None:
    """For each instant that comes, do the tick and all the checks that it passes on."""
    database = CountingDatabase(url, api_key=key)
    orders = MemoryQueue()
    settings = Settings.read({"WHENTHEN_ALLOWED_NETWORKS": "127.0.0.0/8"})
    runtime = Runtime(
        settings,
        database=database,
        wakeups=ProcessQueue(wakeups),  # type: ignore[arg-type]
        arrivals=MemoryQueue(),
        check_orders=orders,
    )
    runtime.checks  # noqa: B018  (a warm process has it)
    while (now := start.get()) is not None:
        database.scripts.clear()
        begun = time.perf_counter()
        fired = 0
        while runtime.checks.tick(now, Deadline(600)):
            while received := orders.receive(wait_seconds=0):
                reports = runtime.checks.run([Order.read(item.body) for item in received], Deadline(600))
                assert not any(report.failure for report in reports), reports
                fired += sum(report.fired for report in reports)
                for item in received:
                    orders.delete(item)
        done.put(Measured(time.perf_counter() - begun, dict(database.scripts), fired))


def measure() -> tuple[Measured, Measured, float]:
    """Return a round in which nothing has changed, one with one new item in each feed, and its executions a second."""
    context = multiprocessing.get_context("spawn")
    with fresh_server() as server:
        database = ServerDatabase(server.url, api_key=server.api_key)
        prepare(database)
        open_slots(database)
        ours, theirs = context.Pipe()
        start, done, wakeups = context.Queue(), context.Queue(), context.Queue()
        source = context.Process(target=feeds.serve, args=(theirs,), daemon=True)
        poller = context.Process(target=poll, args=(server.url, server.api_key, start, done, wakeups), daemon=True)
        worker = context.Process(target=work, args=(server.url, server.api_key, wakeups), daemon=True)
        for process in (source, poller, worker):
            process.start()
        settings = Settings.read({"WHENTHEN_ALLOWED_NETWORKS": "127.0.0.0/8"})
        runtime = Runtime(
            settings, database=database, wakeups=MemoryQueue(), arrivals=MemoryQueue(), check_orders=MemoryQueue()
        )
        make_applets(runtime, f"http://127.0.0.1:{ours.recv()}")
        # Each round is later than the longest interval.
        start.put(now_ms() + 120 * _MINUTE_MS)
        unchanged: Measured = done.get()
        ours.send("another item")
        ours.recv()
        begun = time.perf_counter()
        start.put(now_ms() + 240 * _MINUTE_MS)
        changed: Measured = done.get()
        start.put(None)
        wakeups.put(None)
        worker.join()
        rate = TRIGGERS / (time.perf_counter() - begun)
        source.terminate()
        assert unchanged.fired == 0, unchanged
        assert changed.fired == TRIGGERS, changed
        assert sum(row.state == "succeeded" for row in executions(database)) == TRIGGERS, "every execution recorded"
        return unchanged, changed, rate


def main() -> None:
    """Print the table that README quotes."""
    unchanged, changed, rate = measure()
    print(f"| {TRIGGERS} triggers over {FEEDS} feeds of {feeds.ITEMS} items | per second | scripts a check |")
    print("|---|---|---|")
    for name, per_second, round_ in (
        ("nothing new: checks", TRIGGERS / unchanged.seconds, unchanged),
        ("one new item in each: executions, done", rate, changed),
    ):
        scripts = sum(round_.scripts.values()) / TRIGGERS
        writing = round_.scripts["writing"] / TRIGGERS
        print(f"| {name} | {per_second:.0f} | {scripts:.2f}, {writing:.2f} of them writing |")


if __name__ == "__main__":
    main()
