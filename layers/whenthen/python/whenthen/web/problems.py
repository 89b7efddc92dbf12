"""Errors of the management API as problem documents (RFC 9457), mapped in one place."""

import logging
from collections.abc import Awaitable, Callable

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from whenthen.engine.connections.errors import KeyMissing
from whenthen.errors import FieldError, InUse, NotConfigured, NotFound, Stale, TooLarge, Unavailable, WhenthenError
from whenthen.store.errors import GuardFailed, InvalidText, NotReady, ScriptTooLong, StoreError

logger = logging.getLogger(__name__)

_TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    422: "Invalid",
    500: "Internal error",
    503: "Unavailable",
}


class Unauthenticated(WhenthenError):
    """Send your API key as `Authorization: Bearer <key>`."""


def problem(
    status: int,
    detail: str,
    *,
    errors: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return a problem document. `errors` are objects with the field's path and what is wrong with it."""
    document: dict[str, object] = {
        "type": "about:blank",
        "title": _TITLES.get(status, "Error"),
        "status": status,
        "detail": detail,
    }
    if errors:
        document["errors"] = errors
    return JSONResponse(document, status, headers, media_type="application/problem+json")


def from_error(error: Exception) -> Response:
    """Return the problem that `error` is to the caller. What we did not foresee is logged and told as a 500."""
    match error:
        case Unauthenticated():
            return problem(401, str(error), headers={"WWW-Authenticate": "Bearer"})
        case FieldError():
            return problem(422, str(error), errors=[{"field": error.field, "message": error.message}])
        case ValidationError():
            errors = [
                {
                    "field": ".".join(map(str, item["loc"])),
                    "message": item["msg"].removeprefix("Value error, "),
                }
                for item in error.errors()
            ]
            return problem(422, "; ".join(f"{e['field']}: {e['message']}" for e in errors), errors=errors)
        case InvalidText():
            return problem(422, str(error))
        case NotFound():
            return problem(404, str(error))
        case Stale() | GuardFailed() | InUse():
            return problem(409, str(error))
        case TooLarge() | ScriptTooLong():
            return problem(413, str(error))
        case NotReady():
            logger.error("%s", error)
            return problem(503, "The database is not ready; its operator finds the reason in the log.")
        case NotConfigured():
            logger.error("%s", error)
            return problem(503, "whenthen is not set up for this; its operator finds the reason in the log.")
        case KeyMissing():
            logger.error("%s", error)
            words = "The key that opens secrets can't be had now; its operator finds the reason in the log."
            return problem(503, words, headers={"Retry-After": "60"})
        case StoreError() | Unavailable():
            logger.warning("the request could not be served: %s", error)
            return problem(503, "The database can't be reached now. Try again later.", headers={"Retry-After": "5"})
        case HTTPException():
            return problem(error.status_code, error.detail, headers=dict(error.headers or {}))
    logger.error("unforeseen error", exc_info=error)
    return problem(500, "Something went wrong; the log says what.")


def mapped(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return `endpoint` with every error as a problem."""

    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Exception as error:  # noqa: BLE001 - the one place where errors become answers
            return from_error(error)

    return guarded
