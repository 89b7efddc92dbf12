"""Actions of the webhooks service."""

from whenthen.errors import FieldError
from whenthen.net.messages import Request
from whenthen.services.contract import Send
from whenthen.services.webhooks.fields import MakeWebRequestFields, parse_headers

_REPEATABLE_METHODS = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}
"""The idempotent methods of RFC 9110, section 9.2.2."""

_TEXT_TYPES = {"text/plain", "text/html", "text/xml"}


def make_web_request(fields: MakeWebRequestFields, key: str) -> Send:
    """Return the request that the rendered `fields` describe, with `key` as its Idempotency-Key.

    Raises
    ------
    FieldError
        The headers can't be read after rendering.
    """
    try:
        headers = list(parse_headers(fields.additional_headers))
    except ValueError as error:
        raise FieldError("additional_headers", str(error)) from error
    headers.append(("Idempotency-Key", key))
    body = fields.body.encode() if fields.body else None
    if body is not None:
        charset = "; charset=utf-8" if fields.content_type in _TEXT_TYPES else ""
        headers.append(("Content-Type", fields.content_type + charset))
    return Send(
        Request(method=fields.method, url=fields.url, headers=tuple(headers), body=body),
        repeatable=fields.repeatable or fields.method in _REPEATABLE_METHODS,
    )
