"""What a partner answers (PROTOCOLS.md 3, B.3 and B.4), read as partners bend it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from whenthen.clock import from_datetime
from whenthen.model.values import without_surrogates
from whenthen.net.messages import Answer
from whenthen.net.retry_after import retry_after_seconds
from whenthen.services.checking import CheckFailed
from whenthen.services.documents import MAX_DOCUMENT_BYTES, MAX_RETRY_AFTER_SECONDS
from whenthen.services.partner.fields import PartnerEventFields

MAX_MESSAGES = 3
MAX_MESSAGE_CHARACTERS = 300

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
    text:
        Its members without `meta`, as JSON text whose numbers have the digits that they came with.
    occurred_at:
        Epoch milliseconds.
    """

    identity: str
    text: str
    occurred_at: int

    def id_mark(self) -> str:
        """Return what is remembered of its id."""
        return _mark(self.identity)

    def content_mark(self) -> str:
        """Return what is remembered of all else."""
        return _mark(self.text)


@dataclass(frozen=True, slots=True)
class Answered:
    """Events, each id once and the oldest first, and how many entries could not be used."""

    events: list[PartnerEvent]
    unusable: int


def read_answer(answer: Answer, fields: PartnerEventFields, now: int) -> Answered:
    """Return the events of an answer.

    Parameters
    ----------
    answer:
        What the partner gave.
    fields:
        The trigger's.
    now:
        When an event is said to have occurred that does not say it, epoch milliseconds.

    Raises
    ------
    CheckFailed
        The answer is an error, or has no event that can be used.
    """
    if answer.status != 200:
        raise _failure(answer, fields, now)
    if answer.truncated or len(answer.body) >= MAX_DOCUMENT_BYTES:
        raise CheckFailed("The partner's answer is too long, or broke off before its end.", field="url")
    try:
        document = _read_json(answer.body)
    except (ValueError, RecursionError) as error:
        raise CheckFailed("The partner's answer is not JSON.", field="url") from error
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise CheckFailed('The partner\'s answer has no list "data".', field="url")
    read = [_event(entry, now) for entry in entries]
    found = [(event.occurred_at, -place, event) for place, event in enumerate(read) if event is not None]
    if entries and not found:
        raise CheckFailed("None of the partner's events has a meta.id.", field="url")
    # The protocol has the newest first, so of equal ones the later entry is the older.
    events: dict[str, PartnerEvent] = {}
    for _, _, event in sorted(found, key=lambda entry: entry[:2]):
        events.setdefault(event.identity, event)
    return Answered(list(events.values())[-fields.limit :], unusable=len(entries) - len(found))


def _failure(answer: Answer, fields: PartnerEventFields, now: int) -> CheckFailed:
    wait = retry_after_seconds(answer.headers.get("retry-after"), now / 1000)
    retry_at = now + round(min(wait, MAX_RETRY_AFTER_SECONDS) * 1000) if wait else None
    if answer.status == 401:
        return CheckFailed("The service key was refused.", field="service_key", retry_at=retry_at)
    words = f"The partner answered {answer.status}."
    if answer.status == 503:
        words = "The partner is not available now (503)."
    elif answer.url != fields.endpoint():
        words += " Its address leads to another one, which loses what was asked: use the address that it leads to."
    messages = _messages(answer.body, fields.service_key)
    field = {400: "trigger_fields", 404: "trigger"}.get(answer.status, "url")
    return CheckFailed(f"{words} It says: {messages}" if messages else words, field=field, retry_at=retry_at)


def _messages(body: bytes, key: str) -> str:
    """Return what an error says, bounded and without the key, which some partners repeat."""
    try:
        document = _read_json(body)
        errors = document.get("errors") if isinstance(document, dict) else None
        found = (
            [error.get("message") for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
        )
    except (ValueError, RecursionError):
        return ""
    texts = [" ".join(text.replace(key, "…").split()) for text in found if isinstance(text, str)]
    line = " ".join(filter(None, texts[:MAX_MESSAGES]))[:MAX_MESSAGE_CHARACTERS]
    return without_surrogates("".join(character for character in line if character.isprintable()))


def _event(entry: Any, now: int) -> PartnerEvent | None:
    """Return the event that an entry is, or None when it is none."""
    meta = entry.get("meta") if isinstance(entry, dict) else None
    identity = meta.get("id") if isinstance(meta, dict) else None
    if meta is None or identity is None or isinstance(identity, bool) or identity == "":
        return None
    try:
        text = _written({name: value for name, value in entry.items() if name != "meta"})
        identity = identity if isinstance(identity, str) else _written(identity)
    except RecursionError:
        return None
    times = (_instant(meta.get("timestamp")), _instant(entry.get("created_at")))
    when = next((time for time in times if time is not None), now)
    return PartnerEvent(without_surrogates(str(identity)), text, when)


def _instant(value: Any) -> int | None:
    """Return a time as partners write it, epoch milliseconds: seconds, milliseconds, or ISO 8601; None for others."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        if isinstance(value, _Number) or _SECONDS.fullmatch(value):
            number = float(value)
            ms = number if number > _SECONDS_END else number * 1000
        else:
            when = datetime.fromisoformat(value.strip())
            ms = from_datetime(when if when.tzinfo else when.replace(tzinfo=UTC))
    except (OverflowError, ValueError):
        return None
    return round(ms) if 0 < ms < _LATEST_MS else None


class _Number(str):
    """A JSON number as it was written."""


def _read_json(body: bytes) -> Any:
    return json.loads(body.decode("utf-8-sig"), parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _written(value: Any) -> str:
    match value:
        case _Number():
            return str(value)
        case Mapping():
            return "{" + ",".join(f"{_quoted(name)}:{_written(member)}" for name, member in value.items()) + "}"
        case list():
            return "[" + ",".join(map(_written, value)) + "]"
    return _quoted(value)


def _quoted(value: Any) -> str:
    return without_surrogates(json.dumps(value, ensure_ascii=False))


def _mark(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_MARK_LENGTH]
