"""The closer: old slots go into the log, and their tables go (DESIGN.md 2, step 8).

Every step may be done twice and by two at once, and a crash between any two of them is found by the next tick.
"""

import logging

from whenthen.clock import Deadline, to_datetime
from whenthen.engine.sizes import RARE_MINUTE
from whenthen.store import closing, loads
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed, MissingTable, StoreError
from whenthen.store.history import History
from whenthen.store.slots import CLOSE_AFTER_MS, SlotRow, begin_closing, list_slots, slot_end
from whenthen.store.stat_parts import are_many, list_part_days, merge_day
from whenthen.store.statements import Script

logger = logging.getLogger(__name__)

_SECONDS_FOR_A_PART = 5.0
_BATCH_MINUTES = 10
_MERGE_AFTER_MS = 2 * CLOSE_AFTER_MS
_LAST_SLOT = "2330"


def close_slots(history: History, now: int, deadline: Deadline) -> int:
    """Close every slot that is over for `CLOSE_AFTER_MS`, and what is final in `WAITING`; return how many tables went.

    Parameters
    ----------
    now:
        Epoch milliseconds.
    deadline:
        When to stop; the next tick goes on.

    Raises
    ------
    StoreError
        The first that one of the slots has met; the others were closed.
    """
    failures: list[StoreError] = []
    closed = 0
    # Each batch is a table to make and to drop: not one a minute.
    if to_datetime(now).minute % _BATCH_MINUTES == RARE_MINUTE % _BATCH_MINUTES:
        try:
            closing.move_done(history.hot, now)
        except StoreError as error:
            logger.error("what was waiting could not be closed: %s", error)
            failures.append(error)
    slots = [row for row in list_slots(history.hot) if row.is_closing or slot_end(row.slot) + CLOSE_AFTER_MS <= now]
    for row in sorted(slots, key=lambda row: row.slot):
        if deadline.left() < _SECONDS_FOR_A_PART:
            logger.info("the closing of %d slots is left to the next tick", len(slots) - closed)
            break
        try:
            closed += _close(history, row, now, deadline)
        except StoreError as error:
            logger.error("slot %s could not be closed: %s", row.slot, error)
            failures.append(error)
    if failures:
        raise failures[0]
    return closed


def _close(history: History, row: SlotRow, now: int, deadline: Deadline) -> bool:
    """Bring a slot as far as it can be brought now, and return whether it is gone."""
    try:
        if not row.is_closing:
            script = Script()
            begin_closing(script, row)
            history.hot.execute(script.sql)
        rows = closing.move_waiting(history.hot, row.slot, now)
        if rows is None or not _load(history, row, rows, deadline):
            return False
        closing.remove(history.hot, row, rows)
        return True
    except GuardFailed:
        # Reopened since it was read, or another closer was first with a part: the next tick looks again.
        logger.info("slot %s has changed while it was being closed", row.slot)
    except MissingTable as error:
        if closing.has_table(history.hot, row.slot):
            # Another closer has loaded the part whose copy this one was about to load.
            logger.info("slot %s has changed while it was being closed: %s", row.slot, error)
        else:
            closing.forget(history.hot, row)
    return False


def _load(history: History, slot: SlotRow, rows: int, deadline: Deadline) -> bool:
    """Load what is not in the log yet of a table of so many `rows`, and return whether all is."""
    load = loads.begin_load(history.log, slot)
    while load.loaded_rows < rows and load.upto != loads.COMPLETE and deadline.left() > _SECONDS_FOR_A_PART:
        place = slot.slot
        if history.is_apart:
            place = closing.copy_rows(history.hot, history.log, place, load.upto)
        found = loads.next_part(history.log, place, slot, load, rows - load.loaded_rows)
        if found is None:
            break
        part, rollups = found
        try:
            load = loads.load_part(history, place, load, part, rollups)
        except MissingTable:
            loads.make_tables(history.log, part.day, parts=are_many(rollups))
            load = loads.load_part(history, place, load, part, rollups)
    if load.upto == loads.COMPLETE:
        # Large tables go in steps, so there may be fewer rows than were loaded.
        return rows <= load.loaded_rows
    if load.loaded_rows != rows:
        logger.warning("slot %s is not closed yet: %d of %d rows are in the log", slot.slot, load.loaded_rows, rows)
        return False
    loads.complete(history.log, load)
    return True


def merge_stats(log: Database, now: int, deadline: Deadline) -> int:
    """Merge the numbers of days that are over into the rollups, and return of how many days.

    An hour after a day's last slot was to be closed. A slot that closes later has its numbers merged the next time,
    beside those: each time costs a row an applet.

    Parameters
    ----------
    now:
        Epoch milliseconds.
    deadline:
        When to stop; the next time goes on.

    Raises
    ------
    StoreError
        The database can't do it now; the next time does.
    """
    merged = 0
    for day in list_part_days(log):
        if slot_end(day + _LAST_SLOT) + _MERGE_AFTER_MS <= now and deadline.left() > _SECONDS_FOR_A_PART:
            merge_day(log, day)
            merged += 1
    return merged
