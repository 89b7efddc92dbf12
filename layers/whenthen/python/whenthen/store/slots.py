"""Slots: each half hour has a table of executions of its own, so that no table grows for ever."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from whenthen.clock import to_datetime
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("slots")

SLOT_MINUTES = 30
"""Length of a slot. Fewer tables to sweep against DROP's cost, which grows with the square (ALOPEX.md 4)."""

SLOT_NAME_LENGTH = 12

CLOSE_AFTER_MS = 60 * 60_000
"""How long after its end a slot is closed: its rows move to the log and its table goes."""

CLOSING = -1
"""`reopened` of a slot that is being closed: none of its executions can be put back into the queue."""

_MOVED_AFTER_MS = CLOSE_AFTER_MS // 2
"""Less than `CLOSE_AFTER_MS` by more than the clocks of two functions differ."""

_FORMAT = "%Y%m%d%H%M"
_BATCH_FORMAT = "%Y%m%d%H%M%S"


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot. Times are epoch milliseconds; `settled_at` is set when every execution in it is final.

    `reopened` counts how often a final execution of it has become open again, or is `CLOSING`. A `slot` of 14 digits
    is a batch: executions of any slot that were final in `WAITING`, on their way to the log. Its `opened_at` is random.
    """

    slot: str
    opened_at: int
    settled_at: int | None
    reopened: int

    @property
    def is_closing(self) -> bool:
        """Whether its rows are on their way to the log."""
        return self.reopened == CLOSING

    @property
    def is_batch(self) -> bool:
        """Whether it is a batch."""
        return len(self.slot) != SLOT_NAME_LENGTH


def slot_at(ms: int) -> str:
    """Return the name of the slot that holds the instant `ms`, ``yyyymmddhhmm`` of its start in UTC."""
    when = to_datetime(ms)
    return when.replace(minute=when.minute - when.minute % SLOT_MINUTES).strftime(_FORMAT)


def slot_end(slot: str) -> int:
    """Return the instant at which the slot ends, epoch milliseconds."""
    start = datetime.strptime(slot, _FORMAT).replace(tzinfo=UTC)
    return round(start.timestamp() * 1000) + SLOT_MINUTES * 60_000


def slot_before(slot: str) -> str:
    """Return the slot that ends when this one begins."""
    return slot_at(slot_end(slot) - 2 * SLOT_MINUTES * 60_000)


def last_slot(month: str) -> str:
    """Return the last slot of a month, ``yyyymm``."""
    return slot_before(
        (datetime.strptime(month, "%Y%m").replace(tzinfo=UTC) + timedelta(days=32)).strftime("%Y%m010000")
    )


def may_have_moved(place: str, now: int) -> bool:
    """Return whether rows of `place`, a slot or `executions.WAITING`, may leave its table by the instant `now`."""
    return len(place) != SLOT_NAME_LENGTH or slot_end(place) + _MOVED_AFTER_MS <= now


def open_slot(database: Database, slot: str, now: int, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> None:
    """Create the slot's table and its row, both or none: no sweep would ever find a table without a row.

    May be run twice and by two at once.
    """
    script = Script().add(_S["create_slot_table"], place=slot).add(_S["open_slot"], slot=slot, now=now)
    database.execute(script.sql, timeout_seconds=timeout_seconds)


def make_table(database: Database, place: str) -> None:
    """Create a slot's table and no row of `slots`."""
    database.execute(Script().add(_S["create_slot_table"], place=place).sql)


def open_batch(database: Database, now: int) -> str:
    """Create the table of a batch, which is closing from the beginning, and return its name.

    Raises
    ------
    Duplicate
        There is one of this second.
    """
    batch = to_datetime(now).strftime(_BATCH_FORMAT)
    script = Script().add(_S["create_slot_table"], place=batch)
    # A number that never was: what names a load must not come twice, and a clock may be turned back.
    script.add(_S["open_batch"], slot=batch, opened_at=secrets.randbits(62))
    database.execute(script.sql)
    return batch


def batch_made_at(batch: str) -> int:
    """Return when a batch was made, epoch milliseconds."""
    return round(datetime.strptime(batch, _BATCH_FORMAT).replace(tzinfo=UTC).timestamp() * 1000)


def has_slot(database: Database, slot: str) -> bool:
    """Return whether the slot is one of those that are open: a table that is none stands for nothing any more."""
    return bool(database.execute(Script().add(_S["read_slot"], slot=slot).sql))


def find_slots(database: Database, names: Collection[str]) -> list[SlotRow]:
    """Return those slots of at most 100 that are open, in no order, without a scan."""
    selects = [Script().add(_S["read_slot"], slot=name) for name in names]
    return [SlotRow(**row) for row in database.execute(Script().union(selects).sql)]


def list_slots(database: Database) -> list[SlotRow]:
    """Return all slots, newest first."""
    return [SlotRow(**row) for row in database.execute(Script().add(_S["list_slots"]).sql)]


def settle(script: Script, row: SlotRow, now: int) -> None:
    """Add to `script` that the slot need not be swept, or refuse it when it was reopened since it was read."""
    script.add(_S["settle_slot"], slot=row.slot, reopened=row.reopened, settled_at=now)


def reopen(script: Script, slot: str) -> None:
    """Add to `script` that the slot has to be swept: one of its executions is not final any more."""
    script.add(_S["reopen_slot"], slot=slot)


def keep_open(script: Script, slot: str) -> None:
    """Do as `reopen`, or refuse `script` when the slot is closing."""
    script.add(_S["keep_slot_open"], slot=slot)


def begin_closing(script: Script, row: SlotRow) -> None:
    """Add to `script` that the slot is closing from now on, or refuse it when it was reopened since it was read."""
    script.add(_S["close_slot"], slot=row.slot, reopened=row.reopened)


def count_open(database: Database, slot: str) -> int:
    """Return how many of the slot's executions are not final."""
    return int(database.execute(Script().add(_S["read_slot_end"], place=slot).sql)[0]["open_rows"])
