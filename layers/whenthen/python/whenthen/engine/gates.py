"""What an execution has to pass before its first action: the applet's filter and its cool-down."""

from collections.abc import Sequence
from datetime import UTC
from zoneinfo import ZoneInfo

from whenthen.clock import Deadline, now_ms, to_datetime
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.runs import Run
from whenthen.model.expressions import ExpressionError, evaluate_filter
from whenthen.services.answers import shortened
from whenthen.store.applet_runs import AppletRuns, claim_runs
from whenthen.store.database import Database
from whenthen.store.executions import State
from whenthen.store.units import run_unit

_MINUTE_MS = 60_000


def filtered(run: Run) -> tuple[State, str] | None:
    """Return how the run ends at its applet's filter, and why; None when it passes."""
    if run.applet.filter is None:
        return None
    try:
        result = evaluate_filter(run.applet.filter, run.ingredients)
    except ExpressionError as error:
        return State.FAILED, f"The filter could not be evaluated: {error}"
    run.notes.extend(f"filter: {note}" for note in result.notes)
    if result.passed:
        return None
    if result.reason:
        return State.SKIPPED, shortened(result.reason)
    notes = f" ({'; '.join(result.notes)})" if result.notes else ""
    return State.SKIPPED, f"The filter is false: {run.applet.filter}{notes}"


def cooled_down(database: Database, runs: Sequence[Run], deadline: Deadline) -> dict[str, str]:
    """Return by execution id why runs are skipped that come too soon after the last one of their applet (D16).

    Of two that come at the same time one runs. An execution that the owner runs again does not wait.

    Raises
    ------
    StoreError
        The database did not answer in time.
    """
    wanted = {
        run.execution_id: (
            parse_execution_id(run.execution_id).applet_id,
            run.applet.cool_down_minutes * _MINUTE_MS,
        )
        for run in runs
        if run.applet.cool_down_minutes is not None and not run.kept.again
    }
    if not wanted:
        return {}
    found = run_unit(
        lambda: claim_runs(database, wanted, now=now_ms(), timeout_seconds=deadline.left()),
        deadline=deadline,
        repeatable=True,
    )
    return {
        run.execution_id: _too_soon(run, found[wanted[run.execution_id][0]])
        for run in runs
        if run.execution_id in wanted and found[wanted[run.execution_id][0]].ran_execution != run.execution_id
    }


def _too_soon(run: Run, last: AppletRuns) -> str:
    minutes = run.applet.cool_down_minutes
    ran = to_datetime(last.ran_at).replace(tzinfo=UTC).astimezone(ZoneInfo(run.zone))
    return f"The applet ran at {ran:%H:%M:%S}, and its cool-down is {minutes} minute{'s' if minutes != 1 else ''}."
