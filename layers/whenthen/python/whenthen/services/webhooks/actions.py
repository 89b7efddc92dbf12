"""Actions of the webhooks service."""

from whenthen.errors import FieldError
from whenthen.net.messages import Request
from whenthen.services.webhooks.fields import MakeWebRequestFields, WebRequestFields, parse_headers
from whenthen.services.work import Send, Task

_REPEATABLE_METHODS = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}
"""The idempotent methods of RFC 9110, section 9.2.2."""

_TEXT_TYPES = {"text/plain", "text/html", "text/xml"}


def make_web_request(task: Task[MakeWebRequestFields]) -> Send:
    """Return the request that the task's fields describe, with its key as Idempotency-Key.

    Raises
    ------
    FieldError
        The headers can't be read after rendering.
    """
    fields = task.fields
    return Send(
        web_request(fields, ("Idempotency-Key", task.key)),
        repeatable=fields.repeatable or fields.method in _REPEATABLE_METHODS,
    )


def web_request(fields: WebRequestFields, *more: tuple[str, str]) -> Request:
    """Return the request that the fields describe, with `more` headers. Raises as `make_web_request`."""
    try:
        headers = [*parse_headers(fields.additional_headers), *more]
    except ValueError as error:
        raise FieldError("additional_headers", str(error)) from error
    body = fields.body.encode() if fields.body else None
    if body is not None:
        charset = "; charset=utf-8" if fields.content_type in _TEXT_TYPES else ""
        headers.append(("Content-Type", fields.content_type + charset))
    return Request(method=fields.method, url=fields.url, headers=tuple(headers), body=body)
