"""Slots: each half hour has a table of executions of its own, so that no table grows for ever."""

from dataclasses import dataclass
from datetime import UTC, datetime

from whenthen.clock import to_datetime
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("slots")

SLOT_MINUTES = 30
"""Length of a slot. Fewer tables to sweep against DROP's cost, which grows with the square (ALOPEX.md 4)."""

SLOT_NAME_LENGTH = 12

_FORMAT = "%Y%m%d%H%M"


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot. Times are epoch milliseconds; `settled_at` is set when every execution in it is final.

    `reopened` counts how often a final execution of it has become open again.
    """

    slot: str
    opened_at: int
    settled_at: int | None
    reopened: int


def slot_at(ms: int) -> str:
    """Return the name of the slot that holds the instant `ms`, ``yyyymmddhhmm`` of its start in UTC."""
    when = to_datetime(ms)
    return when.replace(minute=when.minute - when.minute % SLOT_MINUTES).strftime(_FORMAT)


def slot_end(slot: str) -> int:
    """Return the instant at which the slot ends, epoch milliseconds."""
    start = datetime.strptime(slot, _FORMAT).replace(tzinfo=UTC)
    return round(start.timestamp() * 1000) + SLOT_MINUTES * 60_000


def open_slot(database: Database, slot: str, now: int, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> None:
    """Create the slot's table and its row, both or none: no sweep would ever find a table without a row.

    May be run twice and by two at once.
    """
    script = Script().add(_S["create_slot_table"], slot=slot).add(_S["open_slot"], slot=slot, now=now)
    database.execute(script.sql, timeout_seconds=timeout_seconds)


def list_slots(database: Database) -> list[SlotRow]:
    """Return all slots, newest first."""
    return [SlotRow(**row) for row in database.execute(Script().add(_S["list_slots"]).sql)]


def settle(script: Script, row: SlotRow, now: int) -> None:
    """Add to `script` that the slot need not be swept, or refuse it when it was reopened since it was read."""
    script.add(_S["settle_slot"], slot=row.slot, reopened=row.reopened, settled_at=now)


def reopen(script: Script, slot: str) -> None:
    """Add to `script` that the slot has to be swept: one of its executions is not final any more."""
    script.add(_S["reopen_slot"], slot=slot)


def count_open(database: Database, slot: str) -> int:
    """Return how many of the slot's executions are not final."""
    return int(database.execute(Script().add(_S["read_slot_end"], slot=slot).sql)[0]["open_rows"])
