"""How long a rebuild takes, and what is left: a database of half garbage, copied into a fresh one and compared."""

import json
import secrets
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.support.alopex import AlopexServer, alopex_binary
from tests.support.scenario import prepare
from whenthen.store.database import Database, connect
from whenthen.store.rebuild import Rebuild
from whenthen.store.statements import Statement, load

MONTH, DAYS = "202611", 20
EVENTS = 400_000
LOGGED = 300_000
DETAILED = 100_000
"""Payloads are kept for fewer days than the log."""

_CHUNK = 1_000
_LOAD = 5_000
_CHECKPOINT = 100_000
_PAYLOAD = 400
_REWRITTEN = 300
"""Rows of 200 kB that are written over before each checkpoint, as executions are that go with their slot."""

_EVENTS = Statement(
    "bench",
    "INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients) "
    "SELECT value, 'bench', 1, 1, '[]', REPEAT('x', :size) FROM json_each(:ids)",
)
_REWRITTEN_ROWS = Statement(
    "bench",
    "INSERT INTO positions (position_id, position) SELECT value, '' FROM json_each(:ids) ON CONFLICT DO NOTHING; "
    "UPDATE positions SET position = REPEAT('x', 200000)",
)
_EMPTIED_ROWS = Statement("bench", "UPDATE positions SET position = ''")
_LOG = Statement(
    "bench",
    "COPY (SELECT value AS execution_id, CAST(SUBSTR(value, 1, 12) AS BIGINT) AS slot, 'owner' AS owner_id, "
    "'applet' AS applet_id, 'webhooks' AS service, 'webhooks' AS trigger_service, 1 AS occurred_at, 2 AS finished_at, "
    "'succeeded' AS state, '' AS reason, '' AS note, 1 AS attempts, 1 AS duration, 0 AS run FROM json_each(:ids)) "
    "TO :file WITH (FORMAT PARQUET); COPY execution_log_{month} FROM :file WITH (FORMAT PARQUET)",
)
_DETAILS = Statement(
    "bench",
    "COPY (SELECT value AS execution_id, CAST(SUBSTR(value, 1, 12) AS BIGINT) AS slot, 'owner' AS owner_id, "
    "REPEAT(SUBSTR(value, 14, 32), 12) AS ingredients, REPEAT(SUBSTR(value, 14, 32), 24) AS progress "
    "FROM json_each(:ids)) TO :file WITH (FORMAT PARQUET); "
    "COPY execution_details_{day} FROM :file WITH (FORMAT PARQUET)",
)


@dataclass(frozen=True)
class Result:
    """What was measured: seconds, rows, and MiB of SST before and after."""

    copying: float
    comparing: float
    rows: int
    before: float
    after: float


def fill(server: AlopexServer, database: Database) -> None:
    """Store events, a history of `DAYS` days, and what is garbage by now."""
    for start in range(0, EVENTS, _CHUNK):
        ids = json.dumps([secrets.token_hex(16) for _ in range(_CHUNK)])
        database.execute(_EVENTS.render(ids=ids, size=_PAYLOAD), timeout_seconds=60)
        if (start + _CHUNK) % _CHECKPOINT == 0:
            ids = json.dumps([str(number) for number in range(_REWRITTEN)])
            database.execute(_REWRITTEN_ROWS.render(ids=ids), timeout_seconds=60)
            server.checkpoint()
            database.execute(_EMPTIED_ROWS.render(), timeout_seconds=60)
    file = str(server.copy_dir / "load.parquet")
    logs = load("log")
    database.execute(logs["create_log"].render(month=MONTH))
    for start in range(0, LOGGED, _LOAD):
        day = f"{MONTH}{1 + start * DAYS // LOGGED:02}"
        hour = start * DAYS * 24 // LOGGED % 24
        ids = json.dumps([f"{day}{hour:02}00.{secrets.token_hex(16)}.{secrets.token_hex(16)}" for _ in range(_LOAD)])
        database.execute(_LOG.render(month=MONTH, file=file, ids=ids), timeout_seconds=60)
        if start >= LOGGED - DETAILED:
            database.execute(logs["create_details"].render(day=day))
            database.execute(_DETAILS.render(day=day, file=file, ids=ids), timeout_seconds=60)
    server.checkpoint()


def measure() -> Result:
    """Fill a server and rebuild it into another."""
    with tempfile.TemporaryDirectory(prefix="whenthen-bench-") as directory:
        old, new = (AlopexServer(alopex_binary(), Path(directory) / name) for name in ("old", "new"))
        try:
            for server in (old, new):
                server.start(copy_allowed_dirs=[str(old.copy_dir)])
            with closing(connect(old.direct_url, api_key=old.api_key)) as source:
                prepare(source)
                fill(old, source)
            old.restart()
            with (
                closing(connect(old.direct_url, api_key=old.api_key)) as source,
                closing(connect(new.direct_url, api_key=new.api_key)) as target,
            ):
                return _rebuild(old, new, source, target)
        finally:
            old.remove()
            new.remove()


def _rebuild(old: AlopexServer, new: AlopexServer, source: Database, target: Database) -> Result:
    copied = begun = time.perf_counter()

    def say(words: str) -> None:
        nonlocal copied
        if words.startswith("Copied"):
            copied = time.perf_counter()

    file = str(old.copy_dir / "rebuild.parquet")
    before = old.sst_bytes()
    report = Rebuild(source, target, file=file, checkpoint=new.checkpoint, say=say).run()
    ended = time.perf_counter()
    new.checkpoint()
    rows = sum(report.rows.values())
    return Result(copied - begun, ended - copied, rows, before / 2**20, new.sst_bytes() / 2**20)


def main() -> None:
    """Print the table that docs/rebuild.md quotes."""
    result = measure()
    print("| a rebuild | |\n|---|---|")
    print(f"| rows | {result.rows:,} |")
    print(f"| SST before, after | {result.before:.0f} MiB, {result.after:.0f} MiB |")
    print(f"| copying | {result.copying:.0f} s |")
    print(f"| comparing | {result.comparing:.0f} s |")


if __name__ == "__main__":
    main()
