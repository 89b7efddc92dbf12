"""The management API (DESIGN.md 6): what the console function serves."""

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from whenthen.engine import activity, applets, keys
from whenthen.errors import FieldError
from whenthen.model.applet import Applet, Name
from whenthen.services.registry import SERVICES
from whenthen.store.applets import find_applet, list_applets
from whenthen.store.executions import State
from whenthen.store.inbox import list_messages
from whenthen.store.keys import KeyKind, list_keys
from whenthen.web import views
from whenthen.web.body import read_body
from whenthen.web.hooks import CREDENTIAL_HEADERS
from whenthen.web.problems import Unauthenticated, from_error, mapped
from whenthen.wiring import Runtime

MAX_BODY_BYTES = 512 * 1024

type Work = Callable[[Runtime, str, "Call"], Response]


class Call:
    """A request whose body is read and whose owner is known.

    Parameters
    ----------
    request:
        For path, query and headers.
    body:
        The raw body.
    """

    def __init__(self, request: Request, body: bytes) -> None:
        self.path: dict[str, str] = request.path_params
        self.query = request.query_params
        self._if_match = request.headers.get("if-match")
        self._body = body

    def json_object(self) -> dict[str, Any]:
        """Return the body as a JSON object.

        Raises
        ------
        HTTPException
            400: it is not JSON, or not an object.
        """
        try:
            document = json.loads(self._body)
        except (ValueError, RecursionError) as error:
            raise HTTPException(400, f"The body is not JSON: {error}") from error
        if not isinstance(document, dict):
            raise HTTPException(400, "The body must be a JSON object.")
        return document

    def limit(self) -> int:
        """Return the page's length, 50 unless the query says otherwise.

        Raises
        ------
        FieldError
            It is not a number from 1 to 200.
        """
        text = self.query.get("limit", "50")
        if not text.isascii() or not text.isdigit() or len(text) > 3 or not 1 <= int(text) <= activity.MAX_PAGE:
            raise FieldError("limit", f"must be a number from 1 to {activity.MAX_PAGE}")
        return int(text)

    def seen_version(self) -> int | None:
        """Return the version that If-Match names, or None for any.

        Raises
        ------
        FieldError
            It is not a version of ours.
        """
        text = (self._if_match or "*").strip()
        if text == "*":
            return None
        digits = text.removeprefix("W/").strip('"')
        if not digits.isascii() or not digits.isdigit():
            raise FieldError("If-Match", "must be an ETag that this API has given")
        return int(digits[:18])


class NewKey(BaseModel):
    """The body of POST /api/keys."""

    model_config = ConfigDict(extra="forbid")

    kind: KeyKind
    name: Name
    delivery_id_header: (
        Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9-]+$")] | None
    ) = Field(None, description="Request header that names a delivery, for webhook keys.")


def list_services(_runtime: Runtime, _owner: str, _call: Call) -> Response:
    """The catalog."""
    return JSONResponse({"items": [views.service(item) for item in SERVICES.values()], "next": None})


def list_all_applets(runtime: Runtime, owner: str, _call: Call) -> Response:
    """The owner's applets."""
    items = [views.applet(row) for row in list_applets(runtime.database, owner)]
    return JSONResponse({"items": items, "next": None})


def create_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """A new applet."""
    row = applets.create(runtime.database, owner, Applet.model_validate(call.json_object()))
    return _applet(row, status=201)


def get_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """One applet."""
    return _applet(applets.get(runtime.database, owner, call.path["id"]))


def change_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """An applet with some of its top-level members replaced (RFC 7396, one level deep)."""
    changes = call.json_object()
    row = applets.get(runtime.database, owner, call.path["id"])
    seen = call.seen_version()
    merged = Applet.model_validate({**applets.definition_json(applets.parse(row)), **changes})
    # What was merged is what was read: another change in between would be lost.
    return _applet(
        applets.update(
            runtime.database, owner, row.applet_id, merged, seen_version=row.version if seen is None else seen
        )
    )


def delete_applet(runtime: Runtime, owner: str, call: Call) -> Response:
    """Deletes an applet."""
    applets.delete(runtime.database, owner, call.path["id"], seen_version=call.seen_version())
    return Response(status_code=204)


def _applet(row: Any, status: int = 200) -> Response:
    return JSONResponse(views.applet(row), status, {"ETag": f'"{row.version}"'})


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


def list_all_keys(runtime: Runtime, owner: str, _call: Call) -> Response:
    """The owner's keys, without the keys themselves."""
    return JSONResponse({"items": [views.key(row) for row in list_keys(runtime.database, owner)], "next": None})


def create_key(runtime: Runtime, owner: str, call: Call) -> Response:
    """A new key, shown this once."""
    wanted = NewKey.model_validate(call.json_object())
    if wanted.delivery_id_header and wanted.kind != "webhook":
        raise FieldError("delivery_id_header", "is for webhook keys")
    if (wanted.delivery_id_header or "").lower() in CREDENTIAL_HEADERS:
        raise FieldError("delivery_id_header", "holds a secret, which is never kept")
    row, key = keys.create(
        runtime.database, owner, wanted.kind, wanted.name, delivery_id_header=wanted.delivery_id_header
    )
    return JSONResponse({**views.key(row), "key": key}, 201)


def revoke_key(runtime: Runtime, owner: str, call: Call) -> Response:
    """Revokes a key."""
    keys.revoke(runtime.database, owner, call.path["id"])
    return Response(status_code=204)


_ROUTES: tuple[tuple[str, str, Work], ...] = (
    ("GET", "/api/services", list_services),
    ("GET", "/api/applets", list_all_applets),
    ("POST", "/api/applets", create_applet),
    ("GET", "/api/applets/{id}", get_applet),
    ("PATCH", "/api/applets/{id}", change_applet),
    ("DELETE", "/api/applets/{id}", delete_applet),
    ("GET", "/api/activity", get_activity),
    ("GET", "/api/executions/{id}", get_execution),
    ("POST", "/api/executions/{id}/rerun", rerun_execution),
    ("GET", "/api/inbox", get_inbox),
    ("GET", "/api/keys", list_all_keys),
    ("POST", "/api/keys", create_key),
    ("DELETE", "/api/keys/{id}", revoke_key),
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
