"""The sweep: finds what a crash or a lost message has left behind (DESIGN.md 2, step 7)."""

import logging

from whenthen.engine import watching
from whenthen.engine.deaths import after_death
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.queues import Queue
from whenthen.store.applet_runs import count_failure
from whenthen.store.applets import find_applet
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed, MissingTable
from whenthen.store.executions import MAX_DUE, NOT_SENDING, WAITING, ExecutionRow, State, list_due, release, wake_again
from whenthen.store.slots import count_open, list_slots, settle, slot_end
from whenthen.store.statements import Script

logger = logging.getLogger(__name__)

_CHUNK = 50
_MOST = 1000
_WAKE_AGAIN_MS = 5 * 60_000
_INTAKE_MS = 5 * 60_000


def sweep(database: Database, wakeups: Queue, now: int) -> int:
    """Wake every execution whose `wake_at` has passed and settle those whose worker has died.

    Two sweeps at once do no harm: each change is guarded by what was read.

    Parameters
    ----------
    now:
        Epoch milliseconds.

    Returns
    -------
    int
        How many executions were overdue.
    """
    found = 0
    open_slots = [row.slot for row in list_slots(database) if row.settled_at is None and not row.is_batch]
    # What moves from a slot to the waiting ones is found in one of the two.
    for place in (*open_slots, WAITING):
        try:
            found += _sweep(database, wakeups, place, now)
        except MissingTable:
            # Closed since the list was read.
            continue
    return found


def _sweep(database: Database, wakeups: Queue, place: str, now: int) -> int:
    found = 0
    for _ in range(_MOST // MAX_DUE):
        due = list_due(database, place, now)
        found += len(due)
        watching.executions_overdue(due, now)
        for row in due:
            if row.state == State.RUNNING:
                _release(database, row, now)
        _wake(database, wakeups, due, now)
        if len(due) < MAX_DUE:
            break
    return found


def _wake(database: Database, wakeups: Queue, due: list[ExecutionRow], now: int) -> None:
    # One whose action is unknown may have others to do: the next sweep wakes it.
    waiting = [row for row in due if row.state != State.RUNNING or row.sending == NOT_SENDING]
    for start in range(0, len(waiting), _CHUNK):
        chunk = waiting[start : start + _CHUNK]
        script = Script()
        for row in chunk:
            # A backlog is not made worse by waking everything each minute.
            wake_again(script, row, now + _WAKE_AGAIN_MS)
        database.execute(script.sql)
        send_wakeups(wakeups, [row.execution_id for row in chunk])


def _release(database: Database, row: ExecutionRow, now: int) -> None:
    """End a lease that has run out."""
    applet = find_applet(database, row.applet_id) if row.sending != NOT_SENDING else None
    death = after_death(row, applet, now)
    script = Script()
    goes_on = death.state is State.QUEUED
    release(
        script,
        row,
        state=death.state,
        progress=death.progress,
        due_at=row.occurred_at if goes_on else None,
        wake_at=now + WAKE_GRACE_MS if goes_on else None,
    )
    if death.state is State.FAILED:
        count_failure(script, row.applet_id)
    try:
        database.execute(script.sql)
    except GuardFailed:
        # The worker was late but alive, or another sweep was first.
        return
    logger.warning("the lease of an execution has run out", extra=watching.execution(row.execution_id))
    if not goes_on:
        watching.execution_ended(row.execution_id, death.state)


def settle_slots(database: Database, now: int) -> None:
    """Mark the slots that are over and whose executions are all final, so that the sweep passes over them."""
    for row in list_slots(database):
        # An intake that began before the slot's end may still be on its way: leave it some time.
        if row.settled_at is not None or row.is_closing or slot_end(row.slot) + _INTAKE_MS > now:
            continue
        if count_open(database, row.slot):
            continue
        script = Script()
        settle(script, row, now)
        try:
            database.execute(script.sql)
        except GuardFailed:
            logger.info("slot %s was reopened", row.slot)
