"""What `max_concurrency` does to acknowledged writes: `python -m bench.single_flight` (ops/alopex/README.md)."""

import tempfile
import time
from pathlib import Path

from bench.house import CLIENTS
from tests.support.alopex import AlopexServer, Setting, alopex_binary
from tests.support.stores import at_once
from whenthen.store.database import ServerDatabase
from whenthen.store.errors import Conflict

INCREMENTS = 60
RUNS = 5

type Run = tuple[int, int, int, float]


def one_run(server: AlopexServer, number: int) -> Run:
    """Increment one row from all clients; return acknowledged, stored, refused and seconds."""
    databases = [ServerDatabase(server.url, api_key=server.api_key) for _ in range(CLIENTS)]
    databases[0].execute(f"INSERT INTO counters VALUES ({number}, 0)")

    def client(index: int) -> int:
        acknowledged = 0
        for _ in range(INCREMENTS):
            try:
                databases[index].execute(f"UPDATE counters SET n = n + 1 WHERE counter_id = {number}")
                acknowledged += 1
            except Conflict:
                continue
        return acknowledged

    begun = time.perf_counter()
    acknowledged = sum(at_once(CLIENTS, client))
    seconds = time.perf_counter() - begun
    stored = databases[0].execute(f"SELECT n FROM counters WHERE counter_id = {number}")[0]["n"]
    return acknowledged, stored, CLIENTS * INCREMENTS - acknowledged, seconds


def measure(setting: Setting) -> list[Run]:
    """Return `RUNS` runs against a server with this `max_concurrency`, None for its default."""
    with tempfile.TemporaryDirectory(prefix="whenthen-bench-") as directory:
        server = AlopexServer(alopex_binary(), Path(directory))
        server.start(max_concurrency=setting)
        try:
            database = ServerDatabase(server.url, api_key=server.api_key)
            database.execute("CREATE TABLE counters (counter_id BIGINT PRIMARY KEY, n BIGINT NOT NULL)")
            return [one_run(server, number) for number in range(RUNS)]
        finally:
            server.remove()


def main() -> None:
    """Print the table: the smallest and largest of each number."""
    print("| | acknowledged | stored | refused (409) | seconds |\n|---|---|---|---|---|")
    for name, setting in (("default (64)", None), ("2", 2), ("1", 1)):
        columns = list(zip(*measure(setting), strict=True))
        counts = [f"{min(c)}–{max(c)}" if min(c) < max(c) else str(c[0]) for c in columns[:3]]
        print(f"| {name} | {' | '.join(counts)} | {min(columns[3]):.1f}–{max(columns[3]):.1f} |")


if __name__ == "__main__":
    main()
