"""Claims: what a worker writes about the executions it holds. Every unit here may run twice.

The scripts are compare-and-set as a whole: one execution that is lost refuses the script. Then the rows are read
and the script is sent again for those that are still held.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from whenthen.clock import Deadline, now_ms
from whenthen.engine import digests, watching
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.runs import Run
from whenthen.store import executions as store
from whenthen.store.applet_runs import count_failure
from whenthen.store.applets import AppletRow, read_applets
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed, MissingTable, ScriptTooLong
from whenthen.store.events import EventRow, read_events
from whenthen.store.executions import ExecutionRow, Outcome, State
from whenthen.store.inbox import Message, insert_message
from whenthen.store.places import find_places
from whenthen.store.slots import may_have_moved, reopen
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

logger = logging.getLogger(__name__)

_LEASE_MARGIN_SECONDS = 30.0

# A wake-up may come a moment before its time; the next look would be a minute later.
_EARLY_MS = 1000


def lease_until(deadline: Deadline) -> int:
    """Return when the lease of a worker that stops at `deadline` runs out, epoch milliseconds."""
    return now_ms() + round((deadline.left() + _LEASE_MARGIN_SECONDS) * 1000)


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a worker has claimed, with what it needs, by id. Short ingredients stand in the execution.

    The digests are those that the executions send, by their event's id; None for one that is lost.
    """

    executions: dict[str, ExecutionRow]
    applets: dict[str, AppletRow]
    long_events: dict[str, EventRow]
    digests: dict[str, digests.Collected | None]


def claim(database: Database, wanted: list[str], token: str, deadline: Deadline) -> Claimed:
    """Claim the wanted executions that are due, and read their applets and events.

    Parameters
    ----------
    token:
        The claim, never used before.

    Raises
    ------
    MissingTable
        An id names a slot that does not exist; nothing was claimed.
    StoreError
        The database did not answer in time; what was claimed is found by the sweep.
    """

    def attempt(claimable: Iterable[str]) -> dict[str, ExecutionRow]:
        script = Script()
        places = find_places(database, wanted, now_ms(), timeout_seconds=deadline.left())
        for execution in claimable:
            store.claim(
                script,
                execution,
                claim=token,
                now=now_ms() + _EARLY_MS,
                lease_until=lease_until(deadline),
                place=places.get(execution, ""),
            )
        return store.read_executions(database, script, wanted, places=places, timeout_seconds=deadline.left())

    def unit() -> dict[str, ExecutionRow]:
        try:
            return attempt(wanted)
        except GuardFailed:
            rows = attempt([])
            return attempt([execution for execution in wanted if _is_due(rows.get(execution))])

    rows = run_unit(unit, deadline=deadline, repeatable=True)
    held = {row.execution_id: row for row in rows.values() if row.claim == token and row.state == State.RUNNING}
    applet_ids = {row.applet_id for row in held.values()}
    event_ids = {parse_execution_id(row.execution_id).event_id for row in held.values() if not row.ingredients}

    sending = {parse_execution_id(row.execution_id).event_id for row in held.values() if row.progress.digest}

    def read() -> Claimed:
        return Claimed(
            held,
            read_applets(database, applet_ids, timeout_seconds=deadline.left()) if applet_ids else {},
            read_events(database, event_ids, timeout_seconds=deadline.left()) if event_ids else {},
            {digest: digests.close(database, digest, timeout_seconds=deadline.left()) for digest in sending},
        )

    return run_unit(read, deadline=deadline, repeatable=True)


def mark_sending(database: Database, runs: list[Run], deadline: Deadline) -> set[str]:
    """Write down that the runs' next requests may leave from here on; return the ids of those still held.

    Raises
    ------
    StoreError
        The database did not answer in time.
    """

    def changes(ids: set[str]) -> Script:
        script = Script()
        for run in runs:
            if run.execution_id in ids:
                store.mark_sending(script, run.execution_id, claim=run.claim, step=run.step, place=run.place)
        return script

    claimed = {run.execution_id: (run.claim, run.place or store.slot_of(run.execution_id)) for run in runs}
    return _write_held(database, claimed, (State.RUNNING,), changes, deadline)


def record(
    database: Database,
    outcomes: list[Outcome],
    messages: list[Message],
    deadline: Deadline,
    *,
    count_failures: bool = True,
) -> set[str]:
    """Write outcomes, and messages with their execution's outcome; return the ids of those still held.

    An outcome that is not held comes too late, or was written by this unit before an unknown outcome.

    Parameters
    ----------
    count_failures:
        Whether what has failed counts towards turning its applet off.

    Raises
    ------
    StoreError
        The database did not answer in time.
    """

    def changes(ids: set[str]) -> Script:
        script = Script()
        for outcome in outcomes:
            if outcome.execution_id in ids:
                store.record_outcome(script, outcome)
                if outcome.state is State.FAILED and count_failures:
                    count_failure(script, parse_execution_id(outcome.execution_id).applet_id)
        # A late answer may come after `unknown`, in a slot that the sweep passes over by now.
        for slot in {claimed[o.execution_id][1] for o in outcomes if o.execution_id in ids and o.wake_at is not None}:
            if slot != store.WAITING:
                reopen(script, slot)
        for message in messages:
            if message.execution_id in ids:
                insert_message(script, message)
        return script

    claimed = {o.execution_id: (o.claim, o.place or store.slot_of(o.execution_id)) for o in outcomes}
    try:
        return _write_held(database, claimed, (State.RUNNING, State.UNKNOWN), changes, deadline)
    except ScriptTooLong:
        if len(outcomes) == 1:
            raise
    middle = len(outcomes) // 2
    first, second = outcomes[:middle], outcomes[middle:]
    try:
        held = record(database, first, messages, deadline, count_failures=count_failures)
    finally:
        # Whatever becomes of one half, the other is recorded.
        others = record(database, second, messages, deadline, count_failures=count_failures)
    return held | others


def _write_held(
    database: Database,
    claimed: dict[str, tuple[str, str]],
    states: tuple[State, ...],
    changes: Callable[[set[str]], Script],
    deadline: Deadline,
) -> set[str]:
    """Send the changes of those that are still held; `claimed` tells claim and place of each."""
    places = {execution: place for execution, (_, place) in claimed.items()}

    def write(ids: set[str]) -> set[str]:
        # A change of a row that has left its table changes nothing and says nothing: those are read back.
        read_back = [execution for execution in ids if may_have_moved(places[execution], now_ms())]
        timeout = max(deadline.left(), 1.0)
        if not read_back:
            if ids:
                database.execute(changes(ids).sql, timeout_seconds=timeout)
            return ids
        rows = store.read_executions(database, changes(ids), read_back, places=places, timeout_seconds=timeout)
        return ids - {i for i in read_back if i not in rows or rows[i].claim != claimed[i][0]}

    def write_held(ids: set[str]) -> set[str]:
        try:
            return write(ids)
        except GuardFailed:
            rows = store.read_executions(database, Script(), ids, places=places).values()
            left = {
                row.execution_id for row in rows if row.claim == claimed[row.execution_id][0] and row.state in states
            }
            logger.warning("executions are not held any more", extra=watching.executions(ids - left))
            return write(left)

    def unit(ids: set[str]) -> set[str]:
        try:
            return write_held(ids)
        except MissingTable as error:
            left = {execution for execution in ids if error.table != f"executions_{places[execution]}"}
            if left == ids:
                raise
            return unit(left)

    if not claimed:
        return set()
    return run_unit(lambda: unit(set(claimed)), deadline=deadline, repeatable=True)


def _is_due(row: ExecutionRow | None) -> bool:
    return row is not None and row.due_at is not None and row.due_at <= now_ms() + _EARLY_MS
