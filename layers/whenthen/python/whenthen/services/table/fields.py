"""Fields of the table service."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.contract import Fields, unless_templated
from whenthen.services.table.rows import column_name, column_values, table_name

_TITLE = Field(title="Table", description="The table's name, for example Expenses.")


class NewRowFields(Fields):
    """Which table to look at. Nothing but its name: whoever adds a row finds the trigger by it."""

    table: Annotated[str, AfterValidator(table_name), _TITLE]


class AddRowFields(Fields):
    """The row to add."""

    table: Annotated[str, StringConstraints(min_length=1, max_length=1024), unless_templated(table_name), _TITLE]
    values: Annotated[
        dict[str, str],
        AfterValidator(column_values),
        Field(
            title="Values",
            description="What to write into which column. A column that the table does not have yet is added to it.",
        ),
    ]


class FindRowsFields(Fields):
    """Which rows to look for."""

    table: Annotated[str, StringConstraints(min_length=1, max_length=1024), unless_templated(table_name), _TITLE]
    column: Annotated[
        str,
        AfterValidator(lambda text: column_name(text) if text.strip() else ""),
        Field(title="Column", description="The column to look in; empty for the newest rows, whatever is in them."),
    ] = ""
    value: Annotated[
        str,
        StringConstraints(max_length=16384),
        Field(title="Value", description="What the column has to hold, exactly."),
    ] = ""
    limit: Annotated[int, Field(title="Rows", description="How many rows at most, newest first.", ge=1, le=100)] = 10
