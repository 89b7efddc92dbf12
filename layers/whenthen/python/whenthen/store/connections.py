"""Connections as stored: an owner's accounts at services, their secrets sealed."""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("connections")


class ConnectionState(StrEnum):
    """How a connection stands."""

    UNFINISHED = "unfinished"
    """Its owner has not yet given the consent that it needs."""
    WORKING = "working"
    FAILING = "failing"
    """Out of order for now; it is tried on."""
    BROKEN = "broken"
    """Its credentials are not accepted any more; its owner has to repair it."""


@dataclass(frozen=True, slots=True)
class ConnectionRow:
    """A connection. Times are epoch milliseconds.

    `shown` is JSON text, see `engine.connections.contents`. `sealed` opens with `vault.Keyring` for this row alone.
    `failing_since` is set while it is failing or broken, with `message`, words for the owner. `version` rises with
    each change of what the owner has set or the service has given, and when it becomes broken. `claim` gets new
    tokens until `lease_until`.
    """

    connection_id: str
    owner_id: str
    service: str
    connection_name: str
    account_name: str
    shown: str
    sealed: str = field(repr=False)
    state: ConnectionState
    failing_since: int | None
    message: str
    version: int
    claim: str
    lease_until: int
    created_at: int
    updated_at: int
    deleted_at: int | None


def find_connection(
    database: Database, connection_id: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> ConnectionRow | None:
    """Return the connection, deleted or not, or None."""
    return read_connections(database, [connection_id], timeout_seconds=timeout_seconds).get(connection_id)


def read_connections(
    database: Database, connection_ids: Collection[str], *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> dict[str, ConnectionRow]:
    """Return the connections there are of at most 100, deleted or not, by id."""
    return _read(database, Script(), connection_ids, timeout_seconds)


def list_connections(database: Database, owner_id: str) -> list[ConnectionRow]:
    """Return the owner's connections that are not deleted, newest first."""
    return [_from_row(row) for row in database.execute(Script().add(_S["list_connections"], owner_id=owner_id).sql)]


def has_sealed(database: Database) -> bool:
    """Say if there are secrets that a key is needed for."""
    return bool(database.execute(Script().add(_S["count_sealed"]).sql)[0]["sealed_rows"])


def insert_connection(script: Script, row: ConnectionRow) -> None:
    """Add the new connection to `script`."""
    script.add(
        _S["insert_connection"],
        connection_id=row.connection_id,
        owner_id=row.owner_id,
        service=row.service,
        connection_name=row.connection_name,
        account_name=row.account_name,
        shown=row.shown,
        sealed=row.sealed,
        state=row.state,
        failing_since=row.failing_since,
        message=row.message,
        now=row.created_at,
    )


def update_connection(script: Script, row: ConnectionRow, *, seen_version: int) -> None:
    """Add to `script` that the connection becomes `row`, or refuse it when its version is not `seen_version`."""
    script.add(
        _S["update_connection"],
        connection_id=row.connection_id,
        version=seen_version,
        connection_name=row.connection_name,
        account_name=row.account_name,
        shown=row.shown,
        sealed=row.sealed,
        state=row.state,
        failing_since=row.failing_since,
        message=row.message,
        now=row.updated_at,
        deleted_at=row.deleted_at,
    )


def claim_connection(
    database: Database, row: ConnectionRow, *, claim: str, now: int, lease_until: int, timeout_seconds: float
) -> ConnectionRow | None:
    """Claim the connection if it is as in `row` and nobody else's at `now`; return it as it is then, ours or not.

    Parameters
    ----------
    claim:
        A name that nobody else uses.
    """
    script = Script().add(
        _S["claim_connection"],
        connection_id=row.connection_id,
        version=row.version,
        claim=claim,
        now=now,
        lease_until=lease_until,
    )
    return _read(database, script, [row.connection_id], timeout_seconds).get(row.connection_id)


def release_connection(script: Script, connection_id: str, *, claim: str) -> None:
    """Add to `script` that `claim` does not hold the connection any more."""
    script.add(_S["release_connection"], connection_id=connection_id, claim=claim)


def mark_failing(script: Script, row: ConnectionRow, *, message: str, now: int) -> None:
    """Add to `script` that a connection that worked is failing since `now`, unless it has changed since it was read."""
    script.add(_S["mark_failing"], connection_id=row.connection_id, version=row.version, message=message, now=now)


def mark_working(script: Script, connection_id: str, *, version: int) -> None:
    """Add to `script` that a connection that was failing works, unless it has changed since it was read."""
    script.add(_S["mark_working"], connection_id=connection_id, version=version)


def _read(
    database: Database, script: Script, connection_ids: Collection[str], timeout: float
) -> dict[str, ConnectionRow]:
    selects = [Script().add(_S["read_connection"], connection_id=connection_id) for connection_id in connection_ids]
    rows = database.execute(script.union(selects).sql, timeout_seconds=timeout)
    return {row["connection_id"]: _from_row(row) for row in rows}


def _from_row(row: dict[str, Any]) -> ConnectionRow:
    return ConnectionRow(**{**row, "state": ConnectionState(row["state"])})
