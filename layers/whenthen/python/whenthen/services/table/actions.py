"""Actions of the table service."""

from whenthen.services.table.fields import AddRowFields
from whenthen.services.table.rows import row_of
from whenthen.services.work import AddRow, Task


def add_row(task: Task[AddRowFields]) -> AddRow:
    """Return the row that the task's fields describe.

    Raises
    ------
    FieldError
        The table's name can't be one after rendering.
    """
    return row_of(task.fields.table, task.fields.values)
