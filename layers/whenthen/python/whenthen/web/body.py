"""Reading a request's body with a limit."""

from starlette.requests import Request

from whenthen.errors import TooLarge


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
