"""The sweep: finds what a crash or a lost message has left behind (DESIGN.md 2, step 7)."""

import json
import logging

from whenthen.engine.attempts import Attempt
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.queues import Queue
from whenthen.store.database import Database
from whenthen.store.executions import NOT_SENDING, DueRow, State, list_due, release, wake_again
from whenthen.store.slots import count_open, list_slots, set_settled, slot_end
from whenthen.store.statements import Script

logger = logging.getLogger(__name__)

MAX_DEATHS = 5
"""How often a worker may die over one action before the execution is given up."""

_CHUNK = 50
_WAKE_AGAIN_MS = 5 * 60_000


def sweep(database: Database, wakeups: Queue, now: int) -> int:
    """Wake every execution whose `wake_at` has passed and settle those whose worker has died.

    Two sweeps at once do no harm: each change is guarded by the `wake_at` that was read.

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
    for row in list_slots(database):
        if row.settled_at is None:
            found += _sweep_slot(database, wakeups, row.slot, now)
    return found


def _sweep_slot(database: Database, wakeups: Queue, slot: str, now: int) -> int:
    due = list_due(database, slot, now)
    for start in range(0, len(due), _CHUNK):
        chunk = due[start : start + _CHUNK]
        script = Script()
        to_wake = [row.execution_id for row in chunk if _sweep_row(script, row, now)]
        database.execute(script.sql)
        send_wakeups(wakeups, to_wake)
    return len(due)


def _sweep_row(script: Script, row: DueRow, now: int) -> bool:
    """Add to `script` what becomes of the row; return whether it has to be woken."""
    if row.state != State.RUNNING:
        # A backlog is not made worse by waking everything each minute.
        wake_again(script, row, now + _WAKE_AGAIN_MS)
        return True
    if row.sending != NOT_SENDING:
        reason = "The worker stopped after the request may have been sent; no answer is known."
        _end(script, row, State.UNKNOWN, reason, now)
        return False
    if row.tries + 1 >= MAX_DEATHS:
        _end(
            script,
            row,
            State.FAILED,
            f"The worker stopped {MAX_DEATHS} times before it could send anything.",
            now,
        )
        return False
    release(
        script,
        row,
        state=State.QUEUED,
        reason="",
        attempts=row.attempts,
        wake_at=now + WAKE_GRACE_MS,
        finished_at=None,
    )
    return True


def _end(script: Script, row: DueRow, state: State, reason: str, now: int) -> None:
    logger.warning("%s: %s", row.execution_id, reason)
    attempt = Attempt(
        action=row.step,
        service="",
        name="",
        number=row.tries + 1,
        started_at=now,
        finished_at=now,
        outcome=state,
        reason=reason,
    )
    attempts = json.dumps([*json.loads(row.attempts), attempt.as_dict()], ensure_ascii=False)
    release(script, row, state=state, reason=reason, attempts=attempts, wake_at=None, finished_at=now)


def settle_slots(database: Database, now: int) -> None:
    """Mark the slots that are over and whose executions are all final, so that the sweep passes over them."""
    for row in list_slots(database):
        # An intake that began before the slot's end may still be on its way: leave it one more slot of time.
        over = slot_end(row.slot) + WAKE_GRACE_MS * 5 <= now
        if row.settled_at is None and over and count_open(database, row.slot) == 0:
            script = Script()
            set_settled(script, row.slot, now)
            database.execute(script.sql)
