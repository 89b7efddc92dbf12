"""Intake through the trigger function's app against a bare script with the same two inserts."""

import secrets
from collections.abc import Callable

from bench.house import fresh_server, open_slots, rate_of_app, rate_of_threads
from tests.support.scenario import call_applet, prepare
from whenthen.clock import now_ms
from whenthen.engine.identity import execution_id
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store.database import ServerDatabase
from whenthen.store.events import EventRow
from whenthen.store.reservations import reserve_execution
from whenthen.store.slots import slot_at
from whenthen.store.statements import Script, Statement
from whenthen.web.hooks import make_app
from whenthen.wiring import Runtime

_INSERT_EVENT = Statement(
    "bench",
    "INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients) "
    "VALUES (:event_id, 'bench', :now, :now, :execution_ids, :ingredients)",
)
_INGREDIENTS = '{"EventName":"door","Value1":"1-1","Value2":"","Value3":"","OccurredAt":"November 29, 2026 at 06:20PM"}'


def bare_script(event: str, now: int) -> str:
    """Return the two inserts of an intake, with plain VALUES and nothing else."""
    execution = execution_id(slot_at(now), event, "bench")
    row = EventRow(event, "bench", now, now, (execution,), _INGREDIENTS)
    script = Script().add(
        _INSERT_EVENT, event_id=row.event_id, now=now, execution_ids=f'["{execution}"]', ingredients=row.ingredients
    )
    reserve_execution(
        script,
        execution_id=execution,
        applet_id="bench",
        owner_id="bench",
        occurred_at=now,
        now=now,
        wake_at=now + 60_000,
        ingredients=row.ingredients,
    )
    return script.sql


def measure(seconds: float = 5.0, rounds: int = 3) -> tuple[float, float]:
    """Return the rates (per second) of the bare script and of the app, best of alternating rounds."""
    with fresh_server() as server:
        database = ServerDatabase(server.url, api_key=server.api_key)
        key = prepare(database)
        call_applet(database, "http://127.0.0.1:9/")
        open_slots(database)

        def bare(_client: int) -> Callable[[int], None]:
            connection = ServerDatabase(server.url, api_key=server.api_key)
            return lambda _number: connection.execute(bare_script(secrets.token_hex(16), now_ms())) and None

        runtime = Runtime(Settings.read({}), database=database, wakeups=MemoryQueue(), arrivals=MemoryQueue())
        app = make_app(runtime)
        path = f"/trigger/door/with/key/{key}"
        rates = [(rate_of_threads(bare, seconds), rate_of_app(app, path, seconds)) for _ in range(rounds)]
        return max(rate[0] for rate in rates), max(rate[1] for rate in rates)


if __name__ == "__main__":
    bare_rate, app_rate = measure()
    print(f"bare {bare_rate:.0f}/s, app {app_rate:.0f}/s, ratio {app_rate / bare_rate:.2f}")
