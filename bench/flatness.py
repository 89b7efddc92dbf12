"""Intake, claim and outcome on a fresh database and on one with 200,000 events, before and after checkpoints.

Events are loaded with the store's own columns in bulk; executions fill slots of 8,000 as in production, and the
slot that is measured holds as many rows as it would after half an hour.
"""

import json
import secrets
from dataclasses import dataclass

from bench.house import fresh_server, open_slots, p50_ms
from tests.support.alopex import AlopexServer
from tests.support.scenario import OWNER, call_applet, prepare
from whenthen.clock import Deadline, now_ms
from whenthen.engine import claims
from whenthen.engine.arrivals import Arrival
from whenthen.engine.intake import Intake
from whenthen.queues.memory import MemoryQueue
from whenthen.store.database import ServerDatabase
from whenthen.store.executions import Outcome, State
from whenthen.store.keys import hash_key
from whenthen.store.progress import Progress
from whenthen.store.slots import open_slot, slot_at
from whenthen.store.statements import Statement

EVENTS = 200_000
CHECKPOINTS = 5
SLOT_ROWS = 8_000
SLOT_MS = 30 * 60_000
_CHUNK = 500
_PAYLOAD = "x" * 700

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
    """Medians of one database, milliseconds; a claim and an outcome are of a batch of 10."""

    name: str
    intake: float
    claim: float
    outcome: float
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


def medians(name: str, server: AlopexServer, database: ServerDatabase, key: str, times: int = 300) -> Row:
    """Measure intake, then claims and outcomes of what it has reserved."""
    queue = MemoryQueue()
    intake = Intake(database, queue)
    ids: list[str] = []

    def one_intake(number: int) -> None:
        arrival = Arrival(
            hash_key(key), "webhooks", "event", {"event": "door"}, f"{name}-{number}", {"Value1": "1"}, now_ms(), {}
        )
        ids.extend(intake.accept(arrival, Deadline(10)).execution_ids)

    intake_ms = p50_ms(one_intake, times)
    batches = [ids[start : start + 10] for start in range(0, len(ids), 10)]
    claim_ms = p50_ms(lambda i: claims.claim(database, batches[i], "bench", Deadline(10)) and None, len(batches))

    def one_outcome(number: int) -> None:
        outcomes = [Outcome(i, "bench", State.SUCCEEDED, Progress(finished_at=1)) for i in batches[number]]
        claims.record(database, outcomes, [], Deadline(10))

    outcome_ms = p50_ms(one_outcome, len(batches))
    return Row(name, intake_ms, claim_ms, outcome_ms, len(server.sst_files()), server.sst_bytes() / 2**20)


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
