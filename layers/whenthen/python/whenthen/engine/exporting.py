"""An owner's applets as a file that can be kept, read and imported elsewhere."""

from collections.abc import Sequence
from itertools import batched
from typing import Any

from whenthen.clock import isoformat, now_ms
from whenthen.engine.applets import definition_json, get, parse
from whenthen.engine.connections.referring import connections_of
from whenthen.engine.masking import without_secrets
from whenthen.store.applets import AppletRow, list_applets
from whenthen.store.connections import read_connections
from whenthen.store.database import Database
from whenthen.store.statements import MAX_SELECTS

FORMAT = 1
"""The member `whenthen` of a file: how it is to be read."""


def export_applets(database: Database, owner_id: str, applet_id: str = "") -> dict[str, Any]:
    """Return the owner's applets, newest first, as plain JSON values.

    Secrets are masked: those in triggers' own fields. Of connections there are id, service and name.

    Parameters
    ----------
    applet_id:
        Only this one; empty for all.

    Raises
    ------
    NotFound
        See `applets.get`.
    """
    rows = [get(database, owner_id, applet_id)] if applet_id else list_applets(database, owner_id)
    return {
        "whenthen": FORMAT,
        "exported_at": isoformat(now_ms()),
        "applets": [{"id": row.applet_id, **without_secrets(definition_json(parse(row)))} for row in rows],
        "connections": _connections(database, owner_id, rows),
    }


def _connections(database: Database, owner_id: str, rows: Sequence[AppletRow]) -> list[dict[str, str]]:
    found = []
    for ids in batched(sorted(set().union(*(connections_of(parse(row)) for row in rows))), MAX_SELECTS, strict=False):
        found += [row for row in read_connections(database, ids).values() if row.owner_id == owner_id]
    return [{"id": row.connection_id, "service": row.service, "name": row.connection_name} for row in found]
