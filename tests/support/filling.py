"""Writing much to a server's log in little time: it multiplies one text itself, 20 times as fast as it reads texts."""

import itertools
from contextlib import suppress

from whenthen.store.database import Database
from whenthen.store.errors import LogFull

_numbers = itertools.count()


def fill(database: Database, size: int) -> int:
    """Write at least `size` bytes into a table of their own, and not many more; how many they are.

    Raises:
        LogFull: they don't fit.
    """
    written = 0
    while written < size:
        # Many rows of the same text, or one row when it is small.
        text = min(size - written, 128 * 1024)
        rows = max(min((size - written) // text, 256), 1)
        _write(database, text, rows)
        written += text * rows
    return written


def fill_up(database: Database) -> None:
    """Write until not even a row of one letter finds room."""
    for size in (16 * 1024 * 1024, 256 * 1024, 4 * 1024, 1):
        with suppress(LogFull):
            while True:
                fill(database, size)


def _write(database: Database, text: int, rows: int) -> None:
    number = next(_numbers)
    database.execute("CREATE TABLE IF NOT EXISTS filler (filler_id TEXT PRIMARY KEY, content TEXT NOT NULL)")
    database.execute(
        f"INSERT INTO filler SELECT '{number}-' || CAST(value AS TEXT), '{'x' * text}' "
        f"FROM json_each('{list(range(rows))}')",
        timeout_seconds=120,
    )
