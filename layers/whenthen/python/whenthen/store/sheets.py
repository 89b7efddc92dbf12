"""The tables that owners keep in whenthen, called sheets, and their rows; see ``schema/0006_tables.sql``."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import batched
from typing import Any

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import MAX_SELECTS, Script, load

_S = load("sheets")
_BLANKED_AT_ONCE = 100
_NUMBER_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet as it was read. Its rows are those from `emptied_to` + 1 to `last_row`; `size` is theirs, bytes."""

    sheet_id: str
    owner_id: str
    name: str
    columns: tuple[str, ...] = ()
    emptied_to: int = 0
    last_row: int = 0
    size: int = 0
    created_at: int = 0

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return self.last_row - self.emptied_to


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row: its number since the sheet was made, when it was added (epoch milliseconds), and texts by column."""

    number: int
    added_at: int
    values: Mapping[str, str]


def sheet_id(owner_id: str, name: str) -> str:
    """Return the id of the owner's sheet of that name."""
    return hashlib.blake2b(json.dumps([owner_id, name]).encode(), digest_size=16).hexdigest()


def find_sheet(
    database: Database, identifier: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> Sheet | None:
    """Return the sheet, or None when it was never made."""
    script = Script().add(_S["read_sheet"], sheet_id=identifier)
    rows = database.execute(script.sql, timeout_seconds=timeout_seconds)
    return _sheet(rows[0]) if rows else None


def list_sheets(database: Database, owner_id: str) -> list[Sheet]:
    """Return the owner's sheets that have rows, by name."""
    rows = database.execute(Script().add(_S["list_sheets"], owner_id=owner_id).sql)
    return [sheet for row in rows if (sheet := _sheet(row)).rows]


def add_row(
    script: Script, sheet: Sheet, columns: tuple[str, ...], *, key: str, now: int, values: str, size: int
) -> None:
    """Add to `script`, which must be empty, that the sheet has one more row, its number `sheet.last_row` + 1.

    The script is refused with `Duplicate` of `row_key` when a row with this key was ever added, and with another
    error when the sheet is not as it was read.

    Parameters
    ----------
    columns:
        Those of the sheet from now on.
    values, size:
        The row as a JSON object, and its length in bytes.
    """
    script.add(
        _S["insert_row"],
        row_id=_row_id(sheet.sheet_id, sheet.last_row + 1),
        row_key=key,
        added_at=now,
        row_values=values,
    )
    if not sheet.last_row:
        script.add(_S["insert_sheet"], sheet_id=sheet.sheet_id, owner_id=sheet.owner_id, sheet_name=sheet.name, now=now)
    script.add(
        _S["grow_sheet"],
        sheet_id=sheet.sheet_id,
        last_row=sheet.last_row,
        emptied_to=sheet.emptied_to,
        sheet_name=sheet.name,
        column_names=json.dumps(columns, ensure_ascii=False),
        sheet_bytes=sheet.size + size,
    )


def find_row(database: Database, key: str) -> SheetRow | None:
    """Return the row that was added with `key`, or None."""
    rows = database.execute(Script().add(_S["find_row"], row_key=key).sql)
    return _row(rows[0]) if rows else None


def read_rows(database: Database, sheet: Sheet, numbers: Iterable[int]) -> list[SheetRow]:
    """Return the rows with these numbers, in their order; what was emptied is left out."""
    found: dict[int, SheetRow] = {}
    wanted = list(numbers)
    for some in batched(wanted, MAX_SELECTS, strict=False):
        selects = [Script().add(_S["read_row"], row_id=_row_id(sheet.sheet_id, number)) for number in some]
        rows = database.execute(Script().union(selects).sql)
        found |= {row.number: row for row in map(_row, rows) if row.values}
    return [found[number] for number in wanted if number in found]


def read_all_rows(database: Database, sheet: Sheet) -> list[SheetRow]:
    """Return all rows of the sheet, oldest first, in one scan."""
    if not sheet.rows:
        return []
    after = _row_id(sheet.sheet_id, sheet.emptied_to)
    rows = database.execute(Script().add(_S["walk_rows"], after=after, rows=sheet.rows).sql)
    return [row for row in map(_row, rows) if row.values]


def blank_rows(database: Database, sheet: Sheet) -> None:
    """Empty all rows of the sheet. Their keys stay: what was added once is not added again."""
    numbers = range(sheet.emptied_to + 1, sheet.last_row + 1)
    for some in batched(numbers, _BLANKED_AT_ONCE, strict=False):
        script = Script()
        for number in some:
            script.add(_S["blank_row"], row_id=_row_id(sheet.sheet_id, number))
        database.execute(script.sql)


def empty_sheet(database: Database, sheet: Sheet) -> None:
    """Write down that the sheet, whose rows are blanked, has none.

    Raises
    ------
    GuardFailed
        A row has come since the sheet was read.
    """
    script = Script().add(_S["empty_sheet"], sheet_id=sheet.sheet_id, last_row=sheet.last_row)
    database.execute(script.sql)


def _row_id(sheet: str, number: int) -> str:
    return f"{sheet}.{number:0{_NUMBER_DIGITS}}"


def _sheet(row: Mapping[str, Any]) -> Sheet:
    return Sheet(
        row["sheet_id"],
        row["owner_id"],
        row["sheet_name"],
        tuple(json.loads(row["column_names"])),
        row["emptied_to"],
        row["last_row"],
        row["sheet_bytes"],
        row["created_at"],
    )


def _row(row: Mapping[str, Any]) -> SheetRow:
    number = int(row["row_id"].rpartition(".")[2])
    return SheetRow(number, row["added_at"], json.loads(row["row_values"] or "{}"))
