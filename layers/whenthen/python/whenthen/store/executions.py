"""Executions: one row for each applet that an event sets off, in its slot's table.

A row that outlives its slot moves to `WAITING`; its id stays (`store.slots`).

A change of a row is a compare-and-set. One that comes too late raises `GuardFailed` and refuses its whole script;
`read_executions` then tells which rows may still be changed.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.progress import Progress
from whenthen.store.statements import Script, load

_S = load("executions")


class State(StrEnum):
    """The states of DESIGN.md 2."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


WAITING = "waiting"
"""The place of executions whose slot's table is gone: ``executions_waiting``."""

MAX_DUE = 200
"""The most that `list_due` returns: their attempts together fit an answer."""

NOT_SENDING = -1
"""`sending` when no request that can't be repeated may be on its way."""


@dataclass(frozen=True, slots=True)
class ExecutionRow:
    """An execution. Times are epoch milliseconds.

    `due_at` is None when it can't be claimed, `wake_at` is None when it is final. `claim` names the worker that
    holds it or held it last. `sending` is the index of the action whose request may have left. `ingredients` are its
    event's, as JSON text, or empty when they stand in the event alone. `place` is the last part of its table's name.
    """

    execution_id: str
    applet_id: str
    owner_id: str
    occurred_at: int
    state: str
    due_at: int | None
    wake_at: int | None
    claim: str
    sending: int
    ingredients: str
    progress: Progress
    place: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker writes about an execution that it holds. Fields as in `ExecutionRow`.

    `place` is empty for its slot's table.
    """

    execution_id: str
    claim: str
    state: State
    progress: Progress
    due_at: int | None = None
    wake_at: int | None = None
    place: str = ""


def slot_of(execution_id: str) -> str:
    """Return the slot that an execution's id names.

    Raises
    ------
    ValueError
        It is not the id of an execution.
    """
    slot, dot, rest = execution_id.partition(".")
    if len(slot) != 12 or not (slot.isascii() and slot.isdigit()) or not dot or not rest:
        raise ValueError(f"not the id of an execution: {execution_id!r}")
    return slot


def claim(script: Script, execution_id: str, *, claim: str, now: int, lease_until: int, place: str = "") -> None:
    """Add to `script` that an execution that is due becomes `claim`'s until `lease_until`."""
    script.add(
        _S["claim_execution"],
        place=place or slot_of(execution_id),
        execution_id=execution_id,
        claim=claim,
        now=now,
        lease_until=lease_until,
    )


def mark_sending(script: Script, execution_id: str, *, claim: str, step: int, place: str = "") -> None:
    """Add to `script` that action `step`'s request may leave from here on, if `claim` still holds."""
    script.add(
        _S["mark_sending"],
        place=place or slot_of(execution_id),
        execution_id=execution_id,
        claim=claim,
        step=step,
    )


def record_outcome(script: Script, outcome: Outcome) -> None:
    """Add to `script` what became of the execution, if the claim still holds."""
    script.add(
        _S["record_outcome"],
        place=outcome.place or slot_of(outcome.execution_id),
        execution_id=outcome.execution_id,
        claim=outcome.claim,
        state=outcome.state,
        due_at=outcome.due_at,
        wake_at=outcome.wake_at,
        progress=outcome.progress.to_json(),
    )


def wake_again(script: Script, row: ExecutionRow, wake_at: int) -> None:
    """Add to `script` that the sweep looks at the row again at `wake_at`, unless it has changed."""
    script.add(
        _S["wake_again"],
        place=row.place,
        execution_id=row.execution_id,
        seen_wake_at=row.wake_at,
        wake_at=wake_at,
    )


def release(
    script: Script, row: ExecutionRow, *, state: State, progress: Progress, due_at: int | None, wake_at: int | None
) -> None:
    """Add to `script` that a running execution whose lease ran out becomes `state`."""
    script.add(
        _S["release_execution"],
        place=row.place,
        execution_id=row.execution_id,
        claim=row.claim,
        seen_wake_at=row.wake_at,
        seen_sending=row.sending,
        state=state,
        due_at=due_at,
        wake_at=wake_at,
        progress=progress.to_json(),
    )


def requeue(script: Script, row: ExecutionRow, *, progress: Progress, now: int, wake_at: int) -> None:
    """Add to `script` that a final execution is due again, or refuse it when it is not final or has changed."""
    script.add(
        _S["requeue_execution"],
        place=row.place,
        execution_id=row.execution_id,
        claim=row.claim,
        seen_state=row.state,
        due_at=now,
        wake_at=wake_at,
        progress=progress.to_json(),
    )


def read_executions(
    database: Database,
    script: Script,
    execution_ids: Collection[str],
    *,
    places: Mapping[str, str] = MappingProxyType({}),
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> dict[str, ExecutionRow]:
    """Run `script`, read executions in the same transaction, and return those there are, by id.

    Parameters
    ----------
    places:
        Where those stand that are not in their slot's table, by id.

    Raises
    ------
    MissingTable
        An id names a slot that does not exist.
    StoreError
        See `store.errors`.
    """
    found = {execution_id: places.get(execution_id) or slot_of(execution_id) for execution_id in execution_ids}
    selects = [
        Script().add(_S["read_execution"], place=place, execution_id=execution_id)
        for execution_id, place in found.items()
    ]
    rows = database.execute(script.union(selects).sql, timeout_seconds=timeout_seconds)
    return {row["execution_id"]: from_row(row, found[row["execution_id"]]) for row in rows}


def find_execution(database: Database, execution_id: str, place: str = "") -> ExecutionRow | None:
    """Return the execution in `place`, by default its slot's table, or None.

    Raises
    ------
    ValueError
        See `slot_of`.
    MissingTable
        There is no such slot.
    """
    return read_executions(database, Script(), [execution_id], places={execution_id: place}).get(execution_id)


def list_due(database: Database, place: str, now: int) -> list[ExecutionRow]:
    """Return up to `MAX_DUE` executions of a slot, or of `WAITING`, whose `wake_at` has passed."""
    return [from_row(row, place) for row in database.execute(Script().add(_S["list_due"], place=place, now=now).sql)]


def put_back(
    script: Script,
    *,
    execution_id: str,
    applet_id: str,
    owner_id: str,
    occurred_at: int,
    now: int,
    wake_at: int,
    ingredients: str,
    progress: Progress,
) -> None:
    """Add to `script` that an execution of the history is queued again, in `WAITING`; `Duplicate` if it is there."""
    script.add(
        _S["put_back"],
        execution_id=execution_id,
        applet_id=applet_id,
        owner_id=owner_id,
        occurred_at=occurred_at,
        due_at=now,
        wake_at=wake_at,
        ingredients=ingredients,
        progress=progress.to_json(),
    )


def from_row(row: Mapping[str, Any], place: str) -> ExecutionRow:
    """Return a row of the table of `place` as an execution."""
    return ExecutionRow(**{**row, "progress": Progress.from_json(row["progress"]), "place": place})
