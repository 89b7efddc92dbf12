"""How an applet's executions go: when the last one ran, and how many have failed."""

from collections.abc import Mapping
from dataclasses import dataclass

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("applet_runs")


@dataclass(frozen=True, slots=True)
class AppletRuns:
    """How an applet's executions go.

    Parameters
    ----------
    ran_at, ran_execution:
        When the last one passed the cool-down, epoch milliseconds, and which it was.
    failures:
        How many have failed since the applet was turned on or, when `reviewed`, since the last one that succeeded.
    reviewed:
        How many of these have been looked at.
    """

    ran_applet_id: str
    ran_at: int
    ran_execution: str
    failures: int
    reviewed: int


def claim_runs(
    database: Database, wanted: Mapping[str, tuple[str, int]], *, now: int, timeout_seconds: float
) -> dict[str, AppletRuns]:
    """Let executions run whose applet's cool-down is over, and return how their applets stand, by the applet's id.

    An execution may run if it is its applet's `ran_execution` afterwards. To claim twice is to claim once.

    Parameters
    ----------
    wanted:
        By execution id: the applet's id and its cool-down, milliseconds; at most 20.
    now:
        Epoch milliseconds.
    """
    script = Script()
    for execution_id, (applet_id, cool_down) in wanted.items():
        script.add(_S["insert_applet_run"], applet_id=applet_id)
        script.add(
            _S["claim_run"],
            applet_id=applet_id,
            execution_id=execution_id,
            since=now - cool_down,
            ahead=now + cool_down,
            now=now,
        )
    applets = dict.fromkeys(applet_id for applet_id, _ in wanted.values())
    selects = [Script().add(_S["read_applet_run"], applet_id=applet_id) for applet_id in applets]
    rows = database.execute(script.union(selects).sql, timeout_seconds=timeout_seconds)
    return {row["ran_applet_id"]: AppletRuns(**row) for row in rows}


def count_failure(script: Script, applet_id: str) -> None:
    """Add to `script` that an execution of the applet has failed."""
    script.add(_S["insert_applet_run"], applet_id=applet_id).add(_S["count_failure"], applet_id=applet_id)


def list_failing(database: Database) -> list[AppletRuns]:
    """Return up to 200 applets with failures that nobody has looked at."""
    return [AppletRuns(**row) for row in database.execute(Script().add(_S["list_failing"]).sql)]


def note_review(script: Script, runs: AppletRuns, failures: int) -> None:
    """Add to `script` that the failures of `runs` were looked at, and that there are so many in a row."""
    script.add(
        _S["note_review"],
        applet_id=runs.ran_applet_id,
        seen=runs.failures,
        seen_reviewed=runs.reviewed,
        failures=failures,
    )


def forget_failures(script: Script, applet_id: str) -> None:
    """Add to `script` that failures are counted anew."""
    script.add(_S["forget_failures"], applet_id=applet_id)
