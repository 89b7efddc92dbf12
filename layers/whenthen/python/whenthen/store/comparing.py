"""Whether a table is the same in two databases: every row and every column of it, told by the first difference."""

from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from typing import Any

from whenthen.store.database import Database, Rows
from whenthen.store.errors import StoreError
from whenthen.store.tables import Span, Table, read_rest, read_span, spans

type Row = dict[str, Any]


class Differs(StoreError):
    """A table is not the same in both databases; the message names the table, the key and how it differs."""

    def __init__(self, table: Table, key: str | None, how: str) -> None:
        self.table = table.name
        self.key = key
        super().__init__(f"{table.name}: {how}" if key is None else f"{table.name}, {table.key} {key}: {how}")


def compare(source: Database, target: Database, table: Table) -> int:
    """Read the table in both, page by page, compare all of it and return how many rows there are.

    Values are in no message: they may be secrets.

    Raises
    ------
    Differs
        The first difference in the order of the key.
    """
    compared, after = 0, ""
    with ThreadPoolExecutor(2) as pool:
        for span in spans(source, table):

            def read(database: Database, span: Span = span) -> Rows:
                return read_span(database, table, span)

            _compare_pages(table, *pool.map(read, (source, target)))
            compared += span.rows
            after = span.edge
    for row in read_rest(target, table, after):
        raise Differs(table, str(row[table.key]), "is in the copy alone")
    return compared


def _compare_pages(table: Table, theirs: Rows, ours: Rows) -> None:
    # Rows of one key come in any order.
    def order(row: Row) -> tuple[str, str]:
        return str(row[table.key]), repr(row)

    for source, copy in zip_longest(sorted(theirs, key=order), sorted(ours, key=order)):
        if source != copy:
            key = min(str(row[table.key]) for row in (source, copy) if row is not None)
            in_source, in_copy = ([row for row in rows if row[table.key] == key] for rows in (theirs, ours))
            raise Differs(table, key, _how(table, sorted(in_source, key=order), sorted(in_copy, key=order)))


def _how(table: Table, source: Rows, copy: Rows) -> str:
    """Tell how the rows of one key differ."""
    if not copy:
        return "is not in the copy"
    if not source:
        return "is in the copy alone"
    if len(source) != len(copy):
        return f"has {len(source)} rows, and {len(copy)} in the copy"
    pairs = list(zip(source, copy, strict=True))
    names = [column.name for column in table.columns]
    return f"has another {', '.join(name for name in names if any(a[name] != b[name] for a, b in pairs))} in the copy"
