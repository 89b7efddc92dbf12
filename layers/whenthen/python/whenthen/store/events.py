"""Events: the row whose key makes a second arrival impossible."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("events")


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event. `ingredients` is JSON text; times are epoch milliseconds."""

    event_id: str
    trigger_id: str
    occurred_at: int
    received_at: int
    execution_ids: tuple[str, ...]
    ingredients: str


def reserve_event(script: Script, row: EventRow) -> None:
    """Add the event to `script`; one that has arrived before refuses it with `Duplicate`."""
    script.add(
        _S["reserve_event"],
        event_id=row.event_id,
        trigger_id=row.trigger_id,
        occurred_at=row.occurred_at,
        received_at=row.received_at,
        execution_ids=json.dumps(row.execution_ids),
        ingredients=row.ingredients,
    )


def read_events(database: Database, event_ids: Collection[str], *, timeout_seconds: float) -> dict[str, EventRow]:
    """Return the events there are, by id."""
    selects = [Script().add(_S["read_event"], event_id=event_id) for event_id in event_ids]
    rows = database.execute(Script().union(selects).sql, timeout_seconds=timeout_seconds)
    return {row["event_id"]: _from_row(row) for row in rows}


def find_event(
    database: Database, event_id: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> EventRow | None:
    """Return the event or None."""
    return read_events(database, [event_id], timeout_seconds=timeout_seconds).get(event_id)


def _from_row(row: dict[str, Any]) -> EventRow:
    return EventRow(**{**row, "execution_ids": tuple(json.loads(row["execution_ids"]))})
