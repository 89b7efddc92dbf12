"""The product's processes for crash tests: each can be stopped with SIGKILL at a chosen line.

Run as ``python -m tests.support.product ROLE``, with the settings in the environment. A crash point is a
marker file: where the code passes it, the process writes the file and waits to be killed.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from whenthen.clock import Deadline
from whenthen.engine.wakeups import read_wakeup
from whenthen.queues.directory import DirectoryQueue
from whenthen.settings import Settings
from whenthen.store.errors import StoreError
from whenthen.wiring import Runtime

WAKEUPS = "wakeups"
ARRIVALS = "arrivals"
PAUSE = "pause"
"""While there is such a file in WHENTHEN_HOME, workers take no wake-up; who holds none makes a file with its pid."""


class SpoolQueue(DirectoryQueue):
    """Wake-ups in files, so that they outlive the processes. Delays are kept by the database alone."""

    def send(self, bodies: Any, *, delay_seconds: int = 0) -> None:
        """Put undelayed messages in the directory."""
        if not delay_seconds:
            super().send(bodies)


def make_runtime() -> Runtime:
    """Return a runtime whose queues are directories in WHENTHEN_HOME."""
    settings = Settings.read(os.environ)
    return Runtime(
        settings,
        wakeups=SpoolQueue(settings.home / WAKEUPS),
        arrivals=DirectoryQueue(settings.home / ARRIVALS),
    )


def stop_here(marker: str) -> None:
    """Write the marker file and wait for SIGKILL, if CRASH_AT names this point."""
    if os.environ.get("CRASH_AT") == marker:
        (Path(os.environ["WHENTHEN_HOME"]) / f"crash-{marker}").touch()
        time.sleep(600)


def _passing(marker: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def passing(*args: Any, **kwargs: Any) -> Any:
        stop_here(marker)
        return call(*args, **kwargs)

    return passing


def serve_trigger() -> None:
    """The trigger function's app; crash point ``before-wakeup``: committed, nothing sent to the queue."""
    import uvicorn

    from whenthen.engine import intake
    from whenthen.web.hooks import make_app

    intake.send_wakeups = _passing("before-wakeup", intake.send_wakeups)  # type: ignore[assignment]
    uvicorn.run(make_app(make_runtime()), host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")


def work() -> None:
    """The worker; crash points ``before-action`` (claimed), ``before-send`` (marked), ``before-outcome`` (answered)."""
    from whenthen.engine import judging, performing

    performing.prepare = _passing("before-action", performing.prepare)  # type: ignore[assignment]
    performing.perform = _passing("before-send", performing.perform)  # type: ignore[assignment]
    judging.attempt = _passing("before-outcome", judging.attempt)  # type: ignore[assignment]
    runtime = make_runtime()
    seconds = float(os.environ.get("LEASE_SECONDS", "60"))
    pause, paused = runtime.settings.home / PAUSE, runtime.settings.home / f"{PAUSE}-{os.getpid()}"
    while True:
        if pause.exists():
            paused.touch()
            time.sleep(0.02)
            continue
        for received in runtime.wakeups.receive(wait_seconds=0):
            execution = read_wakeup(received.body)
            # A database that is down at the start fails the invocation, and the message comes again.
            with suppress(StoreError):
                if execution not in runtime.worker.run([execution], Deadline(seconds)):
                    runtime.wakeups.delete(received)
        time.sleep(0.02)


def use_connection() -> None:
    """A worker that does the one execution EXECUTION_ID when there is a file ``go``, with the stand-in of a vendor.

    Crash point ``before-pair``: the vendor has given new tokens, and nothing is written.
    """
    from tests.support.authorizing import registered
    from whenthen.engine.connections.refreshing import Refresher

    Refresher._write = _passing("before-pair", Refresher._write)  # type: ignore[method-assign]
    runtime = make_runtime()
    worker = runtime.worker
    (runtime.settings.home / f"ready-{os.getpid()}").touch()
    while not (runtime.settings.home / "go").exists():
        time.sleep(0.005)
    with registered():
        worker.run([os.environ["EXECUTION_ID"]], Deadline(60))


def poll() -> None:
    """The poller: ticks of the instant NOW_MS and their checks, until nothing is due; then it ends.

    Crash points: ``before-commit`` (fetched, nothing stored), ``before-wakeups`` (stored, nobody woken), and
    ``between-scripts`` (one script of several is stored).
    """
    from whenthen.engine import checker
    from whenthen.engine.orders import Order
    from whenthen.engine.reservation import Reservation
    from whenthen.queues.memory import MemoryQueue

    store = Reservation._store
    stored: list[int] = []

    def storing(*arguments: Any) -> Any:
        stop_here("before-commit")
        if stored:
            stop_here("between-scripts")
        executions = store(*arguments)
        stored.append(1)
        return executions

    Reservation._store = storing  # type: ignore[method-assign]
    checker.send_wakeups = _passing("before-wakeups", checker.send_wakeups)  # type: ignore[assignment]
    settings = Settings.read(os.environ)
    orders = MemoryQueue()
    runtime = Runtime(settings, wakeups=SpoolQueue(settings.home / WAKEUPS), check_orders=orders)
    while runtime.checks.tick(int(os.environ["NOW_MS"]), Deadline(60)):
        while received := orders.receive(wait_seconds=0):
            runtime.checks.run([Order.read(message.body) for message in received], Deadline(60))
            for message in received:
                orders.delete(message)


def close() -> None:
    """The closer: closes what is to be closed at the instant NOW_MS; then it ends.

    Crash points: ``before-move``, ``before-load``, ``after-load`` (the first part), ``before-complete``,
    ``before-remove``.
    """
    from whenthen.engine import closer
    from whenthen.store import closing, loads

    load = loads.load_part

    def loading(*arguments: Any) -> Any:
        stop_here("before-load")
        loaded = load(*arguments)
        stop_here("after-load")
        return loaded

    loads.load_part = loading
    closing.move_waiting = _passing("before-move", closing.move_waiting)
    loads.complete = _passing("before-complete", loads.complete)
    closing.remove = _passing("before-remove", closing.remove)
    now = int(os.environ["NOW_MS"])
    history = make_runtime().history
    for _ in range(3):
        closer.close_slots(history, now, Deadline(60))


def tick() -> None:
    """One tick, and what has become of it."""
    from whenthen.cli.by_hand import tick_by_hand
    from whenthen.clock import now_ms

    try:
        print(tick_by_hand(Settings.read(os.environ), now_ms()))
    except StoreError as error:
        print(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    roles = {
        "trigger": serve_trigger,
        "worker": work,
        "connected": use_connection,
        "poller": poll,
        "closer": close,
        "ticker": tick,
    }
    roles[sys.argv[1]]()
