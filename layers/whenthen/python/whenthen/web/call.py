"""A request to the management API, read and with its owner known."""

import json
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from whenthen.engine import activity
from whenthen.errors import FieldError
from whenthen.wiring import Runtime

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
        self.base_url = str(request.base_url)
        self.idempotency_key = request.headers.get("idempotency-key", "").strip()
        self._if_match = request.headers.get("if-match")
        self._body = body

    @property
    def has_body(self) -> bool:
        """Whether there is anything in the body."""
        return bool(self._body.strip())

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
        """Return the page's length, 50 unless the query says otherwise. Raises as `number`."""
        return self.number("limit", default=50, most=activity.MAX_PAGE)

    def number(self, name: str, *, default: int, most: int) -> int:
        """Return a number of the query.

        Raises
        ------
        FieldError
            It is not a number from 1 to `most`.
        """
        text = self.query.get(name, str(default))
        if not text.isascii() or not text.isdigit() or len(text) > len(str(most)) or not 1 <= int(text) <= most:
            raise FieldError(name, f"must be a number from 1 to {most}")
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
