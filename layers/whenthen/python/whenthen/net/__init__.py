"""The guarded way out to the network.

`GuardedClient` is loaded on first use: httpx2 and httpcore2 take 190 ms to import, and functions that only
receive (the cold start of the trigger function is a product feature) never send.
"""

from typing import TYPE_CHECKING

from whenthen.net.addresses import is_allowed
from whenthen.net.errors import (
    AddressRefused,
    InvalidRequest,
    InvalidUrl,
    MailServerLacks,
    NetError,
    NoAnswer,
    NotSent,
    RedirectRefused,
)
from whenthen.net.messages import Answer, Mail, MailAnswer, MailStep, Request

if TYPE_CHECKING:
    from whenthen.net.client import GuardedClient

__all__ = [
    "AddressRefused",
    "Answer",
    "GuardedClient",
    "InvalidRequest",
    "InvalidUrl",
    "Mail",
    "MailAnswer",
    "MailServerLacks",
    "MailStep",
    "NetError",
    "NoAnswer",
    "NotSent",
    "RedirectRefused",
    "Request",
    "is_allowed",
]


def __getattr__(name: str) -> object:
    if name != "GuardedClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whenthen.net.client import GuardedClient

    return GuardedClient
