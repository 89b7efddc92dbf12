"""The owner's tables in the management API."""

import hashlib
import secrets
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from whenthen.clock import Deadline, isoformat
from whenthen.engine import cursors, sheets
from whenthen.services.table.rows import row_of
from whenthen.store.database import Database
from whenthen.store.sheets import Sheet, SheetRow, list_sheets, read_all_rows
from whenthen.web.call import Call
from whenthen.web.table_csv import write_csv
from whenthen.wiring import Runtime

_SECONDS = 10.0


class NewRow(BaseModel):
    """The body of POST /api/tables/{name}/rows."""

    model_config = ConfigDict(extra="forbid")

    values: dict[str, str]


def list_all_tables(runtime: Runtime, owner: str, _call: Call) -> Response:
    """The owner's tables, by name."""
    return JSONResponse({"items": [_table(sheet) for sheet in list_sheets(runtime.database, owner)], "next": None})


def list_rows(runtime: Runtime, owner: str, call: Call) -> Response:
    """A page of a table's rows, newest first."""
    limit = call.limit()
    cursor = call.query.get("before")
    sheet = sheets.find_sheet(runtime.database, owner, call.path["name"])
    before = min(cursors.decode_cursor(cursor)[0] if cursor else cursors.LATEST, sheet.last_row + 1)
    rows = sheets.page(runtime.database, sheet, before=before, limit=limit)
    last = before - limit
    following = cursors.encode_cursor(last, sheet.sheet_id) if last > sheet.emptied_to + 1 else None
    items = [_row(row.number - sheet.emptied_to, row) for row in rows]
    return JSONResponse({"items": items, "next": following})


def export_table(runtime: Runtime, owner: str, call: Call) -> Response:
    """A table as CSV, oldest row first."""
    return csv_of(runtime.database, owner, call.path["name"])


def csv_of(database: Database, owner: str, name: str) -> Response:
    """Return the owner's table as a file to download. Raises as `sheets.find_sheet`."""
    sheet = sheets.find_sheet(database, owner, name)
    text = write_csv(sheet.columns, read_all_rows(database, sheet))
    # RFC 6266: the plain name is for those that don't know the other.
    disposition = f"attachment; filename=\"table.csv\"; filename*=UTF-8''{quote(sheet.name, safe='')}.csv"
    headers = {"Content-Disposition": disposition, "X-Content-Type-Options": "nosniff"}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def add_row(runtime: Runtime, owner: str, call: Call) -> Response:
    """A new row, once for an Idempotency-Key; the table is made if there is none."""
    wanted = NewRow.model_validate(call.json_object())
    work = row_of(call.path["name"], wanted.values)
    named = call.idempotency_key
    # Keys of actions are ids of executions: these can't be taken for one.
    digest = hashlib.sha256("\n".join((owner, work.table, named)).encode("utf-8", "surrogatepass")).hexdigest()
    key = f"hand.{digest if named else secrets.token_hex(16)}"
    number, row = sheets.insert_row(runtime.database, owner, key, work, Deadline(_SECONDS))
    return JSONResponse(_row(number, row), 201)


def delete_table(runtime: Runtime, owner: str, call: Call) -> Response:
    """Deletes a table with all its rows."""
    sheets.delete_sheet(runtime.database, owner, call.path["name"])
    return Response(status_code=204)


def _table(sheet: Sheet) -> dict[str, Any]:
    return {
        "name": sheet.name,
        "rows": sheet.rows,
        "columns": list(sheet.columns),
        "bytes": sheet.size,
        "created_at": isoformat(sheet.created_at),
    }


def _row(number: int, row: SheetRow) -> dict[str, Any]:
    return {"row_number": number, "added_at": isoformat(row.added_at), "values": dict(row.values)}
