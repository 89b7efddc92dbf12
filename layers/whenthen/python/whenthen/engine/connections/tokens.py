"""The token endpoint of OAuth 2 (RFC 6749 section 5): what is asked, and what the answers mean. Pure functions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from whenthen.net.messages import Answer, Request
from whenthen.services.answers import json_object, shortened

LONGEST = 8192
"""The longest token that is kept, characters."""

_RENEWED_AHEAD_MS = 60_000
_LONGEST_LIFE_SECONDS = 10 * 365 * 86_400

_FOR_NOW = {"temporarily_unavailable", "server_error", "slow_down", "ratelimited", "rate_limited", "internal_error"}
"""Codes of errors that pass; all others are final."""

_HIDDEN = "•••"


@dataclass(frozen=True, slots=True)
class Tokens:
    """A valid pair. `refresh_token` is empty when none came: an older one is kept. Times are epoch milliseconds, 0
    when the answer does not say."""

    access_token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    renew_at: int = 0
    expires_at: int = 0


@dataclass(frozen=True, slots=True)
class NoTokens:
    """There are none. `is_final`: the same request will never get any."""

    reason: str
    is_final: bool


def token_request(url: str, fields: Mapping[str, Any], **parameters: str) -> Request:
    """Return the request for tokens.

    The client's id and secret go into the body, as nearly all services take them (RFC 6749 2.3.1).

    Parameters
    ----------
    fields:
        The connection's, with `client_id` and, for a client that has one, `client_secret`.
    parameters:
        Of the grant.
    """
    client = {name: str(fields[name]) for name in ("client_id", "client_secret") if fields.get(name)}
    # Without Accept, GitHub answers in another format (F20).
    headers = (("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded"))
    return Request("POST", url, headers, urlencode({**parameters, **client}).encode(), may_move=False)


def read_tokens(answer: Answer, now: int, secrets: Mapping[str, Any]) -> Tokens | NoTokens:
    """Return what an answer gives, never by its status alone: some services answer errors with 200 (F20).

    Parameters
    ----------
    now:
        When it came, epoch milliseconds.
    secrets:
        What was sent and must not get into words, by name.
    """
    document = json_object(answer)
    error = document.get("error")
    if 200 <= answer.status < 300 and not error and document.get("ok") is not False:
        token = _token(document.get("access_token"))
        if not token:
            return NoTokens("The service answered without a token.", is_final=False)
        return Tokens(token, _token(document.get("refresh_token")), *_times(document.get("expires_in"), now))
    said = document.get("error_description") or error
    words = f" It says: {_hidden(said, secrets)}" if isinstance(said, str) and said.strip() else ""
    reason = f"The service gave no token ({answer.status}).{words}"
    return NoTokens(reason, is_final=_is_final(answer.status, error))


def _is_final(status: int, error: Any) -> bool:
    """Say if an error is about the grant or the client. A bare 401 is, as older partners answer (PROTOCOLS.md B.6)."""
    if isinstance(error, str) and error in _FOR_NOW:
        return False
    if status in (400, 401):
        return True
    # Whatever stands before the service, a proxy that has lost it for example, names no code of OAuth.
    return isinstance(error, str) and (200 <= status < 300 or status == 403)


def _times(expires_in: Any, now: int) -> tuple[int, int]:
    """Return when to renew and when it ends. Some services write the seconds as text, or 0 for never."""
    try:
        seconds = float(expires_in)
    except (TypeError, ValueError, OverflowError):
        return 0, 0
    if not 0 < seconds <= _LONGEST_LIFE_SECONDS:
        return 0, 0
    life = round(seconds * 1000)
    return now + max(life - _RENEWED_AHEAD_MS, life // 2), now + life


def _token(value: Any) -> str:
    """Return a token, or empty text for what is none: visible ASCII (RFC 6749 A.12), since it becomes a header."""
    usable = isinstance(value, str) and len(value) <= LONGEST and value.isascii() and value.isprintable()
    return value if usable else ""


def _hidden(text: str, secrets: Mapping[str, Any]) -> str:
    for secret in secrets.values():
        if isinstance(secret, str) and secret:
            text = text.replace(secret, _HIDDEN)
    return shortened(text)
