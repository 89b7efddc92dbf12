"""Connections in the management API, and where services send people back to."""

import html

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from whenthen.engine.connections.keeping import ConnectionChange, NewConnection
from whenthen.engine.connections.oauth import NotAuthorized
from whenthen.errors import WhenthenError
from whenthen.store.connections import ConnectionRow
from whenthen.web import views
from whenthen.web.call import Call
from whenthen.web.problems import from_error
from whenthen.wiring import Runtime

CALLBACK_PATH = "/oauth/callback"

_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def list_all_connections(runtime: Runtime, owner: str, _call: Call) -> Response:
    """The owner's connections."""
    rows = runtime.connections.list_all(owner)
    return JSONResponse({"items": [views.connection(row) for row in rows], "next": None})


def create_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """A new connection; with `oauth` the answer says where its owner has to go."""
    wanted = NewConnection.model_validate(call.json_object())
    row = runtime.connections.create(owner, wanted)
    if not wanted.oauth:
        return _connection(row, status=201)
    row, url = runtime.authorizations.start(owner, row.connection_id, _callback_url(runtime, call))
    return _connection(row, status=201, authorize_url=url)


def get_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """One connection."""
    return _connection(runtime.connections.get(owner, call.path["id"]))


def change_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """A connection with another name, or with some of its fields replaced."""
    change = ConnectionChange.model_validate(call.json_object())
    seen = call.seen_version()
    return _connection(runtime.connections.change(owner, call.path["id"], change, seen_version=seen))


def delete_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """Delete a connection that no applet uses."""
    runtime.connections.delete(owner, call.path["id"], seen_version=call.seen_version())
    return Response(status_code=204)


def test_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """Try a connection out now."""
    return _connection(runtime.connections.test(owner, call.path["id"]))


def authorize_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """Start the authorization again, to repair a connection or to let it do more."""
    row, url = runtime.authorizations.start(owner, call.path["id"], _callback_url(runtime, call))
    return _connection(row, authorize_url=url)


def callback_route(runtime: Runtime) -> Route:
    """Return the route that services send people back to. It needs no key: `state` proves who began."""

    async def callback(request: Request) -> Response:
        try:
            row = await run_in_threadpool(runtime.authorizations.finish, dict(request.query_params))
        except NotAuthorized as error:
            return _page("Not connected", str(error), 400)
        except WhenthenError as error:
            return _page(
                "Not connected", "It did not work this time. Start again in whenthen.", from_error(error).status_code
            )
        account = f" as {row.account_name}" if row.account_name else ""
        return _page("Connected", f"{row.connection_name} is connected{account}. You can close this page.", 200)

    return Route(CALLBACK_PATH, callback, methods=["GET"])


def _callback_url(runtime: Runtime, call: Call) -> str:
    return (runtime.settings.public_url or call.base_url).rstrip("/") + CALLBACK_PATH


def _connection(row: ConnectionRow, *, status: int = 200, authorize_url: str | None = None) -> Response:
    document = views.connection(row)
    if authorize_url is not None:
        document["authorize_url"] = authorize_url
    return JSONResponse(document, status, headers={"ETag": f'"{row.version}"'})


def _page(title: str, words: str, status: int) -> Response:
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)} – whenthen</title><h1>{html.escape(title)}</h1><p>{html.escape(words)}</p></html>"
    )
    return HTMLResponse(text, status, headers=_PAGE_HEADERS)
