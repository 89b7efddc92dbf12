"""The activity, executions and statistics in the management API."""

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from whenthen.clock import now_ms
from whenthen.engine import activity, applets, days, executions, stats
from whenthen.errors import FieldError
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.applets import find_applet
from whenthen.store.executions import State
from whenthen.store.log import Filters
from whenthen.store.profiles import find_zone
from whenthen.web import views
from whenthen.web.call import Call
from whenthen.wiring import Runtime

_DEFAULT_DAYS = 7
_MAX_TEXT = 200


class Rerun(BaseModel):
    """The body of POST /api/executions/{id}/rerun; it may be left out."""

    model_config = ConfigDict(extra="forbid")

    only_failed: bool = Field(
        False, strict=True, description="Run those actions alone that have not succeeded, instead of everything."
    )


def get_activity(runtime: Runtime, owner: str, call: Call) -> Response:
    """A page of the activity."""
    state = call.query.get("state", "")
    if state and state not in set(State):
        raise FieldError("state", f"must be one of {', '.join(State)}")
    text = call.query.get("text", "")
    if len(text) > _MAX_TEXT:
        raise FieldError("text", f"must be at most {_MAX_TEXT} characters")
    slots = ("", "")
    if (day := call.query.get("day")) is not None:
        slots = days.day_slots(days.read_day(day), find_zone(runtime.database, owner) or DEFAULT_ZONE)
    filters = Filters(call.query.get("applet", ""), state, call.query.get("service", ""), text, *slots)
    page = activity.read_activity(runtime.history, owner, filters, limit=call.limit(), before=call.query.get("before"))
    names = applets.applet_names(runtime.database, owner, {item.applet_id for item in page.items})
    return JSONResponse({"items": [views.activity_item(item, names) for item in page.items], "next": page.next})


def get_execution(runtime: Runtime, owner: str, call: Call) -> Response:
    """One execution with its inputs and attempts."""
    detail = executions.get_execution(runtime.history, owner, call.path["id"])
    found = find_applet(runtime.database, detail.item.applet_id)
    return JSONResponse(views.execution(detail, applets.parse(found).name if found else ""))


def rerun_execution(runtime: Runtime, owner: str, call: Call) -> Response:
    """Runs a finished execution again, all of it or the actions that failed, with the same idempotency keys."""
    wanted = Rerun.model_validate(call.json_object() if call.has_body else {})
    executions.rerun(runtime.history, runtime.wakeups, owner, call.path["id"], only_failed=wanted.only_failed)
    return JSONResponse({"execution_id": call.path["id"], "state": State.QUEUED}, 202)


def get_stats(runtime: Runtime, owner: str, call: Call) -> Response:
    """The owner's statistics: of the last days from the rollups, or of one `day` from the log itself."""
    now = now_ms()
    if (day := call.query.get("day")) is not None:
        if "days" in call.query:
            raise FieldError("day", "stands for itself: leave out days")
        found = stats.count_exactly(runtime.history, owner, days.read_day(day), now=now)
    else:
        number = call.number("days", default=_DEFAULT_DAYS, most=stats.MAX_DAYS)
        found = stats.read_stats(runtime.history, owner, days=number, now=now)
    return JSONResponse(views.stats(found, applets.applet_names(runtime.database, owner, found.applets.keys())))
