"""The Maker-compatible webhook routes (PROTOCOLS.md 1): what the trigger function serves."""

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import uuid_utils
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from whenthen.clock import Deadline, now_ms
from whenthen.engine import watching
from whenthen.engine.arrivals import MAX_INGREDIENTS_BYTES, Arrival
from whenthen.engine.listeners import UnknownKey
from whenthen.engine.realtime import Notification, notify, read_notification
from whenthen.errors import FieldError, NotConfigured, TooLarge, Unavailable
from whenthen.metrics import Metric, count
from whenthen.services.webhooks.triggers import (
    event_ingredients,
    json_event_ingredients,
    read_payload,
    read_values,
)
from whenthen.store.errors import InvalidText, NotReady, ScriptTooLong, StoreError
from whenthen.store.keys import find_key, hash_key
from whenthen.store.literals import check_text
from whenthen.web.body import read_body
from whenthen.wiring import Runtime

logger = logging.getLogger(__name__)

type Endpoint = Callable[[Request], Awaitable[Response]]

CREDENTIAL_HEADERS = {"authorization", "cookie", "proxy-authorization", "x-api-key"}
"""Headers that no arrival keeps."""

EVENT_ID_HEADER = "X-Event-Id"
"""Names the event that a webhook has become, the same each time it arrives; absent while it is not stored."""


def make_app(runtime: Runtime) -> Starlette:
    """Return the ASGI app of the webhook routes."""
    return Starlette(routes=routes(runtime))


def routes(runtime: Runtime) -> list[Route]:
    """Return the webhook routes, each with and without a trailing slash: clients use both.

    HEAD is refused, though it goes with GET everywhere else: a link preview must not fire an event.
    """

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
    return [
        Route(path + slash, _guarded(endpoint), methods=methods)
        for path, endpoint, methods in (
            (json_path, json_event, ["GET", "POST"]),
            (event_path, event, ["GET", "POST"]),
            ("/use/{key}", key_page, ["GET"]),
            ("/v1/notifications", notifications, ["POST"]),
        )
        for slash in ("", "/")
    ]


async def _multipart_values(request: Request) -> list[tuple[str, str]]:
    try:
        async with request.form() as form:
            return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    except HTTPException as error:
        raise FieldError("body", f"is not multipart form data: {error.detail}") from error


def _guarded(endpoint: Endpoint) -> Endpoint:
    async def guarded(request: Request) -> Response:
        if request.method == "HEAD":
            return _errors(405, "Use GET or POST.", {"Allow": "GET, POST"})
        try:
            return await endpoint(request)
        except UnknownKey:
            return _errors(401, "You sent an invalid key.")
        except (TooLarge, ScriptTooLong):
            return _errors(413, "The body is too large.")
        except (FieldError, InvalidText) as error:
            return _errors(400, f"{error}.")
        except (NotReady, NotConfigured) as error:
            logger.error("%s", error)
            return _errors(503, "The database is not ready. Try again later.", {"Retry-After": "60"})
        except (StoreError, Unavailable) as error:
            logger.error("an event could be stored nowhere: %s", error)
            return _errors(503, "The event could not be stored. Try again later.", {"Retry-After": "30"})

    return guarded


def _errors(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"errors": [{"message": message}]}, status, headers)


def _arrival(request: Request, trigger: str, ingredients: dict[str, str]) -> Arrival:
    for name, value in ingredients.items():
        # Here, so that it is refused also while nothing listens or the database is down.
        check_text(value, name)
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
    """Store the arrival in the database or, when that can't take it now, in the intake queue."""
    deadline = Deadline(runtime.settings.intake_timeout_seconds)
    try:
        reservation = runtime.intake.accept(arrival, deadline)
    except (NotReady, InvalidText, ScriptTooLong):
        raise
    except StoreError as error:
        message = arrival.to_json()
        if len(message.encode()) > MAX_INGREDIENTS_BYTES:
            # The database would not take it later either.
            raise TooLarge from error
        # The arrival's ids are fixed, so a write that did get through makes this one a duplicate.
        runtime.arrivals.send([message])
        count(Metric.SENT_TO_INTAKE_QUEUE)
        logger.warning("an event went to the intake queue: %s", error, extra=watching.arrival(arrival))
        return PlainTextResponse(answer)
    headers = {EVENT_ID_HEADER: reservation.event_id} if reservation.event_id is not None else None
    return PlainTextResponse(answer, headers=headers)


def _notify(runtime: Runtime, request: Request, notification: Notification) -> Response:
    """Check at once what a partner names. Partners send their key under one of two names (PROTOCOLS.md B.2)."""
    key = request.headers.get("ifttt-service-key") or request.headers.get("ifttt-channel-key") or ""
    notify(runtime.database, runtime.check_orders, key, notification, now_ms())
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
