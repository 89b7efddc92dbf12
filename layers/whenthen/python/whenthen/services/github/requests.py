"""Requests as GitHub wants them."""

from collections.abc import Mapping
from typing import Any, Protocol

from whenthen.net.messages import Request
from whenthen.services.requests import post_json


class Account(Protocol):
    """What a request needs of a connection."""

    @property
    def token(self) -> str:
        """The access token."""

    @property
    def api_url(self) -> str:
        """Where the API begins, without a slash at its end."""


def asking(account: Account, path: str) -> Request:
    """Return a request for what is at a path of the API."""
    return Request("GET", account.api_url + path, _headers(account))


def making(account: Account, path: str, document: Mapping[str, Any], key: str) -> Request:
    """Return a request that makes something at a path of the API; `key` is for the owner's eyes, GitHub ignores it."""
    return post_json(account.api_url + path, document, *_headers(account), ("Idempotency-Key", key))


def _headers(account: Account) -> tuple[tuple[str, str], ...]:
    return (
        ("Authorization", f"Bearer {account.token}"),
        ("Accept", "application/vnd.github+json"),
        ("X-GitHub-Api-Version", "2022-11-28"),
    )
