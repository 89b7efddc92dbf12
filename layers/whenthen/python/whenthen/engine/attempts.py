"""Attempts: what each try of an action sent, got and meant. They are what the owner sees of an execution."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from whenthen.engine.masking import MASK, masked
from whenthen.net import Answer, Request

EXCERPT_CHARACTERS = 1024
"""How much of a body an attempt keeps."""

MAX_ATTEMPTS_BYTES = 64 * 1024
"""The most that all attempts of an execution take, bytes of ASCII JSON: ten executions fit one script."""

_URL_CHARACTERS = 512
_HEADER_CHARACTERS = 120
_HEADERS = 10
_REASON_CHARACTERS = 250

_SECRET_WORDS = (
    "auth", "cookie", "credential", "key", "passwd", "password", "pwd", "secret", "session", "signature", "token",
)  # fmt: skip
_SECRET_NAMES = {"code", "pass", "pin", "sig"}
_NOT_SECRET = {"idempotency-key"}

# A path segment of 16 characters or more with letters and digits, a bot's token, and what follows /key/ and
# /api/webhook/.
_PATH_SECRET = re.compile(
    r"(?<=/)(?=[^/]*[0-9])(?=[^/]*[A-Za-z])[\w:%~+=-]{16,}(?=/|$)|(?<=/bot)[0-9]+:[^/]+|(?<=/key/)[^/]+"
    r"|(?<=/api/webhook/)[^/]+"
    # Slack's and Discord's webhooks: their last part may be of letters alone.
    r"|(?P<kept>/services/[^/]+/[^/]+/|/webhooks/[0-9]+/)[^/]+",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one action, or of one query. Times are epoch milliseconds.

    `action` is its index among its `kind`, which is action or query. `outcome` is succeeded, failed, skipped, unknown
    or retry. `request` and `answer` are what `describe_request` and `describe_answer` say, or None.
    """

    action: int
    service: str
    name: str
    number: int
    started_at: int
    finished_at: int
    outcome: str
    reason: str
    kind: str = "action"
    notes: tuple[str, ...] = ()
    request: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the attempt as plain JSON values."""
        return asdict(self)


def bounded(attempts: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return attempts that fit `MAX_ATTEMPTS_BYTES`: the oldest lose their request and answer, then go altogether.

    The last one of each action and query stays, for nothing else tells what has become of it. Of these the oldest lose
    their notes and the end of their reason.
    """
    last = {
        (attempt.get("kind") == "query", attempt["action"]): index for index, attempt in enumerate(attempts)
    }.values()
    steps = (
        *((index, _without_exchange) for index in range(len(attempts))),
        *((index, _nothing) for index in range(len(attempts)) if index not in last),
        *((index, _without_words) for index in last),
    )
    kept = list(attempts)
    left = MAX_ATTEMPTS_BYTES - sum(map(_size, kept))
    for index, shorten in steps:
        if left >= 0:
            break
        shorter = shorten(kept[index])
        left += _size(kept[index]) - _size(shorter)
        kept[index] = shorter
    return tuple(attempt for attempt in kept if attempt)


def _without_exchange(attempt: dict[str, Any]) -> dict[str, Any]:
    return {**attempt, "request": None, "answer": None}


def _nothing(_attempt: dict[str, Any]) -> dict[str, Any]:
    return {}


def _without_words(attempt: dict[str, Any]) -> dict[str, Any]:
    return {**attempt, "notes": (), "reason": _shortened(attempt["reason"], _REASON_CHARACTERS)}


def _size(attempt: dict[str, Any]) -> int:
    return len(json.dumps(attempt)) + 2


def describe_request(request: Request, secrets: Sequence[str] = ()) -> dict[str, Any]:
    """Return a request as the owner may see it: `secrets`, and what by its name is one, are masked."""
    return {
        "method": request.method,
        "url": _shortened(_masked_url(masked(request.url, secrets)), _URL_CHARACTERS),
        "headers": {
            name: MASK if _is_secret(name) else _shortened(masked(value, secrets), _HEADER_CHARACTERS)
            for name, value in request.headers[:_HEADERS]
        },
        "body": _excerpt(request.body or b"", secrets),
    }


def describe_answer(answer: Answer, secrets: Sequence[str] = ()) -> dict[str, Any]:
    """Return an answer as the owner may see it, without the `secrets`."""
    return {
        "status": answer.status,
        "content_type": _shortened(masked(answer.headers.get("content-type", ""), secrets), _HEADER_CHARACTERS),
        "body": _excerpt(answer.body, secrets),
        "truncated": answer.truncated,
    }


def _is_secret(name: str) -> bool:
    lower = name.lower()
    if lower in _NOT_SECRET:
        return False
    return lower in _SECRET_NAMES or any(word in lower for word in _SECRET_WORDS)


def _masked_url(url: str) -> str:
    """Mask secrets in the query by name, and what looks like one in the path: many services put their token there."""
    try:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query.replace(";", "&"), keep_blank_values=True)
    except ValueError:
        return url.partition("?")[0]
    path = _PATH_SECRET.sub(lambda found: (found["kept"] or "") + MASK, parts.path)
    if not any(_is_secret(name) or not value for name, value in pairs):
        return parts._replace(path=path).geturl()
    shown = [(name if value else MASK, MASK if _is_secret(name) else value) for name, value in pairs]
    return parts._replace(path=path, query=urlencode(shown).replace(quote(MASK), MASK)).geturl()


def _excerpt(body: bytes, secrets: Sequence[str]) -> str:
    # NUL can't be stored, and a target may answer anything.
    text = body[: EXCERPT_CHARACTERS * 4].decode("utf-8", "replace").replace("\x00", "\ufffd")
    return _shortened(masked(text, secrets), EXCERPT_CHARACTERS)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
