"""Executions: one row for each applet that an event sets off, in its slot's table.

All changes are compare-and-set on the row's own columns, written with CASE (ALOPEX.md 4).
"""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from whenthen.store.database import Database
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


NOT_SENDING = -1
"""`sending` when no request that can't be repeated may be on its way."""


@dataclass(frozen=True, slots=True)
class ExecutionRow:
    """An execution. `attempts` is JSON text; times are epoch milliseconds; `step` and `sending` are action indexes."""

    execution_id: str
    event_id: str
    applet_id: str
    owner_id: str
    state: str
    reason: str
    occurred_at: int
    due_at: int
    wake_at: int | None
    claim: str
    step: int
    tries: int
    sending: int
    attempts: str
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class DueRow:
    """What the sweep reads of an execution whose `wake_at` has passed."""

    execution_id: str
    event_id: str
    applet_id: str
    state: str
    wake_at: int
    due_at: int
    claim: str
    step: int
    tries: int
    sending: int
    attempts: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker writes about an execution it has claimed. Fields as in `ExecutionRow`."""

    execution_id: str
    claim: str
    state: State
    reason: str
    due_at: int
    wake_at: int | None
    step: int
    tries: int
    sending: int
    attempts: str
    finished_at: int | None


@dataclass(frozen=True, slots=True)
class Record:
    """A row of one of the three tables that a claim reads at once; which columns mean something depends on `kind`.

    ``execution``: all. ``event``: `body` is its ingredients. ``applet``: `state` is on, off or deleted and
    `body` its definition.
    """

    kind: str
    id: str
    owner_id: str
    event_id: str
    applet_id: str
    claim: str
    state: str
    reason: str
    step: int
    tries: int
    sending: int
    occurred_at: int
    body: str


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


def reserve_execution(
    script: Script,
    *,
    execution_id: str,
    event_id: str,
    applet_id: str,
    owner_id: str,
    occurred_at: int,
    now: int,
    wake_at: int,
) -> None:
    """Add a new queued execution, due `now`, to `script`."""
    script.add(
        _S["reserve_execution"],
        slot=slot_of(execution_id),
        execution_id=execution_id,
        event_id=event_id,
        applet_id=applet_id,
        owner_id=owner_id,
        occurred_at=occurred_at,
        due_at=now,
        wake_at=wake_at,
    )


def claim(script: Script, execution_id: str, *, claim: str, now: int, lease_until: int) -> None:
    """Add to `script` that a queued or waiting execution that is due becomes `claim`'s until `lease_until`."""
    script.add(
        _S["claim_execution"],
        slot=slot_of(execution_id),
        execution_id=execution_id,
        claim=claim,
        now=now,
        lease_until=lease_until,
    )


def mark_sending(script: Script, execution_id: str, *, claim: str, step: int, lease_until: int) -> None:
    """Add to `script` that action `step`'s request may leave from here on, if `claim` still holds."""
    script.add(
        _S["mark_sending"],
        slot=slot_of(execution_id),
        execution_id=execution_id,
        claim=claim,
        step=step,
        lease_until=lease_until,
    )


def record_outcome(script: Script, outcome: Outcome) -> None:
    """Add to `script` what became of the execution, if the claim still holds."""
    values = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
    script.add(_S["record_outcome"], slot=slot_of(outcome.execution_id), **values)


def wake_again(script: Script, row: DueRow, wake_at: int) -> None:
    """Add to `script` that the sweep looks at the row again at `wake_at`."""
    script.add(
        _S["wake_again"],
        slot=slot_of(row.execution_id),
        execution_id=row.execution_id,
        seen_wake_at=row.wake_at,
        wake_at=wake_at,
    )


def release(
    script: Script,
    row: DueRow,
    *,
    state: State,
    reason: str,
    attempts: str,
    wake_at: int | None,
    finished_at: int | None,
) -> None:
    """Add to `script` that a running execution whose lease ran out becomes `state`."""
    script.add(
        _S["release_execution"],
        slot=slot_of(row.execution_id),
        execution_id=row.execution_id,
        claim=row.claim,
        seen_wake_at=row.wake_at,
        seen_sending=row.sending,
        state=state,
        reason=reason,
        attempts=attempts,
        wake_at=wake_at,
        finished_at=finished_at,
    )


def requeue(script: Script, row: ExecutionRow, *, step: int, now: int, wake_at: int) -> None:
    """Add to `script` that a final execution runs again from action `step`, or refuse it when it has changed."""
    script.add(
        _S["requeue_execution"],
        slot=slot_of(row.execution_id),
        execution_id=row.execution_id,
        seen_finished_at=row.finished_at,
        step=step,
        now=now,
        wake_at=wake_at,
    )


def read_records(
    database: Database,
    script: Script,
    *,
    execution_ids: list[str],
    event_ids: set[str] = frozenset(),  # type: ignore[assignment]
    applet_ids: set[str] = frozenset(),  # type: ignore[assignment]
    timeout_seconds: float,
) -> list[Record]:
    """Run `script`, read the rows of the given keys in the same transaction, and return them."""
    selects = [
        Script().add(_S["select_execution"], slot=slot_of(execution_id), execution_id=execution_id)
        for execution_id in execution_ids
    ]
    selects += [Script().add(_S["select_event"], event_id=event_id) for event_id in sorted(event_ids)]
    selects += [Script().add(_S["select_applet"], applet_id=applet_id) for applet_id in sorted(applet_ids)]
    rows = database.execute(script.union(selects).sql, timeout_seconds=timeout_seconds)
    return [Record(**row) for row in rows]


def find_execution(database: Database, execution_id: str) -> ExecutionRow | None:
    """Return the execution or None.

    Raises
    ------
    ValueError
        See `slot_of`.
    MissingTable
        There is no such slot.
    """
    script = Script().add(_S["read_execution"], slot=slot_of(execution_id), execution_id=execution_id)
    rows = database.execute(script.sql)
    return ExecutionRow(**rows[0]) if rows else None


def list_due(database: Database, slot: str, now: int) -> list[DueRow]:
    """Return up to 1,000 executions of the slot whose `wake_at` has passed."""
    rows: list[dict[str, Any]] = database.execute(Script().add(_S["list_due"], slot=slot, now=now).sql)
    return [DueRow(**row) for row in rows]


def list_activity(
    database: Database, slot: str, owner_id: str, *, applet_id: str, state: str, before: tuple[int, str]
) -> list[ExecutionRow]:
    """Return up to 200 of the owner's executions in one slot, newest first.

    Parameters
    ----------
    applet_id, state:
        Only these; empty for all.
    before:
        Time (epoch milliseconds) and id that all returned rows come after in the order.
    """
    script = Script().add(
        _S["list_activity"],
        slot=slot,
        owner_id=owner_id,
        applet_id=applet_id,
        state=state,
        before_at=before[0],
        before_id=before[1],
    )
    return [ExecutionRow(**row) for row in database.execute(script.sql)]
