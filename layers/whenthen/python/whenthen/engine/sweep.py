"""The sweep: finds what a crash or a lost message has left behind (DESIGN.md 2, step 7)."""

import logging
from dataclasses import replace

from whenthen.engine import watching
from whenthen.engine.attempts import Attempt, bounded
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.queues import Queue
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed, MissingTable
from whenthen.store.executions import MAX_DUE, NOT_SENDING, WAITING, ExecutionRow, State, list_due, release, wake_again
from whenthen.store.progress import Progress
from whenthen.store.slots import count_open, list_slots, settle, slot_end
from whenthen.store.statements import Script

logger = logging.getLogger(__name__)

MAX_DEATHS = 5
"""How often a worker may die over one action before the execution is given up."""

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
    """End a lease that has run out: back to the queue if nothing was sent, otherwise the outcome is unknown."""
    script = Script()
    died = replace(row.progress, deaths=row.progress.deaths + 1)
    ended: State | None = None
    if row.sending != NOT_SENDING:
        ended = State.UNKNOWN
        reason = "The worker stopped after the request may have been sent; no answer is known."
        release(
            script,
            row,
            state=State.UNKNOWN,
            progress=_ended(died, State.UNKNOWN, reason, now),
            due_at=None,
            wake_at=None,
        )
    elif died.deaths >= MAX_DEATHS:
        ended = State.FAILED
        reason = f"The worker stopped {MAX_DEATHS} times before it could send anything."
        release(
            script, row, state=State.FAILED, progress=_ended(died, State.FAILED, reason, now), due_at=None, wake_at=None
        )
    else:
        release(script, row, state=State.QUEUED, progress=died, due_at=row.occurred_at, wake_at=now + WAKE_GRACE_MS)
    try:
        database.execute(script.sql)
    except GuardFailed:
        # The worker was late but alive, or another sweep was first.
        return
    logger.warning("the lease of an execution has run out", extra=watching.execution(row.execution_id))
    if ended is not None:
        watching.execution_ended(row.execution_id, ended)


def _ended(progress: Progress, state: State, reason: str, now: int) -> Progress:
    attempt = Attempt(
        action=progress.step,
        service="",
        name="",
        number=progress.tries + 1,
        started_at=now,
        finished_at=now,
        outcome=state,
        reason=reason,
    )
    return replace(progress, reason=reason, finished_at=now, attempts=bounded((*progress.attempts, attempt.as_dict())))


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
