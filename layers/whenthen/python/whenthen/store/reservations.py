"""New executions: what the reservation of an event writes for each applet that listens."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from whenthen.store.executions import slot_of
from whenthen.store.progress import Progress
from whenthen.store.statements import Script, load

_S = load("executions")

COPIED_INGREDIENTS = 1024
"""Ingredients up to this length, characters of JSON, are copied into the execution.

A look-up by key costs as much as all else in a claim once there are SST files (``make bench``, flatness), and each
change of a row writes the whole row, so only what is short is copied.
"""


def reserve_execution(
    script: Script,
    *,
    execution_id: str,
    applet_id: str,
    owner_id: str,
    occurred_at: int,
    now: int,
    wake_at: int,
    ingredients: str,
) -> None:
    """Add a new queued execution, due `now`, to `script`, with its event's `ingredients` if they are short."""
    script.add(
        _S["reserve_execution"],
        place=slot_of(execution_id),
        execution_id=execution_id,
        applet_id=applet_id,
        owner_id=owner_id,
        occurred_at=occurred_at,
        due_at=now,
        wake_at=wake_at,
        ingredients=ingredients if len(ingredients) <= COPIED_INGREDIENTS else "",
    )


@dataclass(frozen=True, slots=True)
class NewExecution:
    """An execution to reserve. Fields as in `ExecutionRow`; `note` and `digest` become parts of its progress."""

    execution_id: str
    applet_id: str
    occurred_at: int
    ingredients: str
    note: str = ""
    digest: bool = False


def reserve_executions(
    script: Script, executions: Sequence[NewExecution], *, owner_id: str, now: int, wake_at: int
) -> None:
    """Add new queued executions of one owner and slot to `script`, due at `now`, which may be later than that."""
    script.add(
        _S["reserve_executions"],
        place=slot_of(executions[0].execution_id),
        owner_id=owner_id,
        due_at=now,
        wake_at=wake_at,
        executions=json.dumps(
            [
                [
                    row.execution_id,
                    row.applet_id,
                    row.occurred_at,
                    row.ingredients if len(row.ingredients) <= COPIED_INGREDIENTS else "",
                    Progress(note=row.note, digest=row.digest).to_json() if row.note or row.digest else "{}",
                ]
                for row in executions
            ],
            ensure_ascii=False,
            separators=(",", ":"),
        ),
    )
