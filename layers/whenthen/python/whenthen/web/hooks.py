"""What the trigger function serves: the Maker-compatible webhook routes (PROTOCOLS.md 1) and the routes beside them."""

from datetime import UTC, datetime

import uuid_utils
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from whenthen.clock import Deadline, now_ms
from whenthen.engine.arrivals import Arrival
from whenthen.engine.listeners import UnknownKey
from whenthen.engine.realtime import Notification, notify, read_notification
from whenthen.errors import FieldError
from whenthen.net.credentials import CREDENTIAL_HEADERS
from whenthen.services.webhooks.triggers import (
    event_ingredients,
    json_event_ingredients,
    read_payload,
    read_values,
)
from whenthen.store.keys import find_key, hash_key
from whenthen.web import button_hooks, location, signed_hooks
from whenthen.web.body import check_form_charset, read_body
from whenthen.web.receiving import check_ingredients, event_header, guarded, store
from whenthen.wiring import Runtime


def make_app(runtime: Runtime) -> Starlette:
    """Return the ASGI app of these routes."""
    return Starlette(routes=routes(runtime))


def routes(runtime: Runtime) -> list[Route]:
    """Return the routes, those of webhooks with and without a trailing slash: clients use both."""

    async def event(request: Request) -> Response:
        name = request.path_params["event"]
        when = datetime.now(UTC)
        body = await read_body(request, runtime.settings.max_body_bytes)
        content_type = request.headers.get("content-type", "")
        pairs = list(request.query_params.multi_items())
        if body and content_type.lower().startswith("multipart/form-data"):
            pairs += await _multipart_values(request)
        values = read_values(pairs, content_type, body)
        arrival = _arrival(request, "event", event_ingredients(name, values, when))
        return await run_in_threadpool(_accept, runtime, arrival, f"Congratulations! You've fired the {name} event")

    async def json_event(request: Request) -> Response:
        name = request.path_params["event"]
        when = datetime.now(UTC)
        body = await read_body(request, runtime.settings.max_body_bytes)
        payload = read_payload(request.query_params.multi_items(), body)
        arrival = _arrival(request, "json_event", json_event_ingredients(name, payload, when))
        return await run_in_threadpool(
            _accept, runtime, arrival, f"Congratulations! You've fired the {name} JSON event"
        )

    async def key_page(request: Request) -> Response:
        return await run_in_threadpool(_key_page, runtime, request)

    async def notifications(request: Request) -> Response:
        notification = read_notification(await read_body(request, runtime.settings.max_body_bytes))
        return await run_in_threadpool(_notify, runtime, request, notification)

    json_path = "/trigger/{event:path}/json/with/key/{key}"
    event_path = "/trigger/{event:path}/with/key/{key}"
    maker = [
        Route(path + slash, guarded(endpoint), methods=methods)
        for path, endpoint, methods in (
            (json_path, json_event, ["GET", "POST"]),
            (event_path, event, ["GET", "POST"]),
            ("/use/{key}", key_page, ["GET"]),
            ("/v1/notifications", notifications, ["POST"]),
        )
        for slash in ("", "/")
    ]
    return [*maker, *signed_hooks.routes(runtime), *button_hooks.routes(runtime), *location.routes(runtime)]


async def _multipart_values(request: Request) -> list[tuple[str, str]]:
    try:
        check_form_charset(request)
        async with request.form() as form:
            return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    except HTTPException as error:
        raise FieldError("body", f"is not multipart form data: {error.detail}") from error


def _arrival(request: Request, trigger: str, ingredients: dict[str, str]) -> Arrival:
    check_ingredients(ingredients)
    headers = {name: value for name, value in request.headers.items() if name not in CREDENTIAL_HEADERS}
    named = headers.get("idempotency-key", "").strip()
    return Arrival(
        key_hash=hash_key(request.path_params["key"]),
        service="webhooks",
        trigger=trigger,
        fields={"event": ingredients["EventName"]},
        unique=f"idempotency-key:{named}" if named else str(uuid_utils.uuid7()),
        ingredients=ingredients,
        occurred_at=now_ms(),
        headers=headers,
    )


def _accept(runtime: Runtime, arrival: Arrival, answer: str) -> Response:
    reservation = store(runtime, arrival, Deadline(runtime.settings.intake_timeout_seconds))
    return PlainTextResponse(answer, headers=event_header(reservation))


def _notify(runtime: Runtime, request: Request, notification: Notification) -> Response:
    """Check at once what a partner names. Partners send their key under one of two names (PROTOCOLS.md B.2)."""
    key = request.headers.get("ifttt-service-key") or request.headers.get("ifttt-channel-key") or ""
    notify(runtime.database, runtime.check_orders, lambda: runtime.accounts, key, notification, now_ms())
    return JSONResponse({})


def _key_page(runtime: Runtime, request: Request) -> Response:
    key = request.path_params["key"]
    found = find_key(runtime.database, hash_key(key))
    if found is None or found.kind != "webhook" or found.revoked_at is not None:
        raise UnknownKey
    base = str(request.base_url).rstrip("/")
    return PlainTextResponse(
        "This key works. To fire an event, make a GET or POST request to\n"
        f"{base}/trigger/{{event}}/with/key/{key}\n"
        "with value1, value2 and value3 in the query, a form or JSON, or any JSON to\n"
        f"{base}/trigger/{{event}}/json/with/key/{key}\n"
    )
