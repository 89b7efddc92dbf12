"""How a table of executions is emptied and goes: what waits moves away, what is final is in the log by then."""

import json
import re
import secrets
from contextlib import suppress

from whenthen.clock import now_ms
from whenthen.store import loads
from whenthen.store.database import Database
from whenthen.store.deletions import count_deleted
from whenthen.store.errors import Duplicate, MissingTable
from whenthen.store.executions import State
from whenthen.store.slots import SlotRow, make_table, open_batch
from whenthen.store.statements import Script, load
from whenthen.store.tables import list_tables

_S = load("closing")

LATEST_ANSWER_MS = 10 * 60_000
"""How long an answer may still replace `unknown`, milliseconds: longer than any lease."""

DROPPED_ROWS = 8_000
"""The most rows that are dropped at once: DROP takes time with the square (ALOPEX.md 4)."""

DELETED_ROWS = 20_000
"""The most rows that are deleted in chunks first. A chunk takes time with the square of all rows, too: of 40,000 it
holds everybody up for 2 to 3 s, so the tables beyond are left to the rebuild, which does not copy them."""

COPY_DIGITS = 13
"""Of the place of a copy on the history server: no slot has as many, and no batch."""

_COPY = re.compile(rf"executions_(\d{{{COPY_DIGITS}}})")
_WAITING_STATES = {State.QUEUED, State.WAITING}
_TIMEOUT_SECONDS = 60.0
_CHUNK_BYTES = 384 * 1024
_COPIED = ("execution_id", "applet_id", "owner_id", "occurred_at", "state", "claim", "ingredients", "progress")


def _number(database: Database, script: Script, column: str) -> int:
    return int(database.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)[0][column])


def move_waiting(database: Database, slot: str, now: int) -> int | None:
    """Move what waits in a closing slot to `WAITING`, and return how many rows are left.

    Parameters
    ----------
    now:
        Epoch milliseconds.

    Returns
    -------
    int or None
        None when a row may still change.
    """
    states = _count_states(database, slot)
    if states.keys() & _WAITING_STATES:
        script = Script().add(_S["move_waiting"], place=slot).add(_S["delete_moved"], place=slot)
        database.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
        states = _count_states(database, slot)
    # A worker may hold one, or have let one go meanwhile.
    if states.keys() & {*_WAITING_STATES, State.RUNNING}:
        return None
    if State.UNKNOWN in states:
        script = Script().add(_S["count_unanswered"], place=slot, answered_until=now - LATEST_ANSWER_MS)
        if _number(database, script, "unanswered"):
            return None
    return sum(states.values())


def _count_states(database: Database, place: str) -> dict[str, int]:
    script = Script().add(_S["count_states"], place=place)
    rows = database.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
    return {row["state"]: row["rows_in_state"] for row in rows}


def move_done(database: Database, now: int) -> str | None:
    """Move what is final in `WAITING` to a batch of its own and return its name, or None when there is none now.

    The batch is closed as a slot is. Its table is made first: a request can't use a table that it makes.
    """
    until = now - LATEST_ANSWER_MS
    done = _number(database, Script().add(_S["count_done"], answered_until=until), "done")
    if not done:
        return None
    try:
        # By the present clock: a tick may be replayed.
        batch = open_batch(database, now_ms())
    except Duplicate:
        return None
    script = Script().add(_S["move_done"], place=batch, answered_until=until)
    count_deleted(script, "executions_waiting", done)
    database.execute(script.add(_S["delete_done"], answered_until=until).sql, timeout_seconds=_TIMEOUT_SECONDS)
    return batch


def count_rows(database: Database, place: str) -> int:
    """Return how many rows the table of `place` has.

    Raises
    ------
    MissingTable
        It is gone.
    """
    return _number(database, Script().add(_S["count_rows"], place=place), "all_rows")


def copy_rows(hot: Database, log: Database, place: str, after: str) -> str:
    """Copy the final rows of a part to a table of its own on another server, and return its place.

    Parameters
    ----------
    after:
        The id that the part begins after; it ends where `loads.next_part` ends it.
    """
    copy = f"{secrets.randbelow(9 * 10 ** (COPY_DIGITS - 1)) + 10 ** (COPY_DIGITS - 1)}"
    make_table(log, copy)
    copied = 0
    while copied < loads.PART_ROWS and (
        rows := hot.execute(Script().add(_S["read_rows"], place=place, after=after).sql)
    ):
        chunk: list[list[object]] = []
        size = 0
        for row in rows:
            values = [row[name] for name in _COPIED]
            # JSON within JSON within JSON: a quote takes eight characters on the way.
            length = len(json.dumps(json.dumps(values)))
            if chunk and size + length > _CHUNK_BYTES:
                _write_rows(log, copy, chunk)
                chunk, size = [], 0
            chunk.append(values)
            size += length
        _write_rows(log, copy, chunk)
        copied += len(rows)
        after = rows[-1]["execution_id"]
    return copy


def drop_copies(log: Database) -> None:
    """Drop the copies that closers have left behind. One that is at work misses its own, and copies again."""
    for name in list_tables(log):
        if found := _COPY.fullmatch(name):
            with suppress(MissingTable):
                log.execute(Script().add(_S["drop_table"], place=found[1]).sql, timeout_seconds=_TIMEOUT_SECONDS)


def _write_rows(log: Database, place: str, rows: list[list[object]]) -> None:
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    log.execute(Script().add(_S["write_rows"], place=place, rows=text).sql, timeout_seconds=_TIMEOUT_SECONDS)


def remove(database: Database, row: SlotRow, rows: int) -> None:
    """Drop the slot's table of so many `rows`, in chunks first when it is large, and forget the slot.

    A very large table is left where it is, and nothing looks at it any more.

    Raises
    ------
    GuardFailed
        It does not have so many rows any more: a clock that was wrong has put one into it.
    MissingTable
        It is gone.
    """
    while DROPPED_ROWS < rows <= DELETED_ROWS:
        upto = database.execute(Script().add(_S["find_chunk_end"], place=row.slot).sql)[0]["execution_id"]
        script = Script().add(_S["delete_chunk"], place=row.slot, upto=upto).add(_S["count_rows"], place=row.slot)
        rows = _number(database, script, "all_rows")
    script = Script().add(_S["guard_rows"], place=row.slot, rows=rows)
    if rows <= DROPPED_ROWS:
        script.add(_S["drop_table"], place=row.slot)
    count_deleted(script, "slots", 1)
    database.execute(script.add(_S["delete_slot"], slot=row.slot).sql, timeout_seconds=_TIMEOUT_SECONDS)


def has_table(database: Database, place: str) -> bool:
    """Return whether the table of `place` is there."""
    try:
        count_rows(database, place)
    except MissingTable:
        return False
    return True


def forget(database: Database, row: SlotRow) -> None:
    """Delete the row of a slot whose table is gone."""
    script = Script()
    count_deleted(script, "slots", 1)
    database.execute(script.add(_S["delete_slot"], slot=row.slot).sql)
