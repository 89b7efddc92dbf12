"""Several logs' worth of webhooks on the real server: with housekeeping nobody notices, without it everybody is told.

More comes in a second here than in a minute of production, so ticks and reports come faster, too.
"""

import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.alopex import OPS, AlopexServer
from tests.support.filling import fill, fill_up
from tests.support.processes import wait_for
from tests.support.product import ARRIVALS, WAKEUPS, SpoolQueue
from tests.support.scenario import OWNER, Product, call_applet, make_product
from tests.support.sending import Senders, in_threads
from tests.support.stores import at_once
from whenthen.clock import Deadline, now_ms
from whenthen.engine.housekeeping import MIB, look
from whenthen.engine.identity import event_id, parse_execution_id, trigger_id
from whenthen.engine.tick import drain, tick
from whenthen.errors import WhenthenError
from whenthen.queues.directory import DirectoryQueue
from whenthen.queues.memory import MemoryQueue
from whenthen.servers import open_hosts
from whenthen.settings import Settings
from whenthen.store.errors import LogFull
from whenthen.store.slots import list_slots
from whenthen.wiring import Runtime

LOG_BYTES = 512 * MIB
SOAK_BYTES = 3 * LOG_BYTES
LONGEST_WAIT_SECONDS = 2.0
"""What a webhook may wait for its answer, export or not."""

TICK_SECONDS = 3.0
BODY = b"value1=" + b"x" * 240_000

NUMBERS = f"json_each('{list(range(1100))}')"
SLOW = f"SELECT COUNT(*) AS n FROM {NUMBERS} a CROSS JOIN {NUMBERS} b"
"""About five seconds of work."""


@pytest.fixture
def product(server: AlopexServer) -> Iterator[Product]:
    """A product whose queues are not on the database's disk, as in production."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as home:
        made = make_product(server, Path(home))
        call_applet(made.database, "http://127.0.0.1:1")
        yield made
        made.close()


@contextmanager
def poller(product: Product) -> Iterator[Runtime]:
    """What a poller's process has."""
    settings = Settings.read(product.environment)
    runtime = Runtime(
        settings,
        wakeups=SpoolQueue(product.home / WAKEUPS),
        arrivals=DirectoryQueue(product.home / ARRIVALS),
        check_orders=MemoryQueue(),
    )
    with closing(runtime.database):
        yield runtime


def run_tick(product: Product) -> WhenthenError | None:
    """The minute of one poller; what it has failed with."""
    with poller(product) as runtime:
        try:
            tick(
                runtime.history,
                runtime.intake,
                runtime.wakeups,
                runtime.arrivals,
                runtime.checks,
                runtime.housekeeping,
                now=now_ms(),
                deadline=Deadline(55),
            )
        except WhenthenError as error:
            return error
    return None


def keep_and_drain(runtime: Runtime) -> None:
    """The parts of a tick that matter here. The others scan, and not twenty times as often as in production."""
    runtime.housekeeping.run(Deadline(55))
    drain(runtime.intake, runtime.arrivals, Deadline(55))


def waiting(product: Product) -> int:
    """How many arrivals are in the intake queue."""
    return len(list((product.home / ARRIVALS).glob("*.json")))


@dataclass
class Keeper:
    """What runs on the database host, faster than there: measuring and pruning. Adds up what was written."""

    server: AlopexServer
    written: int = 0
    fullest: int = 0
    _last: int = 0

    def look_after(self) -> None:
        self.server.measure()
        subprocess.run([OPS / "prune-exports", self.server.data_dir, "1"], check=True)
        now = self.server.log_bytes()
        self.written += now - self._last if now >= self._last else now
        self.fullest = max(self.fullest, now)
        self._last = now

    def work(self, stopping: threading.Event) -> None:
        while not stopping.wait(1):
            self.look_after()


def assert_stored_once(product: Product, names: list[str]) -> None:
    """Every event of `names` is there, none is there twice, and each has its one execution."""
    trigger = trigger_id(OWNER, "webhooks", "event", {"event": "door"})
    wanted = {event_id(trigger, f"idempotency-key:{name}") for name in names}
    events = product.database.execute("SELECT event_id FROM trigger_events", timeout_seconds=60)
    executions = [
        parse_execution_id(row["execution_id"]).event_id
        for slot in list_slots(product.database)
        for row in product.database.execute(f"SELECT execution_id FROM executions_{slot.slot}", timeout_seconds=60)
    ]
    assert len(wanted) == len(names)
    assert {row["event_id"] for row in events} == wanted
    assert Counter(executions) == dict.fromkeys(wanted, 1)


def test_under_housekeeping_nobody_notices(server: AlopexServer, product: Product) -> None:
    """Given three logs' worth of writes, when two pollers keep house, then no log gets full and no webhook waits.

    A third comes in by webhooks; the others are written beside them, since the server reads no more than 11 MB of
    SQL a second.
    """
    trigger, url = product.start_trigger()
    senders, host, stopping = Senders(product, url, BODY), Keeper(server), threading.Event()
    senders.send_some(1)
    host.look_after()

    def write_beside() -> None:
        while not stopping.wait(0.5):
            fill(product.database, 8 * MIB)

    with (
        poller(product) as one,
        poller(product) as other,
        senders.at_work(),
        in_threads([lambda: host.work(stopping), write_beside], stopping),
    ):
        while host.written < SOAK_BYTES or len(senders.accepted) * len(BODY) < LOG_BYTES:
            began = time.monotonic()
            at_once(2, lambda number: keep_and_drain((one, other)[number]))
            time.sleep(max(TICK_SECONDS - (time.monotonic() - began), 0))
    assert run_tick(product) is None
    assert waiting(product) == 0

    assert "log is full" not in trigger.log(last=10_000_000)
    assert host.fullest < 0.9 * LOG_BYTES
    assert senders.refused == []
    assert max(senders.waits) < LONGEST_WAIT_SECONDS
    assert_stored_once(product, senders.accepted)


def test_without_housekeeping_the_danger_is_told_in_time(
    server: AlopexServer, product: Product, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a log that nobody empties, then that is said long before it is full, and what comes then is not lost."""
    trigger, url = product.start_trigger()
    senders = Senders(product, url, BODY)
    (host,) = open_hosts(Settings.read(product.environment))
    told_at = 0
    while server.log_bytes() < 0.75 * LOG_BYTES:
        senders.send_some(1)
        fill(product.database, 8 * MIB)
        server.measure()
        report = look(host).report
        assert report is not None
        assert report.wal_bytes == server.log_bytes()
        if "the write-ahead log is" in caplog.text and not told_at:
            told_at = report.wal_bytes
    assert 0.6 * LOG_BYTES < told_at < 0.65 * LOG_BYTES
    assert waiting(product) == 0

    fill_up(product.database)
    server.measure()
    caplog.clear()
    look(host)
    assert "the write-ahead log is 100% full" in caplog.text
    senders.send_some(5)
    assert waiting(product) == 5
    assert "log is full" in trigger.log()
    assert senders.refused == []
    assert max(senders.waits) < LONGEST_WAIT_SECONDS

    # Nobody tells the tick; it finds out, and the next one takes in what waits.
    server.host_report.unlink()
    assert isinstance(run_tick(product), LogFull)
    assert len(server.exports()) == 1
    assert waiting(product) == 5
    assert run_tick(product) is None
    assert waiting(product) == 0
    assert_stored_once(product, senders.accepted)


def test_what_waits_behind_an_export_is_stored_once(server: AlopexServer, product: Product) -> None:
    """Given a webhook whose statement waits in the server, when the intake queue has it too, then it is one event."""
    _, url = product.start_trigger()
    senders = Senders(product, url, b"value1=x")
    senders.send_some(1)

    def hold_up() -> None:
        # As an export does, but for as long as the test needs.
        product.database.execute(SLOW, timeout_seconds=60)

    with in_threads([hold_up], threading.Event()):
        time.sleep(0.3)
        senders.send_some(1)
        assert waiting(product) == 1
    assert max(senders.waits) < LONGEST_WAIT_SECONDS
    assert wait_for(lambda: product.database.execute("SELECT COUNT(*) AS n FROM trigger_events") == [{"n": 2}])
    assert_stored_once(product, senders.accepted)
    assert run_tick(product) is None
    assert waiting(product) == 0
    assert_stored_once(product, senders.accepted)
