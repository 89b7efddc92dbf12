"""Cursors: where a page of a list ended, opaque to its reader."""

import base64
import json

from whenthen.errors import FieldError

LATEST = 2**62
"""After every time that something has, epoch milliseconds."""


def encode_cursor(at: int, identifier: str) -> str:
    """Return the place after an item, opaque to its reader."""
    return base64.urlsafe_b64encode(json.dumps([at, identifier]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[int, str]:
    """Return what `encode_cursor` was given.

    Raises
    ------
    FieldError
        It is not a cursor of ours.
    """
    try:
        at, identifier = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if type(at) is not int or not -LATEST <= at <= LATEST or not isinstance(identifier, str):
            raise ValueError
    except (ValueError, TypeError, RecursionError) as error:
        raise FieldError("before", "is not a cursor from an earlier page") from error
    return at, identifier
