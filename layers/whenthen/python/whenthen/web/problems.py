"""Errors of the management API as problem documents (RFC 9457), mapped in one place."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from whenthen.engine.connections.errors import KeyMissing
from whenthen.errors import (
    FieldError,
    FieldErrors,
    InUse,
    NotConfigured,
    NotFound,
    Refused,
    Stale,
    TooLarge,
    Unavailable,
    WhenthenError,
)
from whenthen.store.errors import GuardFailed, InvalidText, NotReady, ScriptTooLong, StoreError
from whenthen.vault import KeysUnavailable

logger = logging.getLogger(__name__)

TITLES = {
    400: "Bad request",
    401: "Unauthorized",
    403: "Forbidden",
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


@dataclass(frozen=True, slots=True)
class Problem:
    """What an error is to the caller. `errors` are objects with the field's path and what is wrong with it."""

    status: int
    detail: str
    errors: list[dict[str, str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The status in words."""
        return TITLES.get(self.status, "Error")

    def response(self) -> Response:
        """Return it as a problem document."""
        document: dict[str, object] = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = self.errors
        return JSONResponse(document, self.status, self.headers, media_type="application/problem+json")


def describe(error: Exception) -> Problem:
    """Return the problem that `error` is to the caller. What we did not foresee is logged and told as a 500."""
    match error:
        case Unauthenticated():
            return Problem(401, str(error), headers={"WWW-Authenticate": "Bearer"})
        case FieldError():
            return Problem(422, str(error), [{"field": error.field, "message": error.message}])
        case FieldErrors():
            errors = [{"field": item.field, "message": item.message} for item in error.errors]
            return Problem(422, str(error), errors)
        case ValidationError():
            errors = [
                {
                    "field": ".".join(map(str, item["loc"])),
                    "message": item["msg"].removeprefix("Value error, "),
                }
                for item in error.errors()
            ]
            return Problem(422, "; ".join(f"{e['field']}: {e['message']}" for e in errors), errors)
        case InvalidText():
            return Problem(422, str(error))
        case Refused():
            return Problem(403, str(error))
        case NotFound():
            return Problem(404, str(error))
        case Stale() | GuardFailed() | InUse():
            return Problem(409, str(error))
        case TooLarge() | ScriptTooLong():
            return Problem(413, str(error))
        case NotReady():
            logger.error("%s", error)
            return Problem(503, "The database is not ready; its operator finds the reason in the log.")
        case NotConfigured():
            logger.error("%s", error)
            return Problem(503, "whenthen is not set up for this; its operator finds the reason in the log.")
        case KeyMissing() | KeysUnavailable():
            logger.error("%s", error)
            words = "The key that opens secrets can't be had now; its operator finds the reason in the log."
            return Problem(503, words, headers={"Retry-After": "60"})
        case StoreError() | Unavailable():
            logger.warning("the request could not be served: %s", error)
            return Problem(503, "The database can't be reached now. Try again later.", headers={"Retry-After": "5"})
        case HTTPException():
            return Problem(error.status_code, error.detail, headers=dict(error.headers or {}))
    logger.error("unforeseen error", exc_info=error)
    return Problem(500, "Something went wrong; the log says what.")


def from_error(error: Exception) -> Response:
    """Return `error` as a problem document, see `describe`."""
    return describe(error).response()


def mapped(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Return `endpoint` with every error as a problem."""

    async def guarded(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Exception as error:  # noqa: BLE001 - the one place where errors become answers
            return from_error(error)

    return guarded
