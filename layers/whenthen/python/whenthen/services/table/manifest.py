"""What the table service offers."""

from whenthen.services.contract import Action, Ingredient, Query, Service, Trigger
from whenthen.services.table.actions import add_row
from whenthen.services.table.checks import new_row
from whenthen.services.table.fields import AddRowFields, FindRowsFields, NewRowFields
from whenthen.services.table.queries import find_rows

_ROW_NUMBER = Ingredient("RowNumber", "Number of the row in its table, from 1", "12")
_ADDED_AT = Ingredient("AddedAt", "When the row was added, in UTC", "August 23, 2010 at 11:01PM")

SERVICE = Service(
    slug="table",
    name="Tables",
    triggers=(
        Trigger(
            slug="new_row",
            name="New row",
            description="Fires every time a row is added to a table in whenthen, by an applet or by hand. An applet "
            "that adds a row to the table that it listens to goes on for ever.",
            fields=NewRowFields,
            ingredients=(
                Ingredient("Table", "Name of the table", "Expenses"),
                _ROW_NUMBER,
                _ADDED_AT,
                Ingredient("Values", "All cells of the row, with commas between them", "Coffee, 3.20"),
                Ingredient(
                    "RowJson",
                    "The row as JSON; (RowJson|fromjson).Price is the cell of the column Price",
                    '{"What": "Coffee", "Price": "3.20"}',
                ),
            ),
            check=new_row,
            offline=True,
        ),
    ),
    actions=(
        Action(
            slug="add_row",
            name="Add a row",
            description="Adds a row to a table in whenthen, which is made with its first row. A table holds 10,000 "
            "rows or 4 MiB.",
            fields=AddRowFields,
            prepare=add_row,
        ),
    ),
    queries=(
        Query(
            slug="find_rows",
            name="Find rows",
            description="Looks rows up in a table in whenthen, newest first. Each row also gives its columns by "
            "their names.",
            fields=FindRowsFields,
            ingredients=(_ROW_NUMBER, _ADDED_AT),
            prepare=find_rows,
        ),
    ),
)
