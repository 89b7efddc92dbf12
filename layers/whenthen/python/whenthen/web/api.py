"""The management API (DESIGN.md 6)."""

from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from whenthen.engine import inbox, keys
from whenthen.services.registry import SERVICES
from whenthen.web import account_routes as account
from whenthen.web import applet_routes, button_links, table_routes, views
from whenthen.web import connection_routes as connections
from whenthen.web import draft_routes as drafts
from whenthen.web import history_routes as history
from whenthen.web import transfer_routes as transfers
from whenthen.web.body import read_body
from whenthen.web.call import Call, Work
from whenthen.web.problems import Unauthenticated, mapped
from whenthen.wiring import Runtime

MAX_BODY_BYTES = 512 * 1024


def list_services(_runtime: Runtime, _owner: str, _call: Call) -> Response:
    """The catalog."""
    return JSONResponse({"items": [views.service(item) for item in SERVICES.values()], "next": None})


def get_inbox(runtime: Runtime, owner: str, call: Call) -> Response:
    """A page of the owner's notifications."""
    rows, following = inbox.page(runtime.database, owner, before=call.query.get("before"), limit=call.limit())
    return JSONResponse({"items": [views.message(row) for row in rows], "next": following})


_ROUTES: tuple[tuple[str, str, Work], ...] = (
    ("GET", "/api/services", list_services),
    ("GET", "/api/applets", applet_routes.list_all_applets),
    ("POST", "/api/applets", applet_routes.create_applet),
    ("GET", "/api/applets/{id}", applet_routes.get_applet),
    ("PATCH", "/api/applets/{id}", applet_routes.change_applet),
    ("DELETE", "/api/applets/{id}", applet_routes.delete_applet),
    ("POST", "/api/applets/{id}/check", applet_routes.check_applet),
    ("POST", "/api/applets/{id}/duplicate", applet_routes.duplicate_applet),
    ("POST", "/api/applets/{id}/restore", applet_routes.restore_applet),
    ("GET", "/api/export", transfers.export_all),
    ("POST", "/api/import", transfers.import_all),
    ("POST", "/api/applets/{id}/link", button_links.create_link),
    ("POST", "/api/applets/{id}/try", drafts.try_applet),
    ("POST", "/api/try", drafts.try_draft),
    ("POST", "/api/preview", drafts.look_at_trigger),
    ("POST", "/api/test-calls", drafts.wait_for_call),
    ("GET", "/api/connections", connections.list_all_connections),
    ("POST", "/api/connections", connections.create_connection),
    ("GET", "/api/connections/{id}", connections.get_connection),
    ("PATCH", "/api/connections/{id}", connections.change_connection),
    ("DELETE", "/api/connections/{id}", connections.delete_connection),
    ("POST", "/api/connections/{id}/test", connections.test_connection),
    ("POST", "/api/connections/{id}/authorize", connections.authorize_connection),
    ("GET", "/api/me", account.get_profile),
    ("PATCH", "/api/me", account.change_profile),
    ("GET", "/api/activity", history.get_activity),
    ("GET", "/api/executions/{id}", history.get_execution),
    ("POST", "/api/executions/{id}/rerun", history.rerun_execution),
    ("GET", "/api/stats", history.get_stats),
    ("GET", "/api/inbox", get_inbox),
    ("GET", "/api/tables", table_routes.list_all_tables),
    ("GET", "/api/tables/{name}.csv", table_routes.export_table),
    ("DELETE", "/api/tables/{name}", table_routes.delete_table),
    ("GET", "/api/tables/{name}/rows", table_routes.list_rows),
    ("POST", "/api/tables/{name}/rows", table_routes.add_row),
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
    found = [Route(path, _endpoint(runtime, methods), methods=list(methods)) for path, methods in works.items()]
    return [*found, connections.callback_route(runtime)]
