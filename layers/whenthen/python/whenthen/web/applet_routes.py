"""Applets in the management API."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from whenthen.clock import Deadline
from whenthen.engine import applets
from whenthen.errors import FieldError, Stale
from whenthen.model.applet import Applet
from whenthen.store.applets import AppletRow, list_applets
from whenthen.store.checks import CheckRow, read_checks
from whenthen.store.statements import MAX_SELECTS
from whenthen.web import views
from whenthen.web.call import Call
from whenthen.wiring import Runtime

_CHECK_SECONDS = 20.0


def list_all_applets(runtime: Runtime, owner: str, _call: Call) -> Response:
    """The owner's applets."""
    rows = list_applets(runtime.database, owner)
    checks = _checks(runtime, rows)
    items = [views.applet(row, checks.get(row.trigger_id)) for row in rows]
    return JSONResponse({"items": items, "next": None})


def create_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """A new applet."""
    row = applets.create(runtime.database, owner, Applet.model_validate(call.json_object()), checks=runtime.checks)
    return _applet(runtime, row, status=201)


def get_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """One applet."""
    return _applet(runtime, applets.get(runtime.database, owner, call.path["id"]))


def change_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """An applet with some of its top-level members replaced (RFC 7396, one level deep)."""
    changes = call.json_object()
    row = applets.get(runtime.database, owner, call.path["id"])
    seen = call.seen_version()
    merged = Applet.model_validate({**applets.definition_json(applets.parse(row)), **changes})
    # What was merged is what was read: another change in between would be lost.
    return _applet(
        runtime,
        applets.update(
            runtime.database,
            owner,
            row.applet_id,
            merged,
            seen_version=row.version if seen is None else seen,
            checks=runtime.checks,
        ),
    )


def delete_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """Deletes an applet."""
    applets.delete(runtime.database, owner, call.path["id"], seen_version=call.seen_version())
    return Response(status_code=204)


class Restoring(BaseModel):
    """The body of POST /api/applets/{id}/restore; it may be left out."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool = Field(False, strict=True, description="Whether the applet is on from now on.")


def restore_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """An applet that was deleted in the last days, as it was, off unless the body says otherwise."""
    wanted = Restoring.model_validate(call.json_object() if call.has_body else {})
    row = applets.restore(runtime.database, owner, call.path["id"], enabled=wanted.enabled, checks=runtime.checks)
    return _applet(runtime, row)


def duplicate_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """A copy of an applet, off."""
    return _applet(runtime, applets.duplicate(runtime.database, owner, call.path["id"]), status=201)


def check_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """Checks an applet's trigger now, for all applets that share it."""
    row = applets.get(runtime.database, owner, call.path["id"])
    if not row.enabled:
        raise Stale("The applet is off: nothing is checked for it.")
    if row.trigger_id not in _checks(runtime, [row]):
        raise FieldError("trigger", "is not checked: its events arrive by themselves")
    report = runtime.checks.check_now(row.trigger_id, Deadline(_CHECK_SECONDS))
    if report is None:
        raise Stale("The applet is off: nothing is checked for it.")
    check = _checks(runtime, [row])[row.trigger_id]
    return JSONResponse({"fired": report.fired, "failure": report.failure, "check": views.check(check)})


def _applet(runtime: Runtime, row: AppletRow, status: int = 200) -> Response:
    check = _checks(runtime, [row]).get(row.trigger_id)
    return JSONResponse(views.applet(row, check), status, {"ETag": f'"{row.version}"'})


def _checks(runtime: Runtime, rows: Sequence[AppletRow]) -> dict[str, CheckRow]:
    ids = list(dict.fromkeys(row.trigger_id for row in rows))
    found: dict[str, CheckRow] = {}
    for start in range(0, len(ids), MAX_SELECTS):
        found |= read_checks(runtime.database, ids[start : start + MAX_SELECTS])
    return found
