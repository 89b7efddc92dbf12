"""Triggers: one row for each distinct (owner, service, trigger, fields, connection), with the applets that listen."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("triggers")

_CONNECTION = "$connection"
"""The member of the stored fields that is the connection: no field can be called so, and the table takes no column."""


@dataclass(frozen=True, slots=True)
class TriggerRow:
    """A trigger. `listeners` are the ids of the applets that are on; `revision` rises with every change.

    `connection` is the id of the connection that it uses, None without one.
    """

    trigger_id: str
    owner_id: str
    service: str
    trigger: str
    fields: str
    listeners: tuple[str, ...]
    revision: int
    connection: str | None = None


def find_trigger(
    database: Database, trigger_id: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> TriggerRow | None:
    """Return the trigger or None."""
    return read_triggers(database, [trigger_id], timeout_seconds=timeout_seconds).get(trigger_id)


def read_triggers(
    database: Database, trigger_ids: Collection[str], *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> dict[str, TriggerRow]:
    """Return the triggers there are of at most 100, by id."""
    selects = [Script().add(_S["read_trigger"], trigger_id=trigger_id) for trigger_id in trigger_ids]
    rows = database.execute(Script().union(selects).sql, timeout_seconds=timeout_seconds)
    return {row["trigger_id"]: from_row(row) for row in rows}


def list_triggers(database: Database, owner_id: str) -> list[TriggerRow]:
    """Return the owner's triggers."""
    return [from_row(row) for row in database.execute(Script().add(_S["list_triggers"], owner_id=owner_id).sql)]


def insert_trigger(script: Script, row: TriggerRow) -> None:
    """Add to `script` that the trigger exists; one that does stays as it is."""
    script.add(
        _S["insert_trigger"],
        trigger_id=row.trigger_id,
        owner_id=row.owner_id,
        service=row.service,
        trigger_name=row.trigger,
        fields=row.fields if row.connection is None else _with_connection(row.fields, row.connection),
    )


def set_listeners(script: Script, row: TriggerRow, listeners: tuple[str, ...]) -> None:
    """Add to `script` the trigger's new listeners, or refuse it when its revision is not `row.revision`."""
    script.add(
        _S["set_listeners"],
        trigger_id=row.trigger_id,
        revision=row.revision,
        listeners=json.dumps(listeners),
    )


def guard(script: Script, row: TriggerRow) -> None:
    """End `script` with one row, or refuse it with `GuardFailed` when the trigger's revision is not `row.revision`."""
    script.add(_S["guard_trigger"], trigger_id=row.trigger_id, revision=row.revision)


def touch(script: Script, trigger_id: str) -> None:
    """Add to `script` that whoever has cached the trigger must read it again."""
    script.add(_S["touch_trigger"], trigger_id=trigger_id)


def from_row(row: dict[str, Any]) -> TriggerRow:
    """Return a row of the table as a trigger."""
    fields, connection = _split(row["fields"])
    return TriggerRow(
        row["trigger_id"],
        row["owner_id"],
        row["service"],
        row["trigger_name"],
        fields,
        tuple(json.loads(row["listeners"])),
        row["revision"],
        connection,
    )


def _with_connection(fields: str, connection: str) -> str:
    return _json({**json.loads(fields), _CONNECTION: connection})


def _split(stored: str) -> tuple[str, str | None]:
    if _CONNECTION not in stored:
        return stored, None
    fields = json.loads(stored)
    connection = fields.pop(_CONNECTION, None)
    return _json(fields), connection


def _json(fields: dict[str, Any]) -> str:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
