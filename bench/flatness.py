"""Intake, claim and outcome on a fresh database and on one with 200,000 events, before and after checkpoints.

Events are loaded with the store's own columns in bulk; executions fill slots of 8,000 as in production, and the
slot that is measured holds as many rows as it would after half an hour.
"""

import asyncio
import json
import secrets
import statistics
import time
from dataclasses import dataclass

from starlette.types import ASGIApp

from bench.house import call_app, fresh_server, get_scope, open_slots, p50_ms
from tests.support.alopex import AlopexServer
from tests.support.scenario import OWNER, call_applet, prepare
from whenthen.clock import Deadline, now_ms
from whenthen.engine import claims
from whenthen.engine.wakeups import read_wakeup
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store.database import ServerDatabase
from whenthen.store.executions import Outcome, State
from whenthen.store.progress import Progress
from whenthen.store.slots import open_slot, slot_at
from whenthen.store.statements import Statement
from whenthen.web.hooks import make_app
from whenthen.wiring import Runtime

EVENTS = 200_000
CHECKPOINTS = 5
SLOT_ROWS = 8_000
SLOT_MS = 30 * 60_000
_CHUNK = 500
# With it 200,000 events and their executions make a little over 200 MiB of SST.
_PAYLOAD = "x" * 540

_LOAD_EVENTS = Statement(
    "bench",
    "INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients) "
    "SELECT CAST(json_extract(value,'$[0]') AS TEXT), 'bench', :now, :now, '[]', :ingredients FROM json_each(:rows)",
)
_LOAD_EXECUTIONS = Statement(
    "bench",
    "INSERT INTO executions_{slot} (execution_id, applet_id, owner_id, occurred_at, state, due_at, wake_at, claim, "
    "sending, ingredients, progress) SELECT CAST(json_extract(value,'$[1]') AS TEXT), 'bench', :owner, :now, "
    "'succeeded', NULL, NULL, 'bench', -1, '', :progress FROM json_each(:rows)",
)


@dataclass(frozen=True)
class Row:
    """Medians of one database, milliseconds by what was done."""

    name: str
    ms: dict[str, float]
    sst_files: int
    sst_mib: float


def load(server: AlopexServer, database: ServerDatabase, *, checkpoints: int) -> None:
    """Store `EVENTS` events and their executions, in slots before the present one and in it."""
    now = now_ms()
    ingredients = json.dumps({"EventName": "door", "Value1": _PAYLOAD})
    for start in range(0, EVENTS, _CHUNK):
        slot = slot_at(now - SLOT_MS * ((EVENTS - 1 - start) // SLOT_ROWS))
        if start % SLOT_ROWS == 0:
            open_slot(database, slot, now)
        ids = [secrets.token_hex(16) for _ in range(_CHUNK)]
        rows = json.dumps([[event, f"{slot}.{event}.bench"] for event in ids])
        sql = [
            _LOAD_EVENTS.render(now=now, ingredients=ingredients, rows=rows),
            _LOAD_EXECUTIONS.render(
                slot=slot, owner=OWNER, now=now, progress=Progress(finished_at=now).to_json(), rows=rows
            ),
        ]
        database.execute(";".join(sql), timeout_seconds=60)
        if checkpoints and (start + _CHUNK) % (EVENTS // checkpoints) == 0:
            server.checkpoint()


def medians(name: str, server: AlopexServer, database: ServerDatabase, key: str, times: int = 400) -> Row:
    """Measure intake through the trigger's app, one client, then claims and outcomes of what it has reserved."""
    queue = MemoryQueue()
    app = make_app(Runtime(Settings.read({}), database=database, wakeups=queue, arrivals=MemoryQueue()))
    path = f"/trigger/door/with/key/{key}"
    # The first calls of a process, and the first that read a new SST file, are not what a median is about.
    asyncio.run(_app_p50(app, path, 50))
    while queue.receive(wait_seconds=0):
        pass
    ms = {"intake": asyncio.run(_app_p50(app, path, times))}
    ids = []
    while batch := queue.receive(wait_seconds=0):
        ids += [read_wakeup(message.body) for message in batch]
    half = len(ids) // 2
    for size, part in ((1, ids[:half]), (10, ids[half:])):
        batches = [part[start : start + size] for start in range(0, len(part), size)]

        def one_claim(number: int, batches: list[list[str]] = batches) -> None:
            claims.claim(database, batches[number], "bench", Deadline(10))

        def one_outcome(number: int, batches: list[list[str]] = batches) -> None:
            outcomes = [Outcome(i, "bench", State.SUCCEEDED, Progress(finished_at=1)) for i in batches[number]]
            claims.record(database, outcomes, [], Deadline(10))

        ms[f"claim of {size}"] = p50_ms(one_claim, len(batches))
        ms[f"outcome of {size}"] = p50_ms(one_outcome, len(batches))
    return Row(name, ms, len(server.sst_files()), server.sst_bytes() / 2**20)


async def _app_p50(app: ASGIApp, path: str, times: int) -> float:
    durations = []
    for number in range(times):
        begun = time.perf_counter()
        assert await call_app(app, get_scope(path, f"value1={number}")) == 200
        durations.append((time.perf_counter() - begun) * 1000)
    return statistics.median(durations)


def measure() -> list[Row]:
    """Return the medians of a fresh database, of a full one in memory and of a full one after checkpoints."""
    rows = []
    for name, checkpoints in (("in memory", 0), ("after checkpoints", CHECKPOINTS)):
        with fresh_server() as server:
            database = ServerDatabase(server.url, api_key=server.api_key)
            key = prepare(database)
            call_applet(database, "http://127.0.0.1:9/")
            open_slots(database)
            if not rows:
                rows.append(medians("fresh", server, database, key))
            load(server, database, checkpoints=checkpoints)
            rows.append(medians(f"{EVENTS:,} events, {name}", server, database, key))
    return rows


if __name__ == "__main__":
    for row in measure():
        print(row)
