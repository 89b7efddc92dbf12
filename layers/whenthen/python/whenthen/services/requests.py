"""Requests that services have in common."""

import json
from collections.abc import Mapping
from typing import Any

from whenthen.net.messages import Request


def post_json(url: str, document: Mapping[str, Any], *headers: tuple[str, str]) -> Request:
    """Return the request that posts `document`."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return Request("POST", url, (("Content-Type", "application/json; charset=utf-8"), *headers), body)


def bearer(token: str) -> tuple[str, str]:
    """Return the header of a bearer token (RFC 6750, 2.1)."""
    return ("Authorization", f"Bearer {token}")
