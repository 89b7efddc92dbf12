"""What the database holds of an owner besides executions, for erasing it."""

from collections.abc import Mapping, Sequence

from whenthen.clock import now_ms
from whenthen.store.database import Database
from whenthen.store.deletions import count_deleted
from whenthen.store.literals import SqlValue
from whenthen.store.statements import Script, Statement, load

_S = load("erasing")

_CHANGED_AT_ONCE = 20


def request_erasure(database: Database, owner_id: str) -> None:
    """Write down that the owner's data is to be erased."""
    script = Script()
    for statement in (_S["request_erasure"], _S["renew_erasure"]):
        script.add(statement, owner_id=owner_id, now=now_ms())
    database.execute(script.sql)


def list_erasures(database: Database) -> list[str]:
    """Return the owners whose data is still to be erased."""
    rows = database.execute(Script().add(_S["list_erasures"]).sql)
    return [row["erased_owner_id"] for row in rows if row["erased_at"] is None]


def list_erased(database: Database) -> set[str]:
    """Return the owners whose data is erased, or is to be."""
    return {row["erased_owner_id"] for row in database.execute(Script().add(_S["list_erasures"]).sql)}


def finish_erasure(database: Database, owner_id: str) -> None:
    """Write down that the owner's data is erased."""
    database.execute(Script().add(_S["finish_erasure"], owner_id=owner_id, now=now_ms()).sql)


def count_executions(database: Database, place: str, owner_id: str) -> int:
    """Return how many executions the owner has in the table of `place`. Raises `MissingTable`."""
    return int(database.execute(Script().add(_S["count_owned"], place=place, owner_id=owner_id).sql)[0]["owned"])


def blank_settings(database: Database, owner_id: str, definition: str) -> None:
    """Empty what the owner has set: names, keys, definitions of applets, connections with their secrets, fields and
    positions of triggers, the inbox.

    Rows that others refer to stay. May be done again.

    Parameters
    ----------
    definition:
        JSON text that takes the place of each applet's.
    """
    script = Script().add(_S["blank_user"], owner_id=owner_id).add(_S["blank_profile"], owner_id=owner_id)
    messages = int(database.execute(Script().add(_S["count_inbox"], owner_id=owner_id).sql)[0]["messages"])
    if messages:
        count_deleted(script, "inbox", messages)
    database.execute(script.add(_S["delete_inbox"], owner_id=owner_id).sql)
    forget_users(database, owner_id)
    forget_connections(database, owner_id)
    for listing, blanking, key, values in (
        (_S["list_owned_keys"], (_S["blank_key"],), "key_hash", {}),
        (_S["list_owned_applets"], (_S["blank_applet"],), "applet_id", {"definition": definition}),
        (_S["list_owned_triggers"], (_S["blank_trigger"], _S["blank_position"]), "trigger_id", {}),
    ):
        _blank(database, owner_id, listing, blanking, key, values)


def forget_connections(database: Database, owner_id: str) -> None:
    """Delete the owner's connections with their secrets, whoever uses them. May be done again."""
    blanking = (_S["blank_connection"],)
    _blank(database, owner_id, _S["list_owned_connections"], blanking, "connection_id", {"now": now_ms()})


def forget_users(database: Database, owner_id: str) -> None:
    """Empty the users of the console who see the owner's data: none of them signs in any more. May be done again."""
    _blank(database, owner_id, _S["list_owned_users"], (_S["blank_console_user"],), "user_key", {})


def _blank(
    database: Database,
    owner_id: str,
    listing: Statement,
    blanking: Sequence[Statement],
    key: str,
    values: Mapping[str, SqlValue],
) -> None:
    ids = [row[key] for row in database.execute(Script().add(listing, owner_id=owner_id).sql)]
    for start in range(0, len(ids), _CHANGED_AT_ONCE):
        script = Script()
        for identifier in ids[start : start + _CHANGED_AT_ONCE]:
            for statement in blanking:
                script.add(statement, **{key: identifier}, **values)
        database.execute(script.sql)
