"""Queries of the table service."""

from whenthen.errors import FieldError
from whenthen.services.table.fields import FindRowsFields
from whenthen.services.table.rows import table_name
from whenthen.services.work import FindRows, Task


def find_rows(task: Task[FindRowsFields]) -> FindRows:
    """Return the look-up that the task's fields describe.

    Raises
    ------
    FieldError
        The table's name can't be one after rendering.
    """
    fields = task.fields
    try:
        table = table_name(fields.table)
    except ValueError as error:
        raise FieldError("table", str(error)) from error
    return FindRows(table, fields.column, fields.value, fields.limit)
