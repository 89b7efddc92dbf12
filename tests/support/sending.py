"""Clients that fire webhooks at the trigger function's app, and keep what they were told."""

import http.client
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.support.scenario import Product


@dataclass
class Senders:
    """Clients that fire webhooks, each with a name of its own, one after the other until they are stopped."""

    product: Product
    url: str
    body: bytes
    clients: int = 3
    accepted: list[str] = field(default_factory=list)
    refused: list[tuple[str, int]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    _names: Iterator[int] = field(default_factory=itertools.count)
    _stopping: threading.Event = field(default_factory=threading.Event)

    def send(self, connection: http.client.HTTPConnection) -> None:
        name = f"n{next(self._names)}"
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Idempotency-Key": name}
        began = time.monotonic()
        connection.request("POST", f"/trigger/door/with/key/{self.product.webhook_key}", self.body, headers)
        answer = connection.getresponse()
        answer.read()
        self.waits.append(time.monotonic() - began)
        if answer.status == 200:
            self.accepted.append(name)
        else:
            self.refused.append((name, answer.status))

    def send_some(self, count: int) -> None:
        """One client fires `count` webhooks."""
        with self._connection() as connection:
            for _ in range(count):
                self.send(connection)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """All clients fire."""

        def work() -> None:
            with self._connection() as connection:
                while not self._stopping.is_set():
                    self.send(connection)

        with in_threads([work] * self.clients, self._stopping):
            yield

    @contextmanager
    def _connection(self) -> Iterator[http.client.HTTPConnection]:
        parts = urlsplit(self.url)
        with closing(http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)) as connection:
            yield connection


@contextmanager
def in_threads(targets: list[Callable[[], None]], stopping: threading.Event) -> Iterator[None]:
    """`targets` run beside what follows; it ends them by `stopping`, and fails when one of them has failed."""
    failures: list[BaseException] = []

    def guarded(target: Callable[[], None]) -> None:
        try:
            target()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    assert failures == []
