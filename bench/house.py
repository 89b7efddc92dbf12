"""What the benchmarks share: a real server behind its front, a product on it, and rates."""

import asyncio
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.types import ASGIApp, Message, Scope

from tests.support.alopex import AlopexServer, alopex_binary
from whenthen.clock import now_ms
from whenthen.store.database import Database
from whenthen.store.slots import SLOT_MINUTES, open_slot, slot_at

CLIENTS = 16


@contextmanager
def fresh_server() -> Iterator[AlopexServer]:
    """A real server with its front and an empty data directory."""
    with tempfile.TemporaryDirectory(prefix="whenthen-bench-") as directory:
        server = AlopexServer(alopex_binary(), Path(directory))
        server.start()
        try:
            yield server
        finally:
            server.remove()


def open_slots(database: Database) -> None:
    """Open the present slot and the next one, as the poller does: a run may cross the half hour."""
    for ms in (now_ms(), now_ms() + SLOT_MINUTES * 60_000):
        open_slot(database, slot_at(ms), now_ms())


def rate_of_threads(work: Callable[[int], Callable[[int], None]], seconds: float, clients: int = CLIENTS) -> float:
    """Return calls a second of `clients` threads; `work(client)` returns the thread's call, which gets a counter."""
    counts = [0] * clients
    start = threading.Barrier(clients + 1)
    end = 0.0

    def client(number: int) -> None:
        call = work(number)
        start.wait()
        while time.perf_counter() < end:
            call(counts[number])
            counts[number] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    begun = time.perf_counter()
    end = begun + seconds
    start.wait()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - begun)


def get_scope(path: str, query: str) -> Scope:
    """Return the ASGI scope of a GET request."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"bench"), (b"accept", b"*/*"), (b"user-agent", b"bench")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


async def call_app(app: ASGIApp, scope: Scope) -> int:
    """Send one request straight to the app and return the answer's status."""
    status = 0

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]

    await app(scope, receive, send)
    return status


def rate_of_app(app: ASGIApp, path: str, seconds: float, clients: int = CLIENTS) -> float:
    """Return answers a second of `clients` concurrent clients within `seconds`; every answer must be a 200.

    Raises
    ------
    AssertionError
        An answer was something else.
    """
    end = time.perf_counter() + seconds
    return _rate(app, path, clients, lambda _done: time.perf_counter() < end)


def rate_of_app_calls(app: ASGIApp, path: str, calls: int, clients: int = CLIENTS) -> float:
    """Return answers a second of `clients` concurrent clients that send `calls` requests. As `rate_of_app`."""
    return _rate(app, path, clients, lambda done: done < calls)


def _rate(app: ASGIApp, path: str, clients: int, goes_on: Callable[[int], bool]) -> float:
    started = 0

    async def client() -> None:
        nonlocal started
        while goes_on(started):
            started += 1
            status = await call_app(app, get_scope(path, f"value1={started}"))
            assert status == 200, status

    async def all_clients() -> float:
        begun = time.perf_counter()
        await asyncio.gather(*(client() for _ in range(clients)))
        return started / (time.perf_counter() - begun)

    return asyncio.run(all_clients())


def p50_ms(call: Callable[[int], None], times: int) -> float:
    """Return the median duration of `times` calls, milliseconds."""
    durations = []
    for number in range(times):
        begun = time.perf_counter()
        call(number)
        durations.append((time.perf_counter() - begun) * 1000)
    return statistics.median(durations)
