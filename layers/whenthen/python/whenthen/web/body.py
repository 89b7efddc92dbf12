"""Reading a request's body with limits."""

import codecs

from python_multipart.multipart import parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import Request

from whenthen.errors import TooLarge

_FORM_CHARSETS = {"utf-8", "ascii", "iso8859-1"}
"""Python's names."""


async def read_body(request: Request, limit: int) -> bytes:
    """Return the raw body.

    Parameters
    ----------
    limit:
        The most that is read, bytes. A body that says it is longer is not read at all.

    Raises
    ------
    TooLarge
        The body is longer.
    """
    declared = request.headers.get("content-length", "")
    # 18 digits are more than any limit, and Python reads no number of thousands of digits.
    if declared.isascii() and declared.isdigit() and int(declared[:18]) > limit:
        raise TooLarge("The body is too large.")
    size = 0
    chunks = []
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise TooLarge("The body is too large.")
        chunks.append(chunk)
    body = b"".join(chunks)
    # Where Starlette keeps it, so that form() can be called afterwards.
    request._body = body
    return body


def check_form_charset(request: Request) -> None:
    """Refuse a form that is to be read in a charset which is none of the web.

    Multipart form data has no such parameter (RFC 7578, 4.6). Starlette obeys it all the same, with any of Python's
    codecs, and some of these take the square of the length: minutes for a megabyte, while nobody else is served.

    Raises
    ------
    HTTPException
        400.
    """
    _kind, parameters = parse_options_header(request.headers.get("content-type"))
    try:
        name = codecs.lookup(parameters.get(b"charset", b"utf-8").decode("latin-1")).name
    except (LookupError, ValueError):
        name = ""
    if name not in _FORM_CHARSETS:
        raise HTTPException(400, "The charset must be UTF-8.")
