"""Events: the row whose key makes a second arrival impossible."""

import json
from dataclasses import dataclass

from whenthen.store.database import Database
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


def reserve_event(script: Script, row: EventRow, *, revision: int) -> None:
    """Add the event to `script`, or refuse it when the trigger's revision is not `revision`."""
    script.add(
        _S["reserve_event"],
        event_id=row.event_id,
        trigger_id=row.trigger_id,
        revision=revision,
        occurred_at=row.occurred_at,
        received_at=row.received_at,
        execution_ids=json.dumps(row.execution_ids),
        ingredients=row.ingredients,
    )


def find_event(database: Database, event_id: str) -> EventRow | None:
    """Return the event or None."""
    rows = database.execute(Script().add(_S["read_event"], event_id=event_id).sql)
    if not rows:
        return None
    row = rows[0]
    return EventRow(
        row["event_id"],
        row["trigger_id"],
        row["occurred_at"],
        row["received_at"],
        tuple(json.loads(row["execution_ids"])),
        row["ingredients"],
    )
