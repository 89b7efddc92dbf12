"""The owner's tables."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from whenthen.engine import sheets
from whenthen.store.sheets import list_sheets
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit, page_number
from whenthen.web.table_routes import csv_of

_PAGE = 50


def show_list(visit: Visit) -> Response:
    """The tables by name."""
    return visit.page(
        "tables/list.html", tables=list_sheets(visit.runtime.database, visit.owner), deleted="deleted" in visit.query
    )


def show_table(visit: Visit) -> Response:
    """A page of a table's rows, newest first."""
    return _table(visit, page_number(visit))


def download_table(visit: Visit) -> Response:
    """A table as a file of CSV."""
    answer = csv_of(visit.runtime.database, visit.owner, visit.path["name"])
    answer.headers["Cache-Control"] = "no-store"
    return answer


def take_deletion(visit: Visit) -> Response:
    """Deletes a table, whose name has to be typed."""
    name = visit.path["name"]
    sheet = sheets.find_sheet(visit.runtime.database, visit.owner, name)
    if visit.text("name") != sheet.name:
        return _table(visit, 1, error=_("is not the name of this table"), status=422)
    sheets.delete_sheet(visit.runtime.database, visit.owner, name)
    return visit.redirect("/tables", deleted="1")


def _table(visit: Visit, number: int, *, error: str = "", status: int = 200) -> Response:
    sheet = sheets.find_sheet(visit.runtime.database, visit.owner, visit.path["name"])
    before = sheet.last_row + 1 - (number - 1) * _PAGE
    if before <= sheet.emptied_to + 1:
        raise HTTPException(404, _("There is no such page."))
    return visit.page(
        "tables/table.html",
        status=status,
        sheet=sheet,
        rows=sheets.page(visit.runtime.database, sheet, before=before, limit=_PAGE),
        number=number,
        has_more=before - _PAGE > sheet.emptied_to + 1,
        error=error,
        typed=visit.text("name"),
    )
