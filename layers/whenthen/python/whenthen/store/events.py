"""Events: the row whose key makes a second arrival impossible."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("events")
_SEEN_IN_STATEMENT = 1000


ERASED = "{}"
"""The ingredients of an event whose payload has been erased, or that set off nothing."""


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


def reserve_events(script: Script, rows: Sequence[EventRow]) -> None:
    """Add events of one trigger to `script`, received at the same time; one that has arrived before refuses it."""
    script.add(
        _S["reserve_events"],
        trigger_id=rows[0].trigger_id,
        received_at=rows[0].received_at,
        events=_json([[row.event_id, row.occurred_at, json.dumps(row.execution_ids), row.ingredients] for row in rows]),
    )


def remember_events(script: Script, trigger_id: str, events: Mapping[str, int], received_at: int) -> None:
    """Add to `script` that events have been seen and set off nothing, by id with the time they occurred at."""
    rows: list[list[Any]] = [[event_id, occurred_at] for event_id, occurred_at in events.items()]
    for start in range(0, len(rows), _SEEN_IN_STATEMENT):
        script.add(
            _S["remember_events"],
            trigger_id=trigger_id,
            received_at=received_at,
            events=_json(rows[start : start + _SEEN_IN_STATEMENT]),
        )


def _json(rows: list[list[Any]]) -> str:
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


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


def estimate_events(database: Database) -> int:
    """Return about how many events there are, without reading all of them.

    Their ids are hashes, spread evenly: where the thousandth one stands tells how close together they are.
    """
    rows = database.execute(Script().add(_S["find_thousandth_event"]).sql)
    if not rows:
        return int(database.execute(Script().add(_S["count_events"]).sql)[0]["events"])
    thousandth = str(rows[0]["event_id"])
    return int(1000 * 16 ** len(thousandth) / (int(thousandth, 16) + 1))


def _from_row(row: dict[str, Any]) -> EventRow:
    return EventRow(**{**row, "execution_ids": tuple(json.loads(row["execution_ids"]))})
