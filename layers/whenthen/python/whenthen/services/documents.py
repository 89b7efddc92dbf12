"""Reading a source over HTTP for a check: conditional requests, and failures in words for the owner."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from whenthen.net.errors import NetError, NoAnswer, NotSent
from whenthen.net.messages import Request
from whenthen.net.retry_after import retry_after_seconds
from whenthen.services.checking import Check, CheckFailed

MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
"""The largest document that is read, bytes after decompression."""

MAX_RETRY_AFTER_SECONDS = 24 * 3600
"""The longest Retry-After that is honoured."""


MAX_VALIDATOR_CHARACTERS = 1024
"""The longest validator that is kept: positions are small."""

_CODINGS = ("", "identity", "gzip", "x-gzip")
"""What the client undoes, and what there is nothing to undo of."""


class Gone(CheckFailed):
    """There is no document at this address (any more): 404 or 410."""


@dataclass(frozen=True, slots=True)
class Source:
    """How a source is asked next time: a part of a check's position.

    Parameters
    ----------
    url:
        Where it has moved for good, or the field's URL.
    etag, last_modified:
        The last answer's validators exactly as they came (RFC 9110, section 13); None when it had none that can
        be sent back.
    """

    url: str
    etag: str | None = None
    last_modified: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"url": self.url, "etag": self.etag, "last_modified": self.last_modified}


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it came. `source` is for the next request."""

    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    url: str
    source: Source


def known_source(position: Mapping[str, Any] | None, url: str) -> Source:
    """Return the source that a check's position holds under ``source``, or a new one for `url`."""
    known = (position or {}).get("source")
    return Source(**known) if known else Source(url)


def read_document(
    check: Check[Any], source: Source, *, field: str, accept: str = "*/*", request: Request | None = None
) -> Document | None:
    """Ask the source, and return its document, or None when it says that nothing has changed (304).

    Both validators are replaced together by each document, and go back byte for byte.

    Parameters
    ----------
    check:
        The check that reads.
    source:
        What to ask.
    field:
        The field that holds the URL, for errors.
    accept:
        The Accept header.
    request:
        What to send instead of a GET of the source's URL; without validators.

    Raises
    ------
    Gone
        There is no document at this address.
    CheckFailed
        There is no document for another reason.
    """
    try:
        answer = check.fetch(request or Request("GET", source.url, (("Accept", accept), *_validators(source))))
    except NetError as error:
        raise CheckFailed(f"The source could not be read. {error}", field=field, temporary=may_pass(error)) from error
    if answer.status == 304 and request is None and _validators(source):
        return None
    if answer.status != 200:
        failure = Gone if answer.status in (404, 410) else CheckFailed
        raise failure(
            f"The source answered {answer.status}.",
            field=field,
            retry_at=_retry_at(answer.headers, check.now),
            host=urlsplit(answer.url).hostname or "",
            temporary=is_temporary(answer.status),
        )
    if len(answer.body) >= MAX_DOCUMENT_BYTES:
        raise CheckFailed(f"The document is larger than {MAX_DOCUMENT_BYTES // 1024 // 1024} MiB.", field=field)
    if answer.truncated:
        raise CheckFailed("The document broke off before its end.", field=field)
    coding = answer.headers.get("content-encoding", "").strip().lower()
    if coding not in _CODINGS:
        raise CheckFailed(f"The document is packed as {coding[:64]}, which was not asked for.", field=field)
    etag, last_modified = (_sendable(answer.headers.get(name)) for name in ("etag", "last-modified"))
    moved = Source(answer.moved_to or source.url, etag, last_modified)
    return Document(answer.body, answer.headers, answer.url, moved)


def may_pass(error: NetError) -> bool:
    """Say if a request that failed so may do better later."""
    return error.retryable if isinstance(error, NotSent) else isinstance(error, NoAnswer)


def is_temporary(status: int) -> bool:
    """Say if an answer with this status means that the source is out of order for now (RFC 9110, 15.6)."""
    return status in (408, 425, 429) or status >= 500


def _sendable(validator: str | None) -> str | None:
    # One that our own client refuses to send would make every check from now on fail.
    return validator if validator and validator.isprintable() and len(validator) <= MAX_VALIDATOR_CHARACTERS else None


def _validators(source: Source) -> list[tuple[str, str]]:
    found = []
    if source.etag:
        found.append(("If-None-Match", source.etag))
    if source.last_modified:
        found.append(("If-Modified-Since", source.last_modified))
    return found


def _retry_at(headers: Mapping[str, str], now: int) -> int | None:
    wait = retry_after_seconds(headers.get("retry-after"), now / 1000)
    return now + round(min(wait, MAX_RETRY_AFTER_SECONDS) * 1000) if wait else None
