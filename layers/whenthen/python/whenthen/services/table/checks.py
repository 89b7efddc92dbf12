"""Which rows are new in a table."""

import json

from whenthen.clock import time_text, to_datetime
from whenthen.services.checking import Check, Found, Item
from whenthen.services.owned import TableRow
from whenthen.services.table.fields import NewRowFields

_ROWS = 100
_SOON_MS = 60_000
_SELDOM_MS = 60 * 60_000


def new_row(check: Check[NewRowFields]) -> Found:
    """Return rows that were added since the last check. The first check finds none (R3).

    Whoever adds a row makes the check due, so it is seldom made without one. The second one comes soon: a row that
    was added while nobody listened yet has made nothing due.
    """
    table = check.fields.table
    if check.position is None:
        last = check.owned.rows(table, None, _ROWS).last
        return Found((), {"after": last}, next_check_at=check.now + _SOON_MS)
    after = int(check.position["after"])
    found = check.owned.rows(table, after, _ROWS)
    rows = found.rows
    more = len(rows) == _ROWS
    # What was emptied is passed over. A table never has fewer numbers than before.
    last = rows[-1].number if more else max(found.last, after)
    return Found(
        tuple(_item(table, row) for row in rows),
        {"after": last},
        next_check_at=check.now if more else check.now + _SELDOM_MS,
    )


def _item(table: str, row: TableRow) -> Item:
    return Item(
        unique=str(row.number),
        ingredients={
            "Table": table,
            "RowNumber": str(row.shown_number),
            "AddedAt": time_text(to_datetime(row.added_at)),
            "Values": ", ".join(row.values.values()),
            "RowJson": json.dumps(row.values, ensure_ascii=False),
        },
        occurred_at=row.added_at,
    )
