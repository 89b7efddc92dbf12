"""Rows that were deleted of small tables. The database keeps them, and every scan passes over them (ALOPEX.md 4)."""

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("deletions")


def count_deleted(script: Script, table: str, rows: int) -> None:
    """Add to `script` that about so many `rows` of a table are deleted by it."""
    script.add(_S["insert_deletions"], table=table).add(_S["add_deletions"], table=table, rows=rows)


def sum_deleted(database: Database) -> int:
    """Return how many rows of small tables are dead, until the database is rebuilt."""
    return int(database.execute(Script().add(_S["sum_deletions"]).sql)[0]["dead_rows"] or 0)
