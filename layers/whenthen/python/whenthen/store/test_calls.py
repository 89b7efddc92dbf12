"""Who waits for a test call of a trigger, and what came; see ``schema/0009_test_calls.sql``."""

from contextlib import suppress
from dataclasses import dataclass

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.deletions import count_deleted
from whenthen.store.errors import MissingTable
from whenthen.store.statements import Script, Statement, load

_S = load("test_calls")
_TABLE = "test_calls"


@dataclass(frozen=True, slots=True)
class AwaitedCall:
    """A waiting. Times are epoch milliseconds; `arrived` is JSON text, empty before anything came."""

    awaited_trigger_id: str
    owner_id: str
    asked_at: int
    waits_until: int
    arrived_at: int
    arrived: str


@dataclass(frozen=True, slots=True)
class NewestExecution:
    """What an execution's event was; fields as of `ExecutionRow`."""

    execution_id: str
    occurred_at: int
    ingredients: str


def find_test_call(
    database: Database, trigger_id: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> AwaitedCall | None:
    """Return the waiting for a trigger's call, also one that is over, or None."""
    script = Script().add(_S["read_test_call"], trigger_id=trigger_id)
    for row in database.execute(script.sql, timeout_seconds=timeout_seconds):
        return AwaitedCall(**row)
    return None


def wait_for_call(database: Database, trigger_id: str, owner_id: str, *, now: int, waits_until: int) -> AwaitedCall:
    """Wait, or go on waiting, and return how the waiting stands."""
    script = Script().add(_S["insert_test_call"], trigger_id=trigger_id, owner_id=owner_id, now=now)
    script.add(_S["wait_for_call"], trigger_id=trigger_id, now=now, waits_until=waits_until)
    script.add(_S["read_test_call"], trigger_id=trigger_id)
    return AwaitedCall(**database.execute(script.sql)[0])


def write_arrived(
    database: Database, trigger_id: str, *, now: int, arrived_at: int, arrived: str, timeout_seconds: float
) -> None:
    """Store what came, unless the waiting is over. The last that comes stays."""
    script = Script().add(_S["write_arrived"], trigger_id=trigger_id, now=now, arrived_at=arrived_at, arrived=arrived)
    database.execute(script.sql, timeout_seconds=timeout_seconds)


def find_newest(database: Database, slot: str, applet_id: str, *, since: int) -> NewestExecution | None:
    """Return the newest execution of an applet in a slot that occurred at `since` or later, or None."""
    script = Script().add(_S["find_newest_execution"], place=slot, applet_id=applet_id, since=since)
    with suppress(MissingTable):
        for row in database.execute(script.sql):
            return NewestExecution(**row)
    return None


def delete_over(database: Database, now: int) -> None:
    """Delete every waiting that is over, with what came."""
    _delete(database, _S["count_over"], _S["delete_over"], now=now)


def delete_awaited(database: Database, owner_id: str) -> None:
    """Delete the owner's waitings, with what came."""
    _delete(database, _S["count_awaited"], _S["delete_awaited"], owner_id=owner_id)


def _delete(database: Database, counting: Statement, deleting: Statement, **values: str | int) -> None:
    calls = int(database.execute(Script().add(counting, **values).sql)[0]["calls"])
    if calls:
        script = Script()
        count_deleted(script, _TABLE, calls)
        database.execute(script.add(deleting, **values).sql)
