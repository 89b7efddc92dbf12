"""For how many days an owner's payloads are kept."""

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("retentions")

DEFAULT_PAYLOAD_DAYS = 30

MAX_PAYLOAD_DAYS = 90
"""Each day is a table, and from some hundreds of tables on every statement takes longer (measured)."""


def find_payload_days(database: Database, owner_id: str) -> int:
    """Return for how many days the owner's payloads are kept."""
    rows = database.execute(Script().add(_S["read_retention"], owner_id=owner_id).sql)
    return int(rows[0]["payload_days"]) if rows else DEFAULT_PAYLOAD_DAYS


def set_payload_days(database: Database, owner_id: str, days: int) -> None:
    """Store for how many days the owner's payloads are kept, 1 to `MAX_PAYLOAD_DAYS`."""
    script = Script().add(_S["insert_retention"], owner_id=owner_id, days=days)
    database.execute(script.add(_S["set_retention"], owner_id=owner_id, days=days).sql)


def list_payload_days(database: Database) -> dict[str, int]:
    """Return the days of the owners that have set them."""
    rows = database.execute(Script().add(_S["list_retentions"]).sql)
    return {row["retention_id"]: int(row["payload_days"]) for row in rows}
