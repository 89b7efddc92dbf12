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
    from whenthen.engine import worker

    worker.prepare = _passing("before-action", worker.prepare)  # type: ignore[assignment]
    worker.send = _passing("before-send", worker.send)  # type: ignore[assignment]
    worker.attempt = _passing("before-outcome", worker.attempt)  # type: ignore[assignment]
    runtime = make_runtime()
    seconds = float(os.environ.get("LEASE_SECONDS", "60"))
    while True:
        for received in runtime.wakeups.receive(wait_seconds=0):
            execution = read_wakeup(received.body)
            # A database that is down at the start fails the invocation, and the message comes again.
            with suppress(StoreError):
                if execution not in runtime.worker.run([execution], Deadline(seconds)):
                    runtime.wakeups.delete(received)
        time.sleep(0.02)


if __name__ == "__main__":
    {"trigger": serve_trigger, "worker": work}[sys.argv[1]]()
