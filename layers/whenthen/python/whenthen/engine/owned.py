"""An owner's own data, as checks read it from the database."""

from collections.abc import Sequence

from whenthen.engine import phones
from whenthen.services.owned import Fix, Phone, TableRow, TableRows
from whenthen.store import sheets
from whenthen.store.database import Database
from whenthen.store.sheets import sheet_id


class StoredData:
    """See `services.owned.Owned`.

    Parameters
    ----------
    database:
        Where it is.
    owner_id:
        Whose it is.
    """

    def __init__(self, database: Database, owner_id: str) -> None:
        self._database = database
        self._owner_id = owner_id

    def rows(self, table: str, after: int | None, limit: int) -> TableRows:
        """See `Owned.rows`. Raises `StoreError`."""
        sheet = sheets.find_sheet(self._database, sheet_id(self._owner_id, table))
        if sheet is None:
            return TableRows(0)
        if after is None:
            return TableRows(sheet.last_row)
        first = max(after, sheet.emptied_to) + 1
        found = sheets.read_rows(self._database, sheet, range(first, min(first + limit, sheet.last_row + 1)))
        rows = [TableRow(row.number, row.number - sheet.emptied_to, row.added_at, row.values) for row in found]
        return TableRows(sheet.last_row, rows)

    def phones(self) -> Sequence[Phone]:
        """See `Owned.phones`. Raises `StoreError`."""
        return [
            Phone(
                phone.device,
                [Fix(fix.number, fix.at, fix.latitude, fix.longitude, fix.accuracy) for fix in phone.fixes],
            )
            for phone in phones.read_all(self._database, self._owner_id)
        ]
