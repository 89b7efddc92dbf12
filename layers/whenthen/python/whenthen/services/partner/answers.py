"""The events that a partner answers with, read as partners bend them (PROTOCOLS.md 3, B.3)."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from whenthen.clock import from_datetime
from whenthen.model.exact_json import Number, read_exact, write_exact
from whenthen.model.values import without_surrogates
from whenthen.services.checking import CheckFailed

_SECONDS = re.compile(r"[0-9]{9,13}(\.[0-9]{1,9})?")
_SECONDS_END = 10**11
"""A timestamp beyond it, the year 5138, is in milliseconds."""

_LATEST_MS = 253_370_764_800_000
"""The year 9999."""

_MARK_LENGTH = 12


@dataclass(frozen=True, slots=True)
class PartnerEvent:
    """An event of a partner.

    Parameters
    ----------
    identity:
        Its `meta.id`, as text.
    content:
        Its members without `meta`, as JSON text whose numbers have the digits that they came with.
    occurred_at:
        Epoch milliseconds.
    """

    identity: str
    content: str
    occurred_at: int

    def id_mark(self) -> str:
        """Return what is remembered of its id."""
        return _mark(self.identity)

    def content_mark(self) -> str:
        """Return what is remembered of its content."""
        return _mark(self.content)


def read_events(body: bytes, now: int) -> tuple[list[PartnerEvent], int]:
    """Return the events of an answer, each id once and the oldest first; and how many entries are no events.

    Parameters
    ----------
    body:
        The answer.
    now:
        When an event is said to have occurred that does not say it, epoch milliseconds.

    Raises
    ------
    CheckFailed
        The answer is not one of the protocol, or has entries of which none is an event.
    """
    try:
        document = read_json(body)
    except (ValueError, RecursionError) as error:
        raise CheckFailed("The partner's answer is not JSON.", field="url") from error
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise CheckFailed('The partner\'s answer has no list of events, which is called "data".', field="url")
    read = [_event(entry, now) for entry in entries]
    found = [(event.occurred_at, -place, event) for place, event in enumerate(read) if event is not None]
    if entries and not found:
        raise CheckFailed("None of the partner's events has a meta.id.", field="trigger")
    # The protocol has the newest first, so of equal ones the later entry is the older.
    events: dict[str, PartnerEvent] = {}
    for _, _, event in sorted(found, key=lambda entry: entry[:2]):
        events.setdefault(event.identity, event)
    return list(events.values()), len(entries) - len(found)


def _event(entry: Any, now: int) -> PartnerEvent | None:
    """Return the event that an entry is, or None when it is none."""
    meta = entry.get("meta") if isinstance(entry, dict) else None
    identity = meta.get("id") if isinstance(meta, dict) else None
    if meta is None or identity is None or isinstance(identity, bool):
        return None
    try:
        content = _written({name: value for name, value in entry.items() if name != "meta"})
        # Numbers are text too, and some partners' ids are objects of their database.
        text = without_surrogates(identity if isinstance(identity, str) else _written(identity))
    except RecursionError:
        return None
    if not text.strip():
        return None
    created_at = entry.get("created_at")
    times = (_instant(meta.get("timestamp")), _instant(str(created_at)) if isinstance(created_at, str) else None)
    return PartnerEvent(text, content, next((time for time in times if time is not None), now))


def _instant(value: Any) -> int | None:
    """Return a time as partners write it, epoch milliseconds: seconds, milliseconds, or ISO 8601; None for others."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        if isinstance(value, Number) or _SECONDS.fullmatch(value):
            number = float(value)
            ms = number if number > _SECONDS_END else number * 1000
        else:
            when = datetime.fromisoformat(value.strip())
            ms = from_datetime(when if when.tzinfo else when.replace(tzinfo=UTC))
    except (OverflowError, ValueError):
        return None
    return round(ms) if 0 < ms < _LATEST_MS else None


def read_json(body: bytes) -> Any:
    """Return the value of a JSON document, its numbers as texts of their digits.

    Raises
    ------
    ValueError, RecursionError
        It is not JSON, or nested too deeply.
    """
    return read_exact(body.decode("utf-8-sig"))


def _written(value: Any) -> str:
    return without_surrogates(write_exact(value, (", ", ": ")))


def _mark(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_MARK_LENGTH]
