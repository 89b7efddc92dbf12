"""Loads of the log: parts of a table of executions, each in one request with its marker and its rollups.

The marker counts the rows that are loaded. A part that is sent again, or by two at once, finds that the count has moved
on, and the whole request is refused (ALOPEX.md 8).
"""

from dataclasses import dataclass, replace

from whenthen.store.database import Database, Rows
from whenthen.store.errors import GuardFailed
from whenthen.store.history import History
from whenthen.store.progress import FACTS_SEPARATOR, NO_FACTS
from whenthen.store.slots import SlotRow
from whenthen.store.stat_parts import add_rollups, create_parts
from whenthen.store.statements import Script, load
from whenthen.store.stats import STATES, Numbers, Rollups, create_stats

_S = load("log")

COMPLETE = "~"
"""`upto` of a table that is in the log and was counted: after every id."""

PART_ROWS = 6_000
"""The most rows that are loaded at once."""

PART_BYTES = 16 * 1024 * 1024
"""About the most text that is loaded at once."""

_FACTS = {"separator": FACTS_SEPARATOR, "no_facts": NO_FACTS}
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Load:
    """How far a table is loaded: `loaded_rows`, up to the id `upto`."""

    load_id: str
    loaded_rows: int
    upto: str


@dataclass(frozen=True, slots=True)
class Part:
    """The next `rows` rows after the id `after`; the last is `upto`. All are of one `day`, ``yyyymmdd``."""

    after: str
    rows: int
    upto: str
    day: str


def begin_load(log: Database, slot: SlotRow) -> Load:
    """Return how far a table is loaded, not at all if this is the first time."""
    load_id = f"{slot.slot}.{slot.opened_at}"
    script = Script().add(_S["insert_load"], load_id=load_id).add(_S["read_load"], load_id=load_id)
    return Load(**log.execute(script.sql)[0])


def complete(log: Database, done: Load) -> None:
    """Write down that all of the table is loaded."""
    script = Script()
    _advance(script, done, replace(done, upto=COMPLETE))
    log.execute(script.sql)


def _advance(script: Script, seen: Load, then: Load) -> None:
    script.add(_S["advance_load"], load_id=seen.load_id, seen=seen.loaded_rows, loaded=then.loaded_rows, upto=then.upto)


def next_part(log: Database, place: str, slot: SlotRow, seen: Load, rows_left: int) -> tuple[Part, Rollups] | None:
    """Return the part that follows what is loaded, with its rollups, or None at the end.

    It is cut where the day ends.

    Parameters
    ----------
    place:
        Where the rows are: the slot's table, or the copy of its next part.
    rows_left:
        How many rows are not loaded yet.

    Raises
    ------
    GuardFailed
        One of the rows is not final.
    """
    rows = min(rows_left, PART_ROWS)
    if slot.is_batch:
        script = Script().add(_S["list_part"], place=place, after=seen.upto, rows=rows)
        ids = [row["execution_id"] for row in log.execute(script.sql)]
        if not ids:
            return None
        rows = sum(execution_id[:8] == ids[0][:8] for execution_id in ids)
    while True:
        script = Script().add(_S["group_part"], place=place, after=seen.upto, rows=rows, **_FACTS)
        groups = log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
        if not groups:
            return None
        size = sum(group["size"] for group in groups)
        if size <= PART_BYTES or rows == 1:
            break
        rows = max(rows * PART_BYTES // size, 1)
    upto = max(group["upto"] for group in groups)
    return Part(seen.upto, sum(group["runs"] for group in groups), upto, upto[:8]), _rollups(groups)


def _rollups(groups: Rows) -> Rollups:
    found: dict[tuple[str, ...], Numbers] = {}
    for group in groups:
        if group["state"] not in STATES:
            # One that is not final was put there by a clock that was wrong: it moves before the next try.
            raise GuardFailed("state")
        owner, day, hour = group["owner_id"], group["hour"][:8], group["hour"][8:]
        for key in ((owner, "applet", group["applet_id"], day, ""), (owner, "service", group["service"], day, hour)):
            found.setdefault(key, Numbers()).add(group)
    return found


def load_part(history: History, place: str, seen: Load, part: Part, rollups: Rollups) -> Load:
    """Load a part into the log, with its rollups, or nothing at all, and return how far the table is loaded now.

    Raises
    ------
    GuardFailed
        It is loaded already, or has changed since it was counted.
    MissingTable
        The month's or the day's tables are not there: see `make_tables`.
    StoreError
        See `store.errors`.
    """
    month, file = part.day[:6], history.copy_file
    then = replace(seen, loaded_rows=seen.loaded_rows + part.rows, upto=part.upto)
    script = Script()
    _advance(script, seen, then)
    script.add(_S["guard_part"], place=place, after=part.after, rows=part.rows, upto=part.upto, load_id=seen.load_id)
    script.add(_S["write_facts"], place=place, after=part.after, rows=part.rows, file=file, **_FACTS)
    script.add(_S["take_facts"], month=month, file=file)
    script.add(_S["write_details"], place=place, after=part.after, rows=part.rows, file=file)
    script.add(_S["take_details"], day=part.day, file=file)
    add_rollups(script, part.day, rollups, part_id=f"{seen.load_id}.{then.loaded_rows}", file=file)
    if history.is_apart:
        # It holds this part and nothing else.
        script.add(_S["drop_copy"], place=place)
    history.log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
    return then


def make_tables(log: Database, day: str, *, parts: bool = False) -> None:
    """Create the log and rollups of the day's month, and the day's details; what is there stays.

    Parameters
    ----------
    parts:
        Also the day's table of numbers that stand apart (`stat_parts`). Every table makes every statement slower.
    """
    month = day[:6]
    script = Script().add(_S["create_log"], month=month).add(_S["create_details"], day=day)
    create_stats(script, month)
    if parts:
        create_parts(script, day)
    script.add(_S["insert_month"], month=month).add(_S["insert_day"], day=day)
    log.execute(script.sql)
