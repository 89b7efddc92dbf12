"""The worker, the poller and its checks as threads, for the local run."""

import logging
import threading
import time

from whenthen.clock import Deadline, now_ms
from whenthen.engine.orders import Order
from whenthen.engine.tick import tick
from whenthen.engine.wakeups import read_wakeup
from whenthen.errors import WhenthenError
from whenthen.wiring import Runtime

logger = logging.getLogger(__name__)

_TICK_SECONDS = 60.0
_WORK_SECONDS = 60.0
_CHECK_SECONDS = 55.0
_WORKERS = 2
_CHECKERS = 2


class Loops:
    """Threads that work until they are stopped.

    Parameters
    ----------
    runtime:
        With queues inside this process.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        # Made once: two threads that ask for it at the same time would make two.
        self._worker = runtime.worker
        self._checks = runtime.checks
        self._housekeeping = runtime.housekeeping
        self._stopping = threading.Event()
        targets = [self._poll, *[self._work] * _WORKERS, *[self._check] * _CHECKERS]
        self._threads = [threading.Thread(target=target, name=f"loop-{i}") for i, target in enumerate(targets)]

    def start(self) -> None:
        """Start the threads. The first tick comes at once: it finds what an earlier process has left."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let what is being done be finished and end the threads."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _poll(self) -> None:
        while not self._stopping.is_set():
            try:
                tick(
                    self._runtime.history,
                    self._runtime.intake,
                    self._runtime.wakeups,
                    self._runtime.arrivals,
                    self._checks,
                    self._housekeeping,
                    now=now_ms(),
                    deadline=Deadline(_TICK_SECONDS),
                )
            except WhenthenError as error:
                logger.warning("this minute's tick failed, the next one follows: %s", error)
            except Exception:  # a dead thread would stop all sweeping, in silence
                logger.exception("this minute's tick failed, the next one follows")
            # At the beginning of the minute: schedules name whole minutes.
            self._stopping.wait(_TICK_SECONDS - time.time() % _TICK_SECONDS)

    def _check(self) -> None:
        queue = self._runtime.check_orders
        while not self._stopping.is_set():
            received = queue.receive(wait_seconds=1)
            if not received:
                continue
            try:
                self._checks.run([Order.read(message.body) for message in received], Deadline(_CHECK_SECONDS))
            except WhenthenError as error:
                logger.warning("a batch of checks could not be done: %s", error)
            except Exception:  # a dead thread would stop checks, in silence
                logger.exception("a batch of checks could not be done")
            # What was not done is due again when its claim has run out.
            for message in received:
                queue.delete(message)

    def _work(self) -> None:
        queue = self._runtime.wakeups
        while not self._stopping.is_set():
            received = queue.receive(wait_seconds=1)
            if not received:
                continue
            try:
                wanted = {message.handle: read_wakeup(message.body) for message in received}
                again = self._worker.run(list(wanted.values()), Deadline(_WORK_SECONDS))
            except WhenthenError as error:
                logger.warning("a batch could not be worked on: %s", error)
                continue
            except Exception:  # a dead thread would stop all work, in silence
                logger.exception("a batch could not be worked on")
                continue
            for message in received:
                if wanted[message.handle] not in again:
                    queue.delete(message)
