"""Connections in the management API, and where services send people back to."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from whenthen.engine.connections.keeping import ConnectionChange, NewConnection
from whenthen.engine.connections.oauth import NotAuthorized
from whenthen.errors import WhenthenError
from whenthen.store.connections import ConnectionRow
from whenthen.web import views
from whenthen.web.call import Call
from whenthen.web.pages import page
from whenthen.web.problems import from_error
from whenthen.wiring import Runtime

CALLBACK_PATH = "/oauth/callback"

_ALL = '<p><a href="/connections">To the connections</a></p>'


def list_all_connections(runtime: Runtime, owner: str, call: Call) -> Response:
    """The owner's connections."""
    rows = runtime.connections.list_all(owner)
    items = [views.connection(row, _base_url(runtime, call)) for row in rows]
    return JSONResponse({"items": items, "next": None})


def create_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """A new connection; with `oauth` the answer says where its owner has to go."""
    wanted = NewConnection.model_validate(call.json_object())
    row = runtime.connections.create(owner, wanted)
    if not wanted.oauth:
        return _connection(runtime, call, row, status=201)
    row, url = runtime.authorizations.start(owner, row.connection_id, _callback_url(runtime, call))
    return _connection(runtime, call, row, status=201, authorize_url=url)


def get_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """One connection."""
    return _connection(runtime, call, runtime.connections.get(owner, call.path["id"]))


def change_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """A connection with another name, or with some of its fields replaced."""
    change = ConnectionChange.model_validate(call.json_object())
    seen = call.seen_version()
    return _connection(runtime, call, runtime.connections.change(owner, call.path["id"], change, seen_version=seen))


def delete_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """Delete a connection that no applet uses."""
    runtime.connections.delete(owner, call.path["id"], seen_version=call.seen_version())
    return Response(status_code=204)


def test_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """Try a connection out now."""
    return _connection(runtime, call, runtime.connections.test(owner, call.path["id"]))


def authorize_connection(runtime: Runtime, owner: str, call: Call) -> Response:
    """Start the authorization again, to repair a connection or to let it do more."""
    row, url = runtime.authorizations.start(owner, call.path["id"], _callback_url(runtime, call))
    return _connection(runtime, call, row, authorize_url=url)


def callback_route(runtime: Runtime) -> Route:
    """Return the route that services send people back to. It needs no key: `state` proves who began."""

    async def callback(request: Request) -> Response:
        if request.method == "HEAD":
            # What only looks at links must not use one up.
            return page("Not connected", "Use GET.", status=405, headers={"Allow": "GET"})
        try:
            row = await run_in_threadpool(runtime.authorizations.finish, dict(request.query_params))
        except NotAuthorized as error:
            return page("Not connected", str(error), form=_ALL, status=400)
        except WhenthenError as error:
            words = "It did not work this time. Start again in whenthen."
            return page("Not connected", words, form=_ALL, status=from_error(error).status_code)
        account = f" as {row.account_name}" if row.account_name else ""
        back = f'<p><a href="/connections/{row.connection_id}">To the connection</a></p>'
        words = f"{row.connection_name} is connected{account}. You can close this page."
        return page("Connected", words, form=back)

    return Route(CALLBACK_PATH, callback, methods=["GET"])


def _base_url(runtime: Runtime, call: Call) -> str:
    return (runtime.settings.public_url or call.base_url).rstrip("/")


def _callback_url(runtime: Runtime, call: Call) -> str:
    return _base_url(runtime, call) + CALLBACK_PATH


def _connection(
    runtime: Runtime, call: Call, row: ConnectionRow, *, status: int = 200, authorize_url: str | None = None
) -> Response:
    document = views.connection(row, _base_url(runtime, call))
    if authorize_url is not None:
        document["authorize_url"] = authorize_url
    return JSONResponse(document, status, headers={"ETag": f'"{row.version}"'})
