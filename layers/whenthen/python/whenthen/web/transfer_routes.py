"""Applets as files in the management API: out of whenthen and into it."""

from starlette.responses import JSONResponse, Response

from whenthen.engine.exporting import export_applets
from whenthen.engine.importing import import_applets
from whenthen.web import views
from whenthen.web.call import Call
from whenthen.wiring import Runtime


def export_all(runtime: Runtime, owner: str, call: Call) -> Response:
    """The owner's applets, or one, in a form that can be imported."""
    document = export_applets(runtime.database, owner, call.query.get("applet", ""))
    return JSONResponse(document, headers={"Content-Disposition": 'attachment; filename="applets.json"'})


def import_all(runtime: Runtime, owner: str, call: Call) -> Response:
    """Store applets of a file, all of them or none, off. With an Idempotency-Key the same file is stored once."""
    imported = import_applets(
        runtime.database, owner, call.json_object(), key=call.idempotency_key, checks=runtime.checks
    )
    document = {
        "items": [views.applet(row, None) for row in imported.rows],
        "notes": [{"field": note.field, "message": note.message} for note in imported.notes],
    }
    return JSONResponse(document, 201)
