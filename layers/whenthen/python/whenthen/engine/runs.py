"""A run: what a worker knows of an execution that it has claimed. Pure; `engine.worker` does the talking."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from whenthen.engine.attempts import Attempt, bounded
from whenthen.model.applet import ActionRef, Applet, QueryRef, query_name
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.applets import AppletRow
from whenthen.store.events import ERASED, EventRow
from whenthen.store.executions import ExecutionRow, Outcome, State
from whenthen.store.progress import Progress

STOPPED = "It was not run, because an action before it did not succeed."


@dataclass(slots=True)
class Run:
    """An execution in a worker's hands.

    `event` are the trigger's ingredients. `step` is the action that is next, `tries` how often it (or the query that is
    next) has been tried, `attempts` all that was tried so far, `kept` what else of the progress there is, `place` where
    the row stands, `zone` the owner's.
    """

    execution_id: str
    owner_id: str
    claim: str
    applet: Applet
    event: dict[str, Any]
    occurred_at: int
    step: int
    tries: int
    attempts: list[dict[str, Any]]
    kept: Progress
    place: str = ""
    zone: str = DEFAULT_ZONE
    notes: list[str] = field(default_factory=list)

    @property
    def ingredients(self) -> dict[str, Any]:
        """The trigger's ingredients, and the rows of the queries that were answered so far."""
        # Queries may have been removed from the applet since they were answered.
        answers = self.kept.answers[: len(self.applet.queries)]
        rows = {query_name(self.applet, index): rows for index, rows in enumerate(answers)}
        return {**self.event, **rows}

    @property
    def action(self) -> ActionRef:
        """The action that is next."""
        return self.applet.actions[self.step]

    @property
    def query(self) -> QueryRef | None:
        """The query that is next, None when all are answered."""
        index = len(self.kept.answers)
        return self.applet.queries[index] if index < len(self.applet.queries) else None

    @property
    def is_done(self) -> bool:
        """Whether no action is left."""
        return self.step >= len(self.applet.actions)

    def answered(self, rows: list[dict[str, str]]) -> None:
        """Keep the rows of the query that was next."""
        self.kept = replace(self.kept, answers=(*self.kept.answers, rows))
        self.tries = 0

    def pass_on(self) -> None:
        """Note that the execution has passed its filter and its cool-down."""
        self.kept = replace(self.kept, passed=True)
        self.skip_unwanted()

    def wait(self, until: int) -> None:
        """Note that the delay of the next action ends at `until`, epoch milliseconds."""
        self.kept = replace(self.kept, delayed=self.step, waits_until=until)

    def next_action(self) -> None:
        """Go on to the next action."""
        self.step += 1
        self.tries = 0
        self.skip_unwanted()

    def stop(self, now: int) -> None:
        """Leave out the actions that are left, and say so of each."""
        while not self.is_done:
            self.attempts.append(stopped(self.action, self.step, now))
            self.next_action()

    def skip_unwanted(self) -> None:
        """Pass over actions that the owner does not want run again."""
        while self.kept.only is not None and not self.is_done and self.step not in self.kept.only:
            self.step += 1

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
        progress = replace(
            self.kept,
            actions=self.kept.actions or fingerprint(self.applet),
            step=self.step,
            tries=self.tries,
            deaths=0,
            reason=reason,
            attempts=bounded(self.attempts),
            finished_at=now if wake_at is None else None,
            trigger_service=self.applet.trigger.service,
        )
        return Outcome(self.execution_id, self.claim, state, progress, due_at, wake_at, self.place)

    def final_state(self) -> tuple[State, str]:
        """Return the state of an execution whose actions are all done: that of its worst action, and why."""
        # Of a rerun, the last attempt of each action counts; an action may have been removed since the first run.
        tried = [a for a in self.attempts if a.get("kind") != "query" and a["action"] < len(self.applet.actions)]
        last = {a["action"]: a for a in tried}
        for state in (State.UNKNOWN, State.FAILED):
            for attempt in last.values():
                if attempt["outcome"] == state:
                    return state, attempt["reason"]
        if last and all(attempt["outcome"] == State.SKIPPED for attempt in last.values()):
            return State.SKIPPED, next(iter(last.values()))["reason"]
        return State.SUCCEEDED, ""


def stopped(action: ActionRef, index: int, now: int) -> dict[str, Any]:
    """Return the attempt that says that an action was left out."""
    attempt = Attempt(
        action=index,
        service=action.service,
        name=action.action,
        number=0,
        started_at=now,
        finished_at=now,
        outcome=State.SKIPPED,
        reason=STOPPED,
    )
    return attempt.as_dict()


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
    progress = execution.progress
    if progress.passed and progress.actions not in ("", fingerprint(definition)):
        return State.FAILED, "The applet's actions were changed while this execution was waiting; the rest was not run."
    if not progress.passed:
        # No action has begun. What was answered counts for the queries that were asked.
        asked = _digest([query.model_dump(mode="json") for query in definition.queries])
        kept = progress.answers if progress.asked == asked else ()
        progress = replace(progress, actions="", answers=kept, asked=asked)
    run = Run(
        execution_id=execution.execution_id,
        owner_id=execution.owner_id,
        claim=execution.claim,
        applet=definition,
        event=json.loads(ingredients),
        occurred_at=execution.occurred_at,
        step=progress.step,
        tries=progress.tries,
        attempts=list(progress.attempts),
        kept=progress,
        place=execution.place,
    )
    if progress.passed:
        run.skip_unwanted()
    return run


def fingerprint(applet: Applet) -> str:
    """Return a short text that is equal for equal actions: an execution goes on only with those it has begun with."""
    return _digest(
        [{"fields": {}, **action.model_dump(mode="json", exclude_defaults=True)} for action in applet.actions]
    )


def _digest(parts: list[dict[str, Any]]) -> str:
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=8).hexdigest()


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
