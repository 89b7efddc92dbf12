"""How the calendar service finds events that start and events that are new."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from operator import itemgetter
from typing import Any

from whenthen.clock import time_text, to_datetime
from whenthen.services.calendar.fields import CalendarFields, EventStartsFields
from whenthen.services.calendar.upcoming import GRACE_MS, HORIZON_MS, Outlook, Upcoming
from whenthen.services.checking import Check, CheckFailed, Found, Item, Position
from whenthen.services.documents import Document, known_source, read_document
from whenthen.services.isolation.apart import read_apart
from whenthen.services.isolation.errors import NotRead
from whenthen.services.zones import zone_info

MAX_NEW_EVENTS = 2000
"""How many events of a calendar are watched for `new_event`: the latest to be made."""

_PROGRAM = "whenthen.services.calendar.reading"
_ACCEPT = "text/calendar, */*;q=0.8"
_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_LATE_MS = 5 * _MINUTE_MS


@dataclass(frozen=True, slots=True)
class _Read:
    """What asking for the calendar gave: an outlook, the rest of the position, and why it could not be asked."""

    outlook: Outlook
    rest: dict[str, Any]
    failure: str = ""


def check_event_starts(check: Check[EventStartsFields]) -> Found:
    """Find the occurrences that are due. They come on time also while the calendar can't be read.

    Raises
    ------
    CheckFailed
        The calendar can't be read, and nothing is known of what it holds.
    """
    now, old = check.now, check.position
    known = Outlook.read(old) if old else None
    try:
        read = _read_outlook(check, known)
    except CheckFailed as error:
        if old is None or known is None or not known.upcoming:
            raise
        rest = {**old, "ask_at": error.retry_at} if error.retry_at else dict(old)
        read = _Read(known, rest, f"Events come as they were known before: {error}")
    missed = known.missed(now) if known else 0
    notes = [read.failure, read.rest["note"]]
    if missed:
        notes.append(f"Events that were missed, because nothing was checked when they were due: {missed}.")
    outlook = read.outlook.after(now)
    next_due = outlook.next_due()
    next_check_at = None
    if next_due is not None:
        next_check_at = min(next_due, now - now % _MINUTE_MS + check.fields.interval_minutes * _MINUTE_MS)
    return Found(
        tuple(_starting(occurrence, check) for occurrence in read.outlook.due(now)),
        {**read.rest, **outlook.as_dict()},
        next_check_at=next_check_at,
        note=" ".join(filter(None, notes)),
    )


def check_new_event(check: Check[CalendarFields]) -> Found:
    """Find the events that the calendar holds; one that repeats is one event. Raises `CheckFailed`."""
    old = check.position
    document = read_document(check, known_source(old, check.fields.url), field="url", accept=_ACCEPT)
    if document is None:
        old = _position(old)
        return Found((), old, note=old["note"])
    seen = _seen(document)
    if old is not None and old["sha256"] == seen["sha256"]:
        return Found((), {**old, **seen}, note=old["note"])
    read = _read(document, check)
    made = ((event["start"] if event["created"] is None else event["created"], event) for event in read["events"])
    found = sorted((([at, event["unique"]], event) for at, event in made), key=itemgetter(0))
    # What was left out once stays left out: it is not new when others are deleted.
    floor, notes = (old or {}).get("floor"), [*read["notes"]]
    if floor is not None:
        found = [(place, event) for place, event in found if place >= floor]
    if len(found) > MAX_NEW_EVENTS:
        found = found[-MAX_NEW_EVENTS:]
        floor = found[0][0]
        notes.append(f"Only the latest {MAX_NEW_EVENTS} events are watched.")
    note = " ".join(notes)
    return Found(tuple(_new(event, check) for _, event in found), {**seen, "floor": floor, "note": note}, note=note)


def _read_outlook(check: Check[EventStartsFields], known: Outlook | None) -> _Read:
    old, now, lead = check.position, check.now, check.fields.lead_minutes * _MINUTE_MS
    if old is not None and known is not None and (old.get("ask_at") or 0) > now:
        return _Read(known, dict(old))
    source = known_source(old, check.fields.url)
    short = known is None or known.is_short(now)
    if short:
        source = replace(source, etag=None, last_modified=None)
    document = read_document(check, source, field="url", accept=_ACCEPT)
    if document is None:
        old = _position(old)
        return _Read(Outlook.read(old), {**old, "ask_at": None})
    seen = {**_seen(document), "ask_at": None}
    if old is not None and known is not None and not short and old["sha256"] == seen["sha256"]:
        return _Read(known, {**old, **seen})
    hours = (now - GRACE_MS + lead) // _HOUR_MS, (now + HORIZON_MS + lead) // _HOUR_MS
    # Whole hours, so that triggers that share a calendar share what is read of it.
    read = _read(document, check, hours=list(hours))
    upcoming = [Upcoming(due=event["start"] - lead, **event) for event in read["events"]]
    return _Read(Outlook.of(upcoming, now), {**seen, "note": " ".join(read["notes"])})


def _read(document: Document, check: Check[Any], hours: list[int] | None = None) -> dict[str, Any]:
    zone, search = check.fields.zone, check.fields.search
    try:
        read: dict[str, Any] = read_apart(_PROGRAM, document.body, zone=zone, search=search, hours=hours)
    except NotRead as error:
        raise CheckFailed(str(error), field="url") from error
    return read


def _seen(document: Document) -> dict[str, Any]:
    return {"source": document.source.as_dict(), "sha256": sha256(document.body).hexdigest()}


def _position(old: Position | None) -> Position:
    if old is None:
        raise CheckFailed("The source says that nothing has changed, to one who has never asked.", field="url")
    return old


def _starting(occurrence: Upcoming, check: Check[EventStartsFields]) -> Item:
    late = check.now - occurrence.due
    return Item(
        unique=occurrence.unique,
        ingredients=_ingredients(asdict(occurrence), check.fields.zone),
        occurred_at=occurrence.due,
        note=f"Comes {late // _MINUTE_MS} minutes late." if late >= _LATE_MS else "",
    )


def _new(event: dict[str, Any], check: Check[CalendarFields]) -> Item:
    made = check.now if event["created"] is None else min(event["created"], check.now)
    return Item(
        unique=event["unique"],
        ingredients={**_ingredients(event, check.fields.zone), "CreatedAt": _shown(made, check.fields.zone)},
        occurred_at=made,
    )


def _ingredients(event: Mapping[str, Any], zone: str) -> dict[str, str]:
    return {
        "Title": event["title"],
        "Description": event["description"],
        "Where": event["where"],
        "Starts": _shown(event["start"], zone),
        "Ends": _shown(event["end"], zone),
        "EventUrl": event["url"],
    }


def _shown(ms: int, zone: str) -> str:
    try:
        when = to_datetime(ms).astimezone(zone_info(zone))
    except (OverflowError, ValueError, OSError):
        # There is no room for an offset at the ends of time.
        when = (datetime.max if ms > 0 else datetime.min).replace(tzinfo=UTC)
    return time_text(when)
