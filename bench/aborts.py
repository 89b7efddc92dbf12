"""Clients that go away in the middle of a request, beside clients that do not: nothing lost, no conflict."""

import json
import secrets
import socket
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from bench.house import CLIENTS, fresh_server, open_slots
from bench.intake import bare_script
from tests.support.alopex import AlopexServer
from tests.support.scenario import prepare
from whenthen.clock import now_ms
from whenthen.store.database import ServerDatabase
from whenthen.store.errors import Conflict, StoreError
from whenthen.store.events import find_event

ABORTERS = 8
_PAUSE_SECONDS = 0.02


@dataclass
class Counts:
    """What happened."""

    aborted: int
    good: int
    lost: int
    conflicts: int
    failed: int


def abort(server: AlopexServer) -> None:
    """Send a whole intake script and close the connection without waiting for the answer."""
    body = json.dumps({"sql": bare_script(secrets.token_hex(16), now_ms())}).encode()
    head = (
        f"POST /sql HTTP/1.1\r\nHost: x\r\nx-api-key: {server.api_key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0)) as connection:
        connection.sendall(head.encode() + body)


def measure(aborts: int = 2000) -> Counts:
    """Run `aborts` aborted requests beside 16 good clients and count."""
    with fresh_server() as server:
        database = ServerDatabase(server.url, api_key=server.api_key)
        prepare(database)
        open_slots(database)
        good: list[str] = []
        conflicts: list[str] = []
        failed: list[str] = []
        aborted = [0] * ABORTERS

        def client() -> None:
            connection = ServerDatabase(server.url, api_key=server.api_key)
            while sum(aborted) < aborts:
                event = secrets.token_hex(16)
                try:
                    connection.execute(bare_script(event, now_ms()))
                    good.append(event)
                except Conflict:
                    conflicts.append(event)
                except StoreError:
                    failed.append(event)

        def aborter(number: int) -> None:
            while sum(aborted) < aborts:
                abort(server)
                aborted[number] += 1
                # Whoever does not wait for answers could fill the queue alone.
                time.sleep(_PAUSE_SECONDS)

        threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
        threads += [threading.Thread(target=aborter, args=(number,)) for number in range(ABORTERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lost = sum(find_event(database, event) is None for event in good)
        return Counts(sum(aborted), len(good), lost, len(conflicts), len(failed))


if __name__ == "__main__":
    print(measure())
