"""What the Maker-compatible hooks take and give (PROTOCOLS.md 1). Imported by the trigger function: kept light."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from whenthen.clock import time_text
from whenthen.errors import FieldError
from whenthen.model.exact_json import read_exact, write_exact

VALUE_NAMES = ("value1", "value2", "value3")

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"


def occurred_at_text(when: datetime) -> str:
    """Return the OccurredAt ingredient, ``November 29, 2026 at 06:20PM``, in UTC."""
    return time_text(when.astimezone(UTC))


def event_ingredients(event: str, values: Mapping[str, str], when: datetime) -> dict[str, str]:
    """Return the ingredients of the three-value trigger; a value that was not sent is empty text."""
    return {
        "EventName": event,
        **{name.capitalize(): values.get(name, "") for name in VALUE_NAMES},
        "OccurredAt": occurred_at_text(when),
    }


def json_event_ingredients(event: str, payload: str, when: datetime) -> dict[str, str]:
    """Return the ingredients of the JSON trigger."""
    return {"EventName": event, "JsonPayload": payload, "OccurredAt": occurred_at_text(when)}


def read_values(query: Iterable[tuple[str, str]], content_type: str, body: bytes) -> dict[str, str]:
    """Return value1 to value3 from the query string and from a form or JSON body, the body winning.

    Parameters
    ----------
    query:
        Names and values of the query string.
    content_type:
        The request's Content-Type; it alone decides how the body is read. Other types than form
        and JSON are ignored.
    body:
        The raw bytes.

    Raises
    ------
    FieldError
        The body is not what its content type says.
    """
    values = dict(query)
    media_type = content_type.partition(";")[0].strip().lower()
    if body.strip():
        if media_type == _FORM:
            values.update(parse_qsl(_decode(body), keep_blank_values=True))
        elif media_type == _JSON or media_type.endswith("+json"):
            values.update(_members(_read_json(body)))
    return {name: values[name] for name in VALUE_NAMES if name in values}


def read_payload(query: Iterable[tuple[str, str]], body: bytes) -> str:
    """Return the JSON payload as it was written, so that its numbers keep their digits.

    Without a body the query string is the payload, as an object of texts.

    Raises
    ------
    FieldError
        The body is not JSON.
    """
    if not body.strip():
        return json.dumps(dict(query), ensure_ascii=False)
    _read_json(body)
    return _decode(body).strip()


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FieldError("body", f"is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _read_json(body: bytes) -> Any:
    try:
        return read_exact(_decode(body))
    except (ValueError, RecursionError) as error:
        raise FieldError("body", f"is not JSON: {error}") from error


def _members(document: Any) -> dict[str, str]:
    if not isinstance(document, dict):
        return {}
    try:
        return {name: _as_text(document[name]) for name in VALUE_NAMES if name in document}
    except RecursionError as error:
        raise FieldError("body", "is nested too deeply") from error


def _as_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return str(value)
        case bool():
            return "true" if value else "false"
    return write_exact(value)
