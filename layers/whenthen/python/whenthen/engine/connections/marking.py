"""Writing down that a connection does not work, and telling its owner."""

from dataclasses import replace

from whenthen.clock import Deadline, now_ms
from whenthen.store.connections import (
    ConnectionRow,
    ConnectionState,
    mark_failing,
    release_connection,
    update_connection,
)
from whenthen.store.database import Database
from whenthen.store.inbox import Message, insert_message
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

_TIMEOUT_SECONDS = 10.0


def write_broken(database: Database, row: ConnectionRow, reason: str, deadline: Deadline, *, claim: str = "") -> None:
    """Mark the connection broken and put a message in its owner's inbox, in one script.

    Parameters
    ----------
    claim:
        What holds the connection for new tokens, and gives it back.

    Raises
    ------
    GuardFailed
        It is not as in `row` any more.
    """
    now = now_ms()
    broken = replace(
        row,
        state=ConnectionState.BROKEN,
        failing_since=row.failing_since if row.failing_since is not None else now,
        message=reason,
        updated_at=now,
    )
    script = Script()
    update_connection(script, broken, seen_version=row.version)
    release_connection(script, row.connection_id, claim=claim)
    # One a version: whoever else finds it out is refused above, and leaves none.
    message = Message(
        message_id=f"connection.{row.connection_id}.{row.version}",
        owner_id=row.owner_id,
        applet_id="",
        execution_id="",
        created_at=now,
        title=f"The connection {row.connection_name} is broken",
        body=f"{reason} Connect it again; what applets could not do with it can be run again then.",
        link="",
    )
    insert_message(script, message)
    database.execute(script.sql, timeout_seconds=deadline.left())


def write_failing(database: Database, row: ConnectionRow, reason: str, *, claim: str) -> None:
    """Note that the connection is out of order for now, and give back what `claim` holds of it."""
    script = Script()
    mark_failing(script, row, message=reason, now=now_ms())
    release_connection(script, row.connection_id, claim=claim)
    run_unit(lambda: database.execute(script.sql), deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)
