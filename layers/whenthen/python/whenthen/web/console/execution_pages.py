"""One execution: what came in, what was tried with what answer, why it stands as it does, and running it again."""

from urllib.parse import quote

from starlette.responses import Response

from whenthen.engine import applets, executions
from whenthen.engine.executions import Detail
from whenthen.engine.identity import parse_execution_id
from whenthen.errors import FieldError, Stale
from whenthen.store.applets import find_applet
from whenthen.store.executions import State
from whenthen.store.progress import Progress
from whenthen.web.console import reasons
from whenthen.web.console.activity_pages import PATH
from whenthen.web.console.attempts import read_runs, time_words
from whenthen.web.console.visit import Visit

_UNDER_WAY = {State.QUEUED, State.RUNNING, State.WAITING}
_REPEATABLE = {State.FAILED, State.UNKNOWN}


def show(visit: Visit) -> Response:
    """An execution; for a page that is open already, what has changed of it."""
    detail = _find(visit)
    if visit.is_fragment and visit.query.get("seen") == _mark(detail):
        return Response(status_code=204)
    return _page(visit, detail)


def take_rerun(visit: Visit) -> Response:
    """Runs it again, all of it or what has failed."""
    execution_id = visit.path["execution_id"]
    runtime = visit.runtime
    only_failed = visit.text("what") == "failed"
    try:
        executions.rerun(runtime.history, runtime.wakeups, visit.owner, execution_id, only_failed=only_failed)
    except Stale as error:
        detail = _find(visit)
        if detail.item.state not in _UNDER_WAY:
            return _page(visit, detail, status=409, error=reasons.translated(str(error)))
        # A second click: it is running again already.
    except FieldError as error:
        return _page(visit, _find(visit), status=422, error=reasons.translated(error.message))
    return visit.redirect(_address(execution_id))


def _find(visit: Visit) -> Detail:
    return executions.get_execution(visit.runtime.history, visit.owner, visit.path["execution_id"])


def _address(execution_id: str) -> str:
    return f"{PATH}/{quote(execution_id, safe='')}"


def _page(visit: Visit, detail: Detail, *, status: int = 200, error: str = "") -> Response:
    item = detail.item
    row = find_applet(visit.runtime.database, item.applet_id)
    is_under_way = item.state in _UNDER_WAY
    address = _address(item.execution_id)
    return visit.page(
        "activity/detail.html" if visit.is_fragment else "activity/execution.html",
        status=status,
        error=error,
        item=item,
        detail=detail,
        event_id=parse_execution_id(item.execution_id).event_id,
        applet_name=applets.parse(row).name if row else "",
        has_applet=row is not None and row.deleted_at is None,
        runs=read_runs(detail.attempts),
        duration=time_words(Progress(attempts=detail.attempts).duration) if detail.attempts else "",
        rerun="" if is_under_way else address,
        may_rerun_failed=item.state in _REPEATABLE,
        is_fragment=visit.is_fragment,
        live=f"{address}?seen={quote(_mark(detail))}" if is_under_way else "",
    )


def _mark(detail: Detail) -> str:
    """Return what changes when there is something new to show."""
    item = detail.item
    return f"{item.state}.{item.run}.{len(detail.attempts)}.{detail.due_at or 0}"
