"""Tables as they are, whatever is in them: what copies and compares whole databases works with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from whenthen.store.database import Database, Rows
from whenthen.store.errors import StoreError
from whenthen.store.statements import Script, load

_S = load("tables")

STATEMENT_SECONDS = 300.0
"""How long to wait for one statement: as long as the server itself does (`query_timeout`)."""

SPAN_BYTES = 12 * 1024 * 1024
"""About how much text a span holds. Written as JSON it has to fit an answer, which ends at 100 MiB."""

_MEASURED_ROWS = 50_000
_EXACT_TYPES = {"TEXT", "BIGINT", "BOOLEAN"}
_MONTH_OR_DAY = re.compile(r"_(\d{6}|\d{8})$")
_LAST = "\U0010ffff"
"""After every key."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the database describes it; `null` is YES or NO, `key` is PRI or nothing."""

    name: str
    kind: str
    null: str
    key: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the database describes it.

    `key` is a text column, in the order of which rows are read: the primary key, or the first column of a columnar
    table, which has none; then several rows may have the same.
    """

    name: str
    key: str
    columnar: bool
    columns: tuple[Column, ...]

    @property
    def names(self) -> str:
        """All columns, as a statement lists them."""
        return ", ".join(column.name for column in self.columns)

    @property
    def texts(self) -> str:
        """The columns of text, as a statement lists them."""
        return ", ".join(column.name for column in self.columns if column.kind == "TEXT")


@dataclass(frozen=True, slots=True)
class Span:
    """The `rows` rows after the key `after`, up to and with all those that have the key `edge`; `size` in bytes."""

    after: str
    edge: str
    rows: int
    size: int


def list_tables(database: Database) -> list[str]:
    """Return the names of all tables."""
    return sorted(row["table_name"] for row in database.execute(Script().add(_S["show_tables"]).sql))


def describe(database: Database, name: str) -> Table:
    """Return the table as it is.

    Raises
    ------
    StoreError
        It has no text key, or a column of a type that is not known to be copied exactly.
    """
    rows = database.execute(Script().add(_S["describe_table"], table=name).sql)
    columns = tuple(
        Column(row["column_name"], row["column_type"], row["null"], row["key"], row["default"]) for row in rows
    )
    primary = [column for column in columns if column.key == "PRI"]
    key = (primary or columns)[0]
    inexact = [f"{column.name} is {column.kind}" for column in columns if column.kind not in _EXACT_TYPES]
    if inexact or key.kind != "TEXT":
        raise StoreError(f"{name} can't be copied: {', '.join(inexact) or f'its key {key.name} is no text'}")
    return Table(name, key.name, not primary, columns)


def spans(database: Database, table: Table, after: str = "") -> Iterator[Span]:
    """Yield the spans that follow the key `after`, each of about `SPAN_BYTES` or less.

    Raises
    ------
    StoreError
        A key is empty, or more rows share one than are measured at once; or see `store.errors`.
    """
    if not after:
        script = Script().add(_S["find_empty_key"], table=table.name, key=table.key)
        if database.execute(script.sql, timeout_seconds=STATEMENT_SECONDS):
            raise StoreError(f"{table.name} has a row whose {table.key} is empty")
    for bound in _bounds(table):
        if bound > after:
            for span in _spans(database, table, after, bound):
                yield span
                after = span.edge


def _bounds(table: Table) -> list[str]:
    """Return the keys up to which a table is measured at once.

    Keys of the history begin with the time of a slot, yyyymmddhhmm, and tables are as it grows: a month is measured by
    days, a day by hours.
    """
    match = _MONTH_OR_DAY.search(table.name)
    if not table.columnar or match is None:
        return [_LAST]
    start = match[1]
    parts = range(1, 32) if len(start) == len("yyyymm") else range(24)
    return [*(f"{start}{part:02}{_LAST}" for part in parts), _LAST]


def _spans(database: Database, table: Table, after: str, bound: str) -> Iterator[Span]:
    start = after
    while True:
        names = {"table": table.name, "key": table.key, "texts": table.texts}
        script = Script()
        if table.columnar:
            script.add(_S["measure_segments"], after=start, bound=bound, measured=_MEASURED_ROWS, **names)
        else:
            script.add(_S["measure_rows"], after=start, measured=_MEASURED_ROWS, **names)
        rows = database.execute(script.sql, timeout_seconds=STATEMENT_SECONDS)
        groups = [
            (edge, [int(row["size"]) for row in group]) for edge, group in groupby(rows, lambda row: str(row["edge"]))
        ]
        more = len(rows) == _MEASURED_ROWS
        if more:
            # The rest of this key's rows may follow.
            last, _ = groups.pop()
            if not groups:
                raise StoreError(f"{table.name} has more than {_MEASURED_ROWS} rows with the {table.key} {last}")
        edge, count, size = start, 0, 0
        for key, sizes in groups:
            if count and size + sum(sizes) > SPAN_BYTES:
                yield Span(start, edge, count, size)
                start, count, size = edge, 0, 0
            edge, count, size = key, count + len(sizes), size + sum(sizes)
        if count:
            yield Span(start, edge, count, size)
            start = edge
        if not more:
            return


def read_span(database: Database, table: Table, span: Span) -> Rows:
    """Return the rows of the span, in the order of the key."""
    names = {"table": table.name, "key": table.key, "columns": table.names, "after": span.after}
    script = Script()
    if table.columnar:
        script.add(_S["read_segments_span"], edge=span.edge, **names)
    else:
        script.add(_S["read_rows_span"], rows=span.rows, **names)
    return database.execute(script.sql, timeout_seconds=STATEMENT_SECONDS)


def read_rest(database: Database, table: Table, after: str) -> Rows:
    """Return a row after the key `after`, or none."""
    return read_span(database, table, Span(after, _LAST, 1, 0))


def write_span(database: Database, table: Table, span: Span, file: str) -> None:
    """Let the server write the span to a file, which is replaced."""
    names = {"table": table.name, "key": table.key, "columns": table.names, "after": span.after, "file": file}
    script = Script()
    if table.columnar:
        script.add(_S["write_segments_span"], edge=span.edge, **names)
    else:
        script.add(_S["write_rows_span"], rows=span.rows, **names)
    database.execute(script.sql, timeout_seconds=STATEMENT_SECONDS)


def take_span(script: Script, table: Table, file: str) -> None:
    """Add to `script` that the server takes in what `write_span` has written to the file."""
    script.add(_S["take_span"], table=table.name, file=file)
