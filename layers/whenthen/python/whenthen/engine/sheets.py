"""The owner's tables: adding rows once each, looking rows up, deleting a table."""

import json
from collections.abc import Sequence
from dataclasses import replace

from whenthen.clock import Deadline, now_ms, time_text, to_datetime
from whenthen.engine.identity import trigger_id
from whenthen.errors import FieldError, NotFound
from whenthen.metrics import Metric, count
from whenthen.services.table.fields import NewRowFields
from whenthen.services.table.rows import MAX_COLUMNS
from whenthen.services.work import AddRow, FindRows, Meaning, Reading, Row
from whenthen.store import sheets as store
from whenthen.store.checks import poke
from whenthen.store.database import Database
from whenthen.store.errors import Conflict, Duplicate, GuardFailed
from whenthen.store.sheets import Sheet, SheetRow
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

MAX_ROWS = 10_000
"""The most rows of a table."""

MAX_BYTES = 4 * 1024 * 1024
"""The most text of a table, as JSON: an export of it fits the answer of a function (6 MB)."""

MAX_ROW_BYTES = 128 * 1024
"""The most text of a row, as JSON: that of an event."""

MAX_SHEETS = 100
"""The most tables of an owner. A table's name may come from a template, and then from a stranger."""

_BY_NUMBER = 100
_SECONDS = 20.0


def find_sheet(database: Database, owner_id: str, name: str) -> Sheet:
    """Return the owner's table.

    Raises
    ------
    NotFound
        There is none of this name, or it has no rows.
    """
    sheet = store.find_sheet(database, store.sheet_id(owner_id, name))
    if sheet is None or not sheet.rows:
        raise NotFound("There is no such table.")
    return sheet


def add_row(database: Database, owner_id: str, key: str, work: AddRow, deadline: Deadline) -> Reading:
    """Add a row, once for `key`, and say how it went.

    Raises
    ------
    StoreError
        The database can't do it now; it may be asked again.
    """
    try:
        insert_row(database, owner_id, key, work, deadline)
    except FieldError as error:
        return Reading(Meaning.FAILED, str(error))
    return Reading(Meaning.SUCCEEDED)


def insert_row(database: Database, owner_id: str, key: str, work: AddRow, deadline: Deadline) -> tuple[int, SheetRow]:
    """Add a row to the table, which is made if there is none, and make its trigger due.

    Parameters
    ----------
    key:
        A row that has it already is left as it is. Keys of all owners share one space.

    Returns
    -------
    tuple
        Its number as it is shown, and the row: the one that was added first with this key.

    Raises
    ------
    FieldError
        The table is full, or the row is too long.
    StoreError
        See `store.errors`.
    """
    identity = trigger_id(owner_id, "table", "new_row", NewRowFields(table=work.table).model_dump(mode="json"))
    values = json.dumps(dict(work.values), ensure_ascii=False, separators=(",", ":"))
    try:
        size = len(values.encode())
    except UnicodeEncodeError as error:
        raise FieldError("values", "hold a character that can't be stored") from error
    if size > MAX_ROW_BYTES:
        raise FieldError("values", f"are too long: a row holds {MAX_ROW_BYTES // 1024} KiB")

    def unit() -> tuple[int, SheetRow]:
        identifier = store.sheet_id(owner_id, work.table)
        found = store.find_sheet(database, identifier, timeout_seconds=deadline.left())
        sheet = replace(found, name=work.table) if found else Sheet(identifier, owner_id, work.table)
        row = SheetRow(sheet.last_row + 1, now_ms(), work.values)
        script = Script()
        try:
            columns = _columns_after(database, sheet, work, size)
        except FieldError:
            # A row that was added before the table was full is no less added.
            if (known := _known(database, sheet, key)) is not None:
                return known
            raise
        store.add_row(script, sheet, columns, key=key, now=row.added_at, values=values, size=size)
        poke(script, identity, row.added_at)
        try:
            database.execute(script.sql, timeout_seconds=deadline.left())
        except Duplicate as error:
            if error.columns != ("row_key",):
                raise GuardFailed("last_row") from error
            if (known := _known(database, sheet, key)) is None:
                count(Metric.LOST_WRITES)
                # Refused as known and not there: only a lost write does that (ALOPEX.md 2).
                raise Conflict from error
            return known
        return _shown(sheet, row), row

    return run_unit(unit, deadline=deadline, repeatable=True)


def _known(database: Database, sheet: Sheet, key: str) -> tuple[int, SheetRow] | None:
    row = store.find_row(database, key)
    # One that was emptied since has no number any more.
    return (max(_shown(sheet, row), 0), row) if row is not None else None


def _shown(sheet: Sheet, row: SheetRow) -> int:
    return row.number - sheet.emptied_to


def _columns_after(database: Database, sheet: Sheet, work: AddRow, size: int) -> tuple[str, ...]:
    """Return the columns that the table has with the row. Raises `FieldError` when it does not fit."""
    columns = tuple(dict.fromkeys((*sheet.columns, *work.values)))
    if sheet.rows >= MAX_ROWS or sheet.size + size > MAX_BYTES:
        raise FieldError(
            "table",
            f"{work.table} is full: a table holds {MAX_ROWS:,} rows or {MAX_BYTES // 2**20} MiB. "
            "Export it and delete it, or write to another one.",
        )
    if len(columns) > MAX_COLUMNS:
        raise FieldError("values", f"would give {work.table} more than {MAX_COLUMNS} columns, which is the most")
    if not sheet.rows and len(store.list_sheets(database, sheet.owner_id)) >= MAX_SHEETS:
        raise FieldError("table", f"{work.table} would be one more than the {MAX_SHEETS} tables that you may have")
    return columns


def find_rows(database: Database, owner_id: str, work: FindRows) -> list[Row]:
    """Return the rows that a look-up finds, newest first: texts by column, with RowNumber and AddedAt.

    A table that is not there has none.

    Raises
    ------
    StoreError
        See `store.errors`.
    """
    sheet = store.find_sheet(database, store.sheet_id(owner_id, work.table))
    if sheet is None or not sheet.rows:
        return []
    if work.column:
        rows = [row for row in _newest_first(database, sheet) if row.values.get(work.column) == work.value]
    else:
        rows = page(database, sheet, before=sheet.last_row + 1, limit=work.limit)
    return [
        {
            **row.values,
            "RowNumber": str(_shown(sheet, row)),
            "AddedAt": time_text(to_datetime(row.added_at)),
        }
        for row in rows[: work.limit]
    ]


def _newest_first(database: Database, sheet: Sheet) -> Sequence[SheetRow]:
    if sheet.rows <= _BY_NUMBER:
        return page(database, sheet, before=sheet.last_row + 1, limit=_BY_NUMBER)
    return store.read_all_rows(database, sheet)[::-1]


def page(database: Database, sheet: Sheet, *, before: int, limit: int) -> list[SheetRow]:
    """Return the `limit` rows before the one with number `before`, newest first."""
    last = min(before - 1, sheet.last_row)
    return store.read_rows(database, sheet, range(last, max(last - limit, sheet.emptied_to), -1))


def delete_sheet(database: Database, owner_id: str, name: str) -> None:
    """Empty the owner's table and all its rows. Broken off, it may be asked again.

    Raises
    ------
    NotFound
        See `find_sheet`.
    StoreError
        See `store.errors`.
    """
    _empty(database, find_sheet(database, owner_id, name))


def empty_sheets(database: Database, owner_id: str) -> None:
    """Empty all tables of the owner. Raises as `delete_sheet`."""
    for sheet in store.list_sheets(database, owner_id):
        _empty(database, sheet)


def _empty(database: Database, sheet: Sheet) -> None:
    def unit() -> None:
        found = store.find_sheet(database, sheet.sheet_id)
        if found is not None and found.rows:
            store.blank_rows(database, found)
            store.empty_sheet(database, found)

    run_unit(unit, deadline=Deadline(_SECONDS), repeatable=True)
