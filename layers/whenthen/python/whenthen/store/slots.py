"""Slots: each half hour has a table of executions of its own, so that no table grows for ever."""

from dataclasses import dataclass
from datetime import UTC, datetime

from whenthen.clock import to_datetime
from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("slots")

SLOT_MINUTES = 30
"""Length of a slot. Fewer tables to sweep against DROP's cost, which grows with the square (ALOPEX.md 4)."""

_FORMAT = "%Y%m%d%H%M"


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot. Times are epoch milliseconds; `settled_at` is set when every execution in it is final."""

    slot: str
    opened_at: int
    settled_at: int | None


def slot_at(ms: int) -> str:
    """Return the name of the slot that holds the instant `ms`, ``yyyymmddhhmm`` of its start in UTC."""
    when = to_datetime(ms)
    return when.replace(minute=when.minute - when.minute % SLOT_MINUTES).strftime(_FORMAT)


def slot_end(slot: str) -> int:
    """Return the instant at which the slot ends, epoch milliseconds."""
    start = datetime.strptime(slot, _FORMAT).replace(tzinfo=UTC)
    return round(start.timestamp() * 1000) + SLOT_MINUTES * 60_000


def open_slot(database: Database, slot: str, now: int) -> None:
    """Create the slot's table and its row. May be run twice and by two at once."""
    database.execute(Script().add(_S["create_slot_table"], slot=slot).sql)
    database.execute(Script().add(_S["open_slot"], slot=slot, now=now).sql)


def list_slots(database: Database) -> list[SlotRow]:
    """Return all slots, newest first."""
    return [SlotRow(**row) for row in database.execute(Script().add(_S["list_slots"]).sql)]


def set_settled(script: Script, slot: str, settled_at: int | None) -> None:
    """Add to `script` whether the slot still has to be swept."""
    script.add(_S["set_slot_settled"], slot=slot, settled_at=settled_at)


def count_open(database: Database, slot: str) -> int:
    """Return how many of the slot's executions are not final."""
    return int(database.execute(Script().add(_S["read_slot_end"], slot=slot).sql)[0]["open_rows"])
