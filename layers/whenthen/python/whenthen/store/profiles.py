"""What an owner has set for all their applets."""

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("profiles")


def find_zone(database: Database, owner_id: str) -> str | None:
    """Return the owner's time zone, an IANA name, or None if none was ever set."""
    rows = database.execute(Script().add(_S["read_profile"], owner_id=owner_id).sql)
    return str(rows[0]["zone"]) if rows else None


def set_zone(database: Database, owner_id: str, zone: str) -> None:
    """Store the owner's time zone, an IANA name."""
    script = Script()
    put_zone(script, owner_id, zone)
    database.execute(script.sql)


def put_zone(script: Script, owner_id: str, zone: str) -> None:
    """Add the owner's time zone, an IANA name, to `script`."""
    script.add(_S["insert_profile"], owner_id=owner_id, zone=zone)
    script.add(_S["set_zone"], owner_id=owner_id, zone=zone)
