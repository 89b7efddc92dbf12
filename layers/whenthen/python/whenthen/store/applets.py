"""Applets as stored: the owner's definition and what the engine needs beside it."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("applets")


@dataclass(frozen=True, slots=True)
class AppletRow:
    """An applet. `definition` is its JSON text; times are epoch milliseconds."""

    applet_id: str
    owner_id: str
    trigger_id: str
    definition: str
    enabled: bool
    version: int
    created_at: int
    updated_at: int
    deleted_at: int | None


def find_applet(database: Database, applet_id: str) -> AppletRow | None:
    """Return the applet, deleted or not, or None."""
    rows = database.execute(Script().add(_S["read_applet"], applet_id=applet_id).sql)
    return _from_row(rows[0]) if rows else None


def read_applets(database: Database, applet_ids: Collection[str], *, timeout_seconds: float) -> dict[str, AppletRow]:
    """Return the applets there are, deleted or not, by id."""
    selects = [Script().add(_S["read_applet"], applet_id=applet_id) for applet_id in applet_ids]
    rows = database.execute(Script().union(selects).sql, timeout_seconds=timeout_seconds)
    return {row["applet_id"]: _from_row(row) for row in rows}


def list_applets(database: Database, owner_id: str) -> list[AppletRow]:
    """Return the owner's applets that are not deleted, newest first."""
    return [_from_row(row) for row in database.execute(Script().add(_S["list_applets"], owner_id=owner_id).sql)]


def insert_applet(script: Script, row: AppletRow) -> None:
    """Add the new applet to `script`."""
    script.add(
        _S["insert_applet"],
        applet_id=row.applet_id,
        owner_id=row.owner_id,
        trigger_id=row.trigger_id,
        definition=row.definition,
        enabled=row.enabled,
        now=row.created_at,
    )


def insert_applets(script: Script, owner_id: str, rows: Sequence[AppletRow]) -> None:
    """Add the owner's new applets to `script`. They are off, whatever the rows say."""
    values = [[row.applet_id, row.trigger_id, row.definition, row.created_at] for row in rows]
    script.add(
        _S["insert_applets"],
        owner_id=owner_id,
        applets=json.dumps(values, ensure_ascii=False, separators=(",", ":")),
    )


def restore_applet(script: Script, row: AppletRow, *, seen_version: int) -> None:
    """Add to `script` that the deleted applet becomes `row`, or refuse it when it is not as it was at that version."""
    script.add(
        _S["restore_applet"],
        applet_id=row.applet_id,
        version=seen_version,
        enabled=row.enabled,
        now=row.updated_at,
    )


def update_applet(script: Script, row: AppletRow, *, seen_version: int) -> None:
    """Add to `script` that the applet becomes `row`, or refuse it when its version is not `seen_version`."""
    script.add(
        _S["update_applet"],
        applet_id=row.applet_id,
        version=seen_version,
        trigger_id=row.trigger_id,
        definition=row.definition,
        enabled=row.enabled,
        now=row.updated_at,
        deleted_at=row.deleted_at,
    )


def _from_row(row: dict[str, Any]) -> AppletRow:
    return AppletRow(**row)
