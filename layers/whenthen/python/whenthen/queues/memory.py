"""A queue inside this process, for the local run. It is lost with the process: the sweep finds what it held."""

import heapq
import itertools
import threading
import time
from collections.abc import Sequence

from whenthen.queues.base import Received

_BATCH = 10
_VISIBILITY_SECONDS = 120.0


class MemoryQueue:
    """A heap of (time at which it is seen, number, body)."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._heap: list[tuple[float, int, str]] = []
        self._numbers = itertools.count()
        self._hidden: dict[str, tuple[float, int, str]] = {}

    def send(self, bodies: Sequence[str], *, delay_seconds: int = 0) -> None:
        """See `Queue.send`."""
        seen_at = time.monotonic() + delay_seconds
        with self._condition:
            for body in bodies:
                heapq.heappush(self._heap, (seen_at, next(self._numbers), body))
            self._condition.notify_all()

    def receive(self, *, wait_seconds: float) -> list[Received]:
        """See `Queue.receive`."""
        end = time.monotonic() + wait_seconds
        with self._condition:
            while True:
                now = time.monotonic()
                self._return_hidden(now)
                if messages := self._take(now):
                    return messages
                if now >= end:
                    return []
                next_at = self._heap[0][0] if self._heap else end
                self._condition.wait(max(min(next_at, end) - now, 0.001))

    def delete(self, received: Received) -> None:
        """See `Queue.delete`."""
        with self._condition:
            self._hidden.pop(received.handle, None)

    def _take(self, now: float) -> list[Received]:
        messages: list[Received] = []
        while self._heap and self._heap[0][0] <= now and len(messages) < _BATCH:
            _, number, body = heapq.heappop(self._heap)
            self._hidden[str(number)] = (now + _VISIBILITY_SECONDS, number, body)
            messages.append(Received(body, str(number)))
        return messages

    def _return_hidden(self, now: float) -> None:
        for handle in [handle for handle, entry in self._hidden.items() if entry[0] <= now]:
            heapq.heappush(self._heap, self._hidden.pop(handle))
