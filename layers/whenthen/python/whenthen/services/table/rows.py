"""What may stand in a table: its name, its columns, a row."""

from collections.abc import Mapping

from whenthen.errors import FieldError
from whenthen.services.work import AddRow

MAX_COLUMNS = 50
"""The most columns of a table."""

MAX_CELL_CHARACTERS = 32_767
"""The most text of a cell: what a cell of Excel holds. Longer text is cut."""

MAX_NAME_CHARACTERS = 100
MAX_COLUMN_CHARACTERS = 64

ROW_INGREDIENTS = ("RowNumber", "AddedAt")
"""What every row that is looked up has besides its columns."""


def table_name(text: str) -> str:
    """Return the name of a table without spaces around it.

    Raises
    ------
    ValueError
        It is none.
    """
    name = text.strip()
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS:
        raise ValueError(f"must have 1 to {MAX_NAME_CHARACTERS} characters")
    if not name.isprintable():
        raise ValueError("must not hold line breaks or other control characters")
    if "/" in name or name in (".", ".."):
        raise ValueError("must not hold a slash or be dots alone: it is a part of the table's address")
    return name


def column_name(text: str) -> str:
    """Return the name of a column without spaces around it.

    Raises
    ------
    ValueError
        It is none.
    """
    name = text.strip()
    if not 1 <= len(name) <= MAX_COLUMN_CHARACTERS:
        raise ValueError(f"must have 1 to {MAX_COLUMN_CHARACTERS} characters")
    if not name.isprintable():
        raise ValueError("must not hold line breaks or other control characters")
    if name in ROW_INGREDIENTS:
        raise ValueError(f"{name} is what every row has by itself")
    return name


def column_values(values: Mapping[str, str]) -> dict[str, str]:
    """Return texts by column, with the columns' names checked.

    Raises
    ------
    ValueError
        A name is none, two are equal, a text holds NUL, or there are too many of them or none.
    """
    found: dict[str, str] = {}
    for written, text in values.items():
        try:
            name = column_name(written)
        except ValueError as error:
            raise ValueError(f"the column {written[:MAX_COLUMN_CHARACTERS]!r} {error}") from error
        if name in found:
            raise ValueError(f"the column {name!r} stands twice")
        if "\x00" in text:
            raise ValueError(f"the column {name!r} must not hold a NUL character")
        found[name] = text
    if not 1 <= len(found) <= MAX_COLUMNS:
        raise ValueError(f"must have 1 to {MAX_COLUMNS} columns")
    return found


def row_of(table: str, values: Mapping[str, str]) -> AddRow:
    """Return the work that adds a row.

    Raises
    ------
    FieldError
        The table's name or a column's can't be one.
    """
    try:
        name = table_name(table)
    except ValueError as error:
        raise FieldError("table", str(error)) from error
    try:
        columns = column_values(values)
    except ValueError as error:
        raise FieldError("values", str(error)) from error
    return AddRow(name, {column: _cell(text) for column, text in columns.items()})


def _cell(text: str) -> str:
    return text if len(text) <= MAX_CELL_CHARACTERS else text[: MAX_CELL_CHARACTERS - 1] + "…"
