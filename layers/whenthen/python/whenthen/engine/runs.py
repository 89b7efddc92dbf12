"""A run: what a worker knows of an execution that it has claimed. Pure; `engine.worker` does the talking."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from whenthen.engine.attempts import bounded
from whenthen.model.applet import ActionRef, Applet
from whenthen.model.expressions import ExpressionError, evaluate_filter
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.applets import AppletRow
from whenthen.store.events import ERASED, EventRow
from whenthen.store.executions import ExecutionRow, Outcome, State
from whenthen.store.progress import Progress


@dataclass(slots=True)
class Run:
    """An execution in a worker's hands.

    `step` is the action that is next, `tries` how often it has been tried, `attempts` all that was tried so far,
    `note` and `rerun` (the progress's `run`) what the progress has kept, `place` where the row stands.
    """

    execution_id: str
    owner_id: str
    claim: str
    applet: Applet
    ingredients: dict[str, Any]
    step: int
    tries: int
    attempts: list[dict[str, Any]]
    occurred_at: int = 0
    zone: str = DEFAULT_ZONE
    note: str = ""
    rerun: int = 0
    place: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def action(self) -> ActionRef:
        """The action that is next."""
        return self.applet.actions[self.step]

    @property
    def is_done(self) -> bool:
        """Whether no action is left."""
        return self.step >= len(self.applet.actions)

    def next_action(self) -> None:
        """Go on to the next action."""
        self.step += 1
        self.tries = 0

    def outcome(
        self,
        state: State,
        reason: str = "",
        *,
        now: int,
        due_at: int | None = None,
        wake_at: int | None = None,
    ) -> Outcome:
        """Return what to write about the execution: it is final unless the sweep has to look again at `wake_at`."""
        finished_at = now if wake_at is None else None
        progress = Progress(
            actions=fingerprint(self.applet),
            step=self.step,
            tries=self.tries,
            reason=reason,
            attempts=bounded(self.attempts),
            finished_at=finished_at,
            note=self.note,
            trigger_service=self.applet.trigger.service,
            run=self.rerun,
        )
        return Outcome(self.execution_id, self.claim, state, progress, due_at, wake_at, self.place)

    def final_state(self) -> tuple[State, str]:
        """Return the state of an execution whose actions are all done: that of its worst action, and why."""
        # Of a rerun, the last attempt of each action counts; an action may have been removed since the first run.
        last = {a["action"]: a for a in self.attempts if a["action"] < len(self.applet.actions)}
        for state in (State.UNKNOWN, State.FAILED):
            for attempt in last.values():
                if attempt["outcome"] == state:
                    return state, attempt["reason"]
        return State.SUCCEEDED, ""


def begin(execution: ExecutionRow, applet: AppletRow | None, event: EventRow | None) -> Run | tuple[State, str]:
    """Return the run of a claimed execution, or the final state and the reason why there is none.

    Parameters
    ----------
    applet:
        As of the claim: turning an applet off stops what is queued.
    event:
        Needed when the execution has no copy of the ingredients.
    """
    if applet is None or applet.deleted_at is not None:
        return State.SKIPPED, "The applet was deleted."
    if not applet.enabled:
        return State.SKIPPED, "The applet is off."
    ingredients = execution.ingredients or (event.ingredients if event else "")
    if not ingredients:
        return State.FAILED, "The event is not in the database."
    if ingredients == ERASED:
        return State.FAILED, "The event's payload has been erased."
    try:
        definition = Applet.model_validate_json(applet.definition)
    except ValidationError as error:
        return State.FAILED, f"The applet can't be read: {error.errors()[0]['msg']}"
    if execution.progress.actions not in ("", fingerprint(definition)):
        return State.FAILED, "The applet's actions were changed while this execution was waiting; the rest was not run."
    run = Run(
        execution_id=execution.execution_id,
        owner_id=execution.owner_id,
        claim=execution.claim,
        applet=definition,
        ingredients=json.loads(ingredients),
        step=execution.progress.step,
        tries=execution.progress.tries,
        attempts=list(execution.progress.attempts),
        occurred_at=execution.occurred_at,
        note=execution.progress.note,
        rerun=execution.progress.run,
        place=execution.place,
    )
    # A run that has begun has passed its filter.
    return (None if execution.progress.actions else _filtered(run)) or run


def fingerprint(applet: Applet) -> str:
    """Return a short text that is equal for equal actions: an execution goes on only with those it has begun with."""
    text = json.dumps([action.model_dump(mode="json") for action in applet.actions], sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _filtered(run: Run) -> tuple[State, str] | None:
    if run.applet.filter is None:
        return None
    try:
        result = evaluate_filter(run.applet.filter, run.ingredients)
    except ExpressionError as error:
        return State.FAILED, f"The filter could not be evaluated: {error}"
    run.notes.extend(f"filter: {note}" for note in result.notes)
    if result.passed:
        return None
    notes = f" ({'; '.join(result.notes)})" if result.notes else ""
    return State.SKIPPED, f"The filter is false: {run.applet.filter}{notes}"


def ended_early(execution: ExecutionRow, applet: AppletRow | None, state: State, reason: str, *, now: int) -> Outcome:
    """Return what to write about a claimed execution that ends before its first action."""
    service = execution.progress.trigger_service or (trigger_service(applet) if applet else "")
    progress = replace(execution.progress, reason=reason, finished_at=now, trigger_service=service)
    return Outcome(execution.execution_id, execution.claim, state, progress, place=execution.place)


def trigger_service(applet: AppletRow) -> str:
    """Return the service of the applet's trigger, empty when its definition can't be read."""
    try:
        return Applet.model_validate_json(applet.definition).trigger.service
    except ValidationError:
        return ""
