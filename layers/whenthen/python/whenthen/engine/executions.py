"""One execution in detail, wherever it stands by now, and running it again."""

import json
from dataclasses import dataclass, replace
from typing import Any

from whenthen.clock import Deadline, now_ms
from whenthen.engine.attempts import bounded
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.items import Item, of_log, of_row
from whenthen.engine.runs import STOPPED, fingerprint
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.errors import FieldError, NotFound, Stale
from whenthen.model.applet import Applet
from whenthen.queues import Queue
from whenthen.store.applets import find_applet
from whenthen.store.errors import Duplicate, GuardFailed, MissingTable
from whenthen.store.events import ERASED, find_event
from whenthen.store.executions import WAITING, ExecutionRow, State, find_execution, put_back, read_executions, requeue
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

    `ingredients`, `answers` (the rows of its queries) and `attempts` are empty when the payload has been erased
    (`is_erased`). `due_at`, epoch milliseconds, is when it can be claimed next, or None.
    """

    item: Item
    ingredients: dict[str, Any]
    answers: tuple[list[dict[str, str]], ...]
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
        answers=found.row.progress.answers if found.row else details[-1][1].answers if details else (),
        attempts=tuple(attempts),
        due_at=found.row.due_at if found.row else None,
        is_erased=not found.row and not details,
    )


def rerun(history: History, wakeups: Queue, owner_id: str, execution_id: str, *, only_failed: bool = False) -> None:
    """Run a finished execution again, with the same idempotency keys. It does not wait for the applet's cool-down.

    Parameters
    ----------
    only_failed:
        Run those actions alone that have not succeeded, without asking the queries and the filter again; otherwise
        everything, from the beginning.

    Raises
    ------
    NotFound
        See `get_execution`.
    Stale
        It has not finished, its payload has been erased, or the actions that failed are not known any more.
    FieldError
        No action has failed.
    """

    def unit() -> None:
        found = _find(history, owner_id, execution_id)
        if found.row is None:
            _put_back(history, found.logged[-1], only_failed=only_failed)
        elif found.row.wake_at is not None:
            raise Stale("The execution has not finished.")
        else:
            _requeue(history, found.row, only_failed=only_failed)

    run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)
    send_wakeups(wakeups, [execution_id])


def _requeue(history: History, row: ExecutionRow, *, only_failed: bool) -> None:
    slot = parse_execution_id(row.execution_id).slot
    if row.place not in (slot, WAITING):
        raise Stale(_MOVING)
    now = now_ms()
    script = Script()
    before = row.progress
    progress = replace(
        _from_the_beginning(before) if not only_failed else _failed_actions(history, row.applet_id, before),
        attempts=bounded(before.attempts),
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


def _put_back(history: History, last: LogRow, *, only_failed: bool) -> None:
    """Queue an execution of the history again, as a run of its own."""
    event = find_event(history.hot, parse_execution_id(last.execution_id).event_id)
    details = find_details(history.log, last.execution_id)
    ingredients = next((copy for copy, _ in details if copy), "")
    if not ingredients and (event is None or event.ingredients == ERASED):
        raise Stale("The execution's payload has been erased, so it can't run again.")
    before = details[-1][1] if details else Progress()
    before = replace(before, note=last.note, trigger_service=last.trigger_service)
    progress = _failed_actions(history, last.applet_id, before) if only_failed else _from_the_beginning(before)
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
        progress=replace(progress, run=last.run + 1),
    )
    try:
        history.hot.execute(script.sql)
    except Duplicate as error:
        raise Stale("The execution has not finished.") from error


def _from_the_beginning(before: Progress) -> Progress:
    return Progress(note=before.note, trigger_service=before.trigger_service, again=True, digest=before.digest)


def _failed_actions(history: History, applet_id: str, before: Progress) -> Progress:
    """Return the progress of a run of those actions that have not succeeded, with the answers of the run before."""
    applet = find_applet(history.hot, applet_id)
    if applet is None or applet.deleted_at is not None:
        raise Stale("The applet was deleted.")
    definition = Applet.model_validate_json(applet.definition)
    if not before.passed:
        raise FieldError("only_failed", "nothing is known of its actions: run the whole execution again")
    if before.actions != fingerprint(definition):
        raise Stale("The applet's actions were changed since: run the whole execution again.")
    last = {a["action"]: a for a in before.attempts if a.get("kind") != "query"}
    # Of what an earlier run was about nothing but its own actions is known; the others had succeeded before.
    wanted = range(len(definition.actions)) if before.only is None else before.only
    only = tuple(index for index in wanted if index not in last or _is_to_do(last[index]))
    if not only:
        raise FieldError("only_failed", "no action has failed")
    return replace(_from_the_beginning(before), actions=before.actions, answers=before.answers, passed=True, only=only)


def _is_to_do(attempt: dict[str, Any]) -> bool:
    """Whether the action's last attempt has left it undone: one that the target skipped on purpose is not."""
    return attempt["outcome"] not in (State.SUCCEEDED, State.SKIPPED) or attempt.get("reason") == STOPPED
