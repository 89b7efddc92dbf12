"""Attempts: what each try of an action sent, got and meant. They are what the owner sees of an execution."""

from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from whenthen.net import Answer, Request

EXCERPT_CHARACTERS = 1024
"""How much of a body an attempt keeps."""

MASK = "•••"

_URL_CHARACTERS = 512
_HEADER_CHARACTERS = 200
_HEADERS = 20

_SECRET_WORDS = (
    "auth", "cookie", "credential", "key", "passwd", "password", "pwd", "secret", "session", "signature", "token",
)  # fmt: skip
_SECRET_NAMES = {"sig", "pass", "pin"}
_NOT_SECRET = {"idempotency-key"}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one action. Times are epoch milliseconds.

    `outcome` is succeeded, failed, unknown or retry. `request` and `answer` are what `describe_request` and
    `describe_answer` say, or None.
    """

    action: int
    service: str
    name: str
    number: int
    started_at: int
    finished_at: int
    outcome: str
    reason: str
    notes: tuple[str, ...] = ()
    request: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the attempt as plain JSON values."""
        return asdict(self)


def describe_request(request: Request) -> dict[str, Any]:
    """Return a request as the owner may see it: secrets in headers and in the query are masked."""
    return {
        "method": request.method,
        "url": _shortened(_masked_url(request.url), _URL_CHARACTERS),
        "headers": {
            name: MASK if _is_secret(name) else _shortened(value, _HEADER_CHARACTERS)
            for name, value in request.headers[:_HEADERS]
        },
        "body": _excerpt(request.body or b""),
    }


def describe_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as the owner may see it."""
    return {
        "status": answer.status,
        "content_type": _shortened(answer.headers.get("content-type", ""), _HEADER_CHARACTERS),
        "body": _excerpt(answer.body),
        "truncated": answer.truncated,
    }


def _is_secret(name: str) -> bool:
    lower = name.lower()
    if lower in _NOT_SECRET:
        return False
    return lower in _SECRET_NAMES or any(word in lower for word in _SECRET_WORDS)


def _masked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return url.partition("?")[0]
    if not any(_is_secret(name) for name, _ in pairs):
        return url
    query = urlencode([(name, MASK if _is_secret(name) else value) for name, value in pairs], safe=MASK)
    return parts._replace(query=query).geturl()


def _excerpt(body: bytes) -> str:
    # NUL can't be stored, and a target may answer anything.
    text = body[: EXCERPT_CHARACTERS * 4].decode("utf-8", "replace").replace("\x00", "\ufffd")
    return _shortened(text, EXCERPT_CHARACTERS)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
