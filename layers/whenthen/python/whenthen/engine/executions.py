"""One execution in detail, wherever it stands by now, and running it again."""

import json
from dataclasses import dataclass
from typing import Any

from whenthen.clock import Deadline, now_ms
from whenthen.engine.activity import Item, of_log, of_row
from whenthen.engine.attempts import bounded
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.errors import NotFound, Stale
from whenthen.queues import Queue
from whenthen.store.errors import Duplicate, GuardFailed, MissingTable
from whenthen.store.events import ERASED, find_event
from whenthen.store.executions import WAITING, ExecutionRow, find_execution, put_back, read_executions, requeue
from whenthen.store.history import History
from whenthen.store.log import LogRow, find_details, find_logged
from whenthen.store.progress import Progress
from whenthen.store.slots import has_slot, keep_open, list_slots, may_have_moved
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

_TIMEOUT_SECONDS = 10.0
_MOVING = "The execution is on its way to the history: try again in a minute."


@dataclass(frozen=True, slots=True)
class Detail:
    """An execution in detail.

    `ingredients` and `attempts` are empty when the payload has been erased (`is_erased`). `due_at`, epoch
    milliseconds, is when it can be claimed next, or None.
    """

    item: Item
    ingredients: dict[str, Any]
    attempts: tuple[dict[str, Any], ...]
    due_at: int | None
    is_erased: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """What there is of an execution: the row, unless it is in the log alone, and its runs in the log."""

    row: ExecutionRow | None
    logged: list[LogRow]


def _find(history: History, owner_id: str, execution_id: str) -> _Found:
    """Look in the order in which an execution moves, so that it is not missed while it does."""
    try:
        slot = parse_execution_id(execution_id).slot
        old = may_have_moved(slot, now_ms())
    except ValueError as error:
        raise NotFound("There is no such execution.") from error
    # The table of a slot that is not open any more may have been too large to drop: the log is what counts.
    row = _find_in(history, execution_id, "") if not old or has_slot(history.hot, slot) else None
    logged: list[LogRow] = []
    if old and row is None:
        row = _find_in(history, execution_id, WAITING)
    if old and row is None:
        for place in (slot.slot for slot in list_slots(history.hot) if slot.is_batch):
            row = row or _find_in(history, execution_id, place)
    if old and (row is None or row.progress.run):
        logged = find_logged(history.log, execution_id)
    owner = row.owner_id if row else logged[0].owner_id if logged else None
    if owner != owner_id:
        raise NotFound("There is no such execution.")
    return _Found(row, logged)


def _find_in(history: History, execution_id: str, place: str) -> ExecutionRow | None:
    try:
        return find_execution(history.hot, execution_id, place)
    except MissingTable:
        return None


def get_execution(history: History, owner_id: str, execution_id: str) -> Detail:
    """Return the owner's execution in detail.

    Raises
    ------
    NotFound
        There is none, or it is another owner's.
    """
    found = _find(history, owner_id, execution_id)
    details = find_details(history.log, execution_id) if found.logged else []
    event = find_event(history.hot, parse_execution_id(execution_id).event_id)
    copies = [found.row.ingredients] if found.row else []
    copies += [ingredients for ingredients, _ in details]
    ingredients = next((copy for copy in copies if copy), event.ingredients if event else ERASED)
    own = found.row.progress.run if found.row else None
    attempts = [attempt for _, progress in details if progress.run != own for attempt in progress.attempts]
    if found.row:
        attempts += found.row.progress.attempts
    return Detail(
        item=of_row(found.row) if found.row else of_log(found.logged[-1]),
        ingredients=json.loads(ingredients),
        attempts=tuple(attempts),
        due_at=found.row.due_at if found.row else None,
        is_erased=not found.row and not details,
    )


def rerun(history: History, wakeups: Queue, owner_id: str, execution_id: str) -> None:
    """Run a finished execution again, from its first action, with the same idempotency keys.

    Raises
    ------
    NotFound
        See `get_execution`.
    Stale
        It has not finished, or its payload has been erased.
    """

    def unit() -> None:
        found = _find(history, owner_id, execution_id)
        if found.row is None:
            _put_back(history, found.logged[-1])
        elif found.row.wake_at is not None:
            raise Stale("The execution has not finished.")
        else:
            _requeue(history, found.row)

    run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)
    send_wakeups(wakeups, [execution_id])


def _requeue(history: History, row: ExecutionRow) -> None:
    slot = parse_execution_id(row.execution_id).slot
    if row.place not in (slot, WAITING):
        raise Stale(_MOVING)
    now = now_ms()
    script = Script()
    before = row.progress
    progress = Progress(
        attempts=bounded(before.attempts),
        note=before.note,
        trigger_service=before.trigger_service,
        # One that waits apart may be in the log by the time that this is written: then this is another run.
        run=before.run + (row.place == WAITING),
    )
    requeue(script, row, progress=progress, now=now, wake_at=now + WAKE_GRACE_MS)
    if row.place == slot:
        keep_open(script, slot)
    try:
        rows = read_executions(history.hot, script, [row.execution_id], places={row.execution_id: row.place})
    except MissingTable as error:
        raise Stale(_MOVING) from error
    except GuardFailed as error:
        if error.column == "reopened":
            raise Stale(_MOVING) from error
        raise Stale("The execution has changed meanwhile: look at it again.") from error
    if row.execution_id not in rows:
        raise Stale(_MOVING)


def _put_back(history: History, last: LogRow) -> None:
    """Queue an execution of the history again, as a run of its own."""
    event = find_event(history.hot, parse_execution_id(last.execution_id).event_id)
    details = find_details(history.log, last.execution_id)
    ingredients = next((copy for copy, _ in details if copy), "")
    if not ingredients and (event is None or event.ingredients == ERASED):
        raise Stale("The execution's payload has been erased, so it can't run again.")
    now = now_ms()
    script = Script()
    put_back(
        script,
        execution_id=last.execution_id,
        applet_id=last.applet_id,
        owner_id=last.owner_id,
        occurred_at=last.occurred_at,
        now=now,
        wake_at=now + WAKE_GRACE_MS,
        ingredients=ingredients,
        progress=Progress(note=last.note, trigger_service=last.trigger_service, run=last.run + 1),
    )
    try:
        history.hot.execute(script.sql)
    except Duplicate as error:
        raise Stale("The execution has not finished.") from error
