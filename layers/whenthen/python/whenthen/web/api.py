"""The management API (DESIGN.md 6): what the console function serves."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from whenthen.engine import activity, applets, keys
from whenthen.errors import FieldError
from whenthen.services.registry import SERVICES
from whenthen.store.applets import find_applet, list_applets
from whenthen.store.executions import State
from whenthen.store.inbox import list_messages
from whenthen.web import account_routes as account
from whenthen.web import applet_routes, views
from whenthen.web.body import read_body
from whenthen.web.call import Call, Work
from whenthen.web.problems import Unauthenticated, from_error, mapped
from whenthen.wiring import Runtime

MAX_BODY_BYTES = 512 * 1024


def list_services(_runtime: Runtime, _owner: str, _call: Call) -> Response:
    """The catalog."""
    return JSONResponse({"items": [views.service(item) for item in SERVICES.values()], "next": None})


def get_activity(runtime: Runtime, owner: str, call: Call) -> Response:
    """A page of the activity."""
    state = call.query.get("state", "")
    if state and state not in set(State):
        raise FieldError("state", f"must be one of {', '.join(State)}")
    page = activity.read_activity(
        runtime.database,
        owner,
        applet_id=call.query.get("applet", ""),
        state=state,
        limit=call.limit(),
        before=call.query.get("before"),
    )
    names = {row.applet_id: applets.parse(row).name for row in list_applets(runtime.database, owner)}
    for missing in {row.applet_id for row in page.items} - names.keys():
        if (deleted := find_applet(runtime.database, missing)) is not None:
            names[missing] = applets.parse(deleted).name
    return JSONResponse({"items": [views.activity_item(row, names) for row in page.items], "next": page.next})


def get_execution(runtime: Runtime, owner: str, call: Call) -> Response:
    """One execution with its inputs and attempts."""
    row, ingredients = activity.get_execution(runtime.database, owner, call.path["id"])
    found = find_applet(runtime.database, row.applet_id)
    return JSONResponse(views.execution(row, applets.parse(found).name if found else "", ingredients))


def rerun_execution(runtime: Runtime, owner: str, call: Call) -> Response:
    """Runs a finished execution again, with the same idempotency keys."""
    activity.rerun(runtime.database, runtime.wakeups, owner, call.path["id"])
    return JSONResponse({"execution_id": call.path["id"], "state": State.QUEUED}, 202)


def get_inbox(runtime: Runtime, owner: str, call: Call) -> Response:
    """A page of the owner's notifications."""
    limit = call.limit()
    before = call.query.get("before")
    cursor = activity.decode_cursor(before) if before else activity.NEWEST
    rows = list_messages(runtime.database, owner, before=cursor)
    page = rows[:limit]
    # As many rows as the store reads at once may have more behind them.
    more = len(rows) > limit or len(rows) == activity.MAX_PAGE
    following = activity.encode_cursor(page[-1].created_at, page[-1].message_id) if more else None
    return JSONResponse({"items": [views.message(row) for row in page], "next": following})


_ROUTES: tuple[tuple[str, str, Work], ...] = (
    ("GET", "/api/services", list_services),
    ("GET", "/api/applets", applet_routes.list_all_applets),
    ("POST", "/api/applets", applet_routes.create_applet),
    ("GET", "/api/applets/{id}", applet_routes.get_applet),
    ("PATCH", "/api/applets/{id}", applet_routes.change_applet),
    ("DELETE", "/api/applets/{id}", applet_routes.delete_applet),
    ("POST", "/api/applets/{id}/check", applet_routes.check_applet),
    ("GET", "/api/me", account.get_profile),
    ("PATCH", "/api/me", account.change_profile),
    ("GET", "/api/activity", get_activity),
    ("GET", "/api/executions/{id}", get_execution),
    ("POST", "/api/executions/{id}/rerun", rerun_execution),
    ("GET", "/api/inbox", get_inbox),
    ("GET", "/api/keys", account.list_all_keys),
    ("POST", "/api/keys", account.create_key),
    ("DELETE", "/api/keys/{id}", account.revoke_key),
)


def _endpoint(runtime: Runtime, works: dict[str, Work]) -> Callable[[Request], Awaitable[Response]]:
    @mapped
    async def endpoint(request: Request) -> Response:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise Unauthenticated
        body = await read_body(request, MAX_BODY_BYTES)

        def call() -> Response:
            owner = keys.owner_of(runtime.database, key.strip())
            if owner is None:
                raise Unauthenticated("The API key is not valid.")
            # Starlette lets HEAD in where GET is.
            return works["GET" if request.method == "HEAD" else request.method](runtime, owner, Call(request, body))

        return await run_in_threadpool(call)

    return endpoint


def routes(runtime: Runtime) -> list[Route]:
    """Return the API's routes, one a path, so that a 405 names all its methods."""
    works: dict[str, dict[str, Work]] = {}
    for method, path, work in _ROUTES:
        works.setdefault(path, {})[method] = work
    return [Route(path, _endpoint(runtime, methods), methods=list(methods)) for path, methods in works.items()]


def make_app(runtime: Runtime) -> Starlette:
    """Return the ASGI app of the management API."""
    return Starlette(routes=routes(runtime), exception_handlers={HTTPException: http_problem})


async def http_problem(_request: Request, error: Exception) -> Response:
    """Return what the router refuses (no such path, wrong method) as a problem."""
    return from_error(error)
