"""Closing a slot, alone and while webhooks come in, and reading the history of 10,000 and of 1,000,000 executions.

The slot holds executions as the product leaves them: one notification each. The log is loaded as the closer loads it,
one segment a slot, for the half hours of a month.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench.house import call_app, fresh_server, get_scope, open_slots, p50_ms
from tests.support.alopex import AlopexServer
from tests.support.history import T0
from tests.support.scenario import OWNER, call_applet, prepare
from whenthen.clock import Deadline
from whenthen.engine.activity import read_activity
from whenthen.engine.closer import close_slots
from whenthen.engine.stats import read_stats
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store.database import ServerDatabase
from whenthen.store.history import History
from whenthen.store.loads import make_tables
from whenthen.store.log import Filters
from whenthen.store.progress import Progress
from whenthen.store.slots import SLOT_MINUTES, open_slot, slot_at
from whenthen.store.statements import Script, Statement
from whenthen.store.stats import Numbers, add_stats
from whenthen.web.hooks import make_app
from whenthen.wiring import Runtime

SLOT_ROWS = 6_000
WEBHOOKS_A_SECOND = 200
APPLETS = 20
MONTH_SLOTS = 1_440
_SLOT_MS = SLOT_MINUTES * 60_000
_MONTH = "202610"
_START = 1_790_812_800_000  # 2026-10-01T00:00Z

FILL = Statement(
    "bench",
    "INSERT INTO executions_{place} "
    "(execution_id, applet_id, owner_id, occurred_at, state, claim, ingredients, progress) "
    "SELECT json_extract(value,'$[0]'), json_extract(value,'$[1]'), :owner, :now, 'succeeded', 'bench', :ingredients, "
    ":progress FROM json_each(:rows)",
)
LOAD = Statement(
    "bench",
    "COPY (SELECT json_extract(value,'$[0]') AS execution_id, CAST(:slot AS BIGINT) AS slot, :owner AS owner_id, "
    "json_extract(value,'$[1]') AS applet_id, 'notifications' AS service, 'webhooks' AS trigger_service, "
    "CAST(json_extract(value,'$[2]') AS BIGINT) AS occurred_at, "
    "CAST(json_extract(value,'$[2]') AS BIGINT) AS finished_at, "
    "'succeeded' AS state, '' AS reason, '' AS note, 1 AS attempts, 100 AS duration, 0 AS run FROM json_each(:rows)) "
    "TO :file WITH (FORMAT PARQUET)",
)
TAKE = Statement("bench", "COPY execution_log_{month} FROM :file WITH (FORMAT PARQUET)")


@dataclass(frozen=True)
class Closing:
    """Seconds that the closing of a slot takes, alone and beside webhooks, and the longest that one of these waited."""

    alone: float
    beside: float
    webhooks: int
    longest: float


@dataclass(frozen=True)
class Reading:
    """Medians, milliseconds, at so many executions in the log."""

    rows: int
    first_page: float
    rare_page: float
    stats: float


def fill(database: ServerDatabase, slot: str, at: int) -> None:
    """Put `SLOT_ROWS` final executions into a slot."""
    open_slot(database, slot, at)
    ingredients = {
        "EventName": "door",
        "Value1": "x" * 50,
        "Value2": "",
        "Value3": "",
        "OccurredAt": "November 1, 2026",
    }
    attempt = {
        "action": 0, "service": "notifications", "name": "send_notification", "number": 1, "started_at": at,
        "finished_at": at + 100, "outcome": "succeeded", "reason": "", "notes": [], "request": None, "answer": None,
    }  # fmt: skip
    progress = Progress(
        step=1, attempts=(attempt,), finished_at=at + 100, actions="0123456789abcdef", trigger_service="webhooks"
    )
    for _ in range(0, SLOT_ROWS, 500):
        rows = [[f"{slot}.{secrets.token_hex(16)}.{n % APPLETS:016}", f"{n % APPLETS:016}"] for n in range(500)]
        database.execute(
            FILL.render(
                place=slot,
                owner=OWNER,
                now=at,
                ingredients=json.dumps(ingredients),
                progress=progress.to_json(),
                rows=json.dumps(rows),
            ),
            timeout_seconds=60,
        )


def history_of(server: AlopexServer) -> History:
    """The server's history."""
    database = ServerDatabase(server.url, api_key=server.api_key)
    return History(database, database, str(server.copy_dir / "load.parquet"))


def close_timed(history: History, now: int) -> float:
    """Close what is to be closed; seconds."""
    begun = time.perf_counter()
    assert close_slots(history, now, Deadline(60)) == 1
    return time.perf_counter() - begun


def measure_closing(seconds: float = 6.0) -> Closing:
    """Close three slots: one to make the month's tables, one alone, one beside `WEBHOOKS_A_SECOND`."""
    with fresh_server() as server:
        history = history_of(server)
        key = prepare(history.hot)
        call_applet(history.hot, "http://127.0.0.1:9/")
        open_slots(history.hot)
        slots = [slot_at(T0 + number * _SLOT_MS) for number in range(3)]
        durations = []
        for number, slot in enumerate(slots[:2]):
            fill(history.hot, slot, T0)  # type: ignore[arg-type]
            durations.append(close_timed(history, T0 + (number + 4) * _SLOT_MS))
        fill(history.hot, slots[2], T0)  # type: ignore[arg-type]
        runtime = Runtime(Settings.read({}), database=history.hot, wakeups=MemoryQueue(), arrivals=MemoryQueue())
        app = make_app(runtime)
        waits: list[float] = []

        async def one(number: int) -> None:
            begun = time.perf_counter()
            assert await call_app(app, get_scope(f"/trigger/door/with/key/{key}", f"value1={number}")) == 200
            waits.append(time.perf_counter() - begun)

        async def run() -> float:
            calls = []
            closing = None
            begun = time.perf_counter()
            for number in range(round(seconds * WEBHOOKS_A_SECOND)):
                if number == WEBHOOKS_A_SECOND:
                    # From another process's connection, as the poller's.
                    closing = asyncio.get_running_loop().run_in_executor(
                        None, close_timed, history_of(server), T0 + 10 * _SLOT_MS
                    )
                calls.append(asyncio.create_task(one(number)))
                await asyncio.sleep(max(0.0, begun + number / WEBHOOKS_A_SECOND - time.perf_counter()))
            await asyncio.gather(*calls)
            assert closing is not None
            return await closing

        beside = asyncio.run(run())
        assert not runtime.arrivals.receive(wait_seconds=0), "a webhook went to the intake queue"
        return Closing(durations[1], beside, len(waits), max(waits))


def load_log(history: History, rows: int) -> None:
    """Load the half hours of October 2026 with so many executions in all."""
    make_tables(history.log, f"{_MONTH}01")
    for number in range(MONTH_SLOTS):
        at = _START + number * _SLOT_MS
        slot = slot_at(at)
        count = rows * (number + 1) // MONTH_SLOTS - rows * number // MONTH_SLOTS
        values = [
            [f"{slot}.{secrets.token_hex(16)}.{n % APPLETS:016}", f"{n % APPLETS:016}", at + n] for n in range(count)
        ]
        file = history.copy_file
        sql = LOAD.render(slot=slot, owner=OWNER, rows=json.dumps(values, separators=(",", ":")), file=file)
        history.log.execute(f"{sql}; {TAKE.render(month=_MONTH, file=file)}", timeout_seconds=60)
    for day in range(30):
        rollups = {
            (OWNER, "applet", f"{applet:016}", f"{_MONTH}{day + 1:02}", ""): Numbers(succeeded=rows // 600)
            for applet in range(APPLETS)
        }
        script = Script()
        add_stats(script, _MONTH, rollups)
        history.log.execute(script.sql)
        for hour in range(24):
            script = Script()
            key = (OWNER, "service", "notifications", f"{_MONTH}{day + 1:02}", f"{hour:02}")
            add_stats(script, _MONTH, {key: Numbers(succeeded=rows // 720)})
            history.log.execute(script.sql)


def measure_reading(rows: int) -> Reading:
    """Read a month's log that holds `rows` executions; nothing newer is open."""
    with fresh_server() as server:
        history = history_of(server)
        prepare(history.hot)
        load_log(history, rows)
        server.checkpoint()

        def timed(call: Callable[[], object], times: int) -> float:
            call()
            return p50_ms(lambda _number: call(), times)

        page = read_activity(history, OWNER, Filters(), limit=50)
        assert len(page.items) == 50
        assert (
            sum(n.runs for n in read_stats(history, OWNER, days=62, now=_START + 31 * 86_400_000).applets.values())
            <= rows
        )
        return Reading(
            rows,
            timed(lambda: read_activity(history, OWNER, Filters(), limit=50), 20),
            timed(lambda: read_activity(history, OWNER, Filters(state="failed"), limit=50), 5),
            timed(lambda: read_stats(history, OWNER, days=62, now=_START + 31 * 86_400_000), 20),
        )


def main() -> None:
    """Print the tables that README quotes."""
    closing = measure_closing()
    print(f"| closing a slot of {SLOT_ROWS:,} executions | seconds |\n|---|---|")
    print(f"| alone | {closing.alone:.2f} |")
    print(f"| beside {WEBHOOKS_A_SECOND} webhooks a second | {closing.beside:.2f} |")
    print(f"| longest that one of {closing.webhooks:,} webhooks waited | {closing.longest:.2f} |")
    readings = [measure_reading(rows) for rows in (10_000, 1_000_000)]
    few = readings[0]
    print("\n| a month's log, p50 in ms (ratio) | first page | a page of what never happened | statistics of 62 days |")
    print("|---|---|---|---|")
    for reading in readings:
        print(
            f"| {reading.rows:,} executions | {reading.first_page:.0f} ({reading.first_page / few.first_page:.1f}) "
            f"| {reading.rare_page:.0f} ({reading.rare_page / few.rare_page:.1f}) "
            f"| {reading.stats:.0f} ({reading.stats / few.stats:.1f}) |"
        )


if __name__ == "__main__":
    main()
