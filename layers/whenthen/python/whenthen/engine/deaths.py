"""What becomes of an execution whose worker has died: pure."""

from dataclasses import dataclass, replace

from pydantic import ValidationError

from whenthen.engine.attempts import Attempt, bounded
from whenthen.engine.runs import fingerprint, stopped
from whenthen.model.applet import Applet
from whenthen.store.applets import AppletRow
from whenthen.store.executions import NOT_SENDING, ExecutionRow, State
from whenthen.store.progress import Progress

MAX_DEATHS = 5
"""How often a worker may die over one action before the execution is given up."""

_UNKNOWN = "The worker stopped after the request may have been sent; no answer is known."
_GIVEN_UP = f"The worker stopped {MAX_DEATHS} times before it could send anything."


@dataclass(frozen=True, slots=True)
class Death:
    """The state that the execution gets, and its progress. It is final unless it is queued."""

    state: State
    progress: Progress


def after_death(row: ExecutionRow, applet: AppletRow | None, now: int) -> Death:
    """Return what becomes of the execution.

    If nothing was sent it is queued again. Otherwise the action's outcome is unknown; the actions after it are done
    if the applet's owner wants that, as after an unknown outcome that a worker sees itself. While the last action's
    outcome is unknown the execution is final, so that an answer that comes late can still replace it.

    Parameters
    ----------
    applet:
        Needed when something was sent.
    now:
        Epoch milliseconds.
    """
    died = replace(row.progress, deaths=row.progress.deaths + 1)
    if row.sending == NOT_SENDING and died.deaths < MAX_DEATHS:
        return Death(State.QUEUED, died)
    state, reason = (State.FAILED, _GIVEN_UP) if row.sending == NOT_SENDING else (State.UNKNOWN, _UNKNOWN)
    definition = _as_begun(row, applet)
    action = definition.actions[died.step] if definition and died.step < len(definition.actions) else None
    attempt = Attempt(
        action=died.step,
        service=action.service if action else "",
        name=action.action if action else "",
        number=died.tries + 1,
        started_at=now,
        finished_at=now,
        outcome=state,
        reason=reason,
    )
    attempts = [*died.attempts, attempt.as_dict()]
    left = _left(definition, died)
    if left and definition is not None and definition.on_failure == "continue":
        progress = replace(died, step=left[0], tries=0, deaths=0, reason=reason, attempts=bounded(attempts))
        return Death(State.QUEUED, progress)
    if definition is not None:
        attempts += [stopped(definition.actions[index], index, now) for index in left]
    return Death(state, replace(died, reason=reason, finished_at=now, attempts=bounded(attempts)))


def _as_begun(row: ExecutionRow, applet: AppletRow | None) -> Applet | None:
    """Return the applet if its actions are still those that the execution has begun with."""
    if applet is None or row.progress.digest:
        return None
    try:
        definition = Applet.model_validate_json(applet.definition)
    except ValidationError:
        return None
    return definition if row.progress.actions in ("", fingerprint(definition)) else None


def _left(definition: Applet | None, progress: Progress) -> list[int]:
    """Return the indexes of the actions that come after the one that is next."""
    if definition is None:
        return []
    later = range(progress.step + 1, len(definition.actions))
    return [index for index in later if progress.only is None or index in progress.only]
