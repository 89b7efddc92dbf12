"""How the calendar service finds events that start and events that are new."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from whenthen.clock import to_datetime
from whenthen.services.calendar.fields import CalendarFields, EventStartsFields
from whenthen.services.calendar.times import wall_time
from whenthen.services.calendar.upcoming import GRACE_MS, HORIZON_MS, MAX_DESCRIPTION_CHARACTERS, Outlook, Upcoming
from whenthen.services.checking import Check, CheckFailed, Found, Item, Position
from whenthen.services.documents import Document, known_source, read_document
from whenthen.services.zones import zone_info

if TYPE_CHECKING:
    from whenthen.services.calendar.events import Event

MAX_NEW_EVENTS = 2000
"""How many events of a calendar are watched for `new_event`: the latest to be made."""

_ACCEPT = "text/calendar, */*;q=0.8"
_MINUTE_MS = 60_000
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
    """Find the events that the calendar holds; one that repeats is one event. `CheckFailed` as for `read_calendar`."""
    old = check.position
    document = read_document(check, known_source(old, check.fields.url), field="url", accept=_ACCEPT)
    if document is None:
        old = _position(old)
        return Found((), old, note=old["note"])
    seen = _seen(document)
    if old is not None and old["sha256"] == seen["sha256"]:
        return Found((), {**old, **seen}, note=old["note"])
    from whenthen.services.calendar.events import read_calendar
    from whenthen.services.calendar.occurrences import masters

    calendar = read_calendar(document.body, _charset(document), zone_info(check.fields.zone))
    words = check.fields.search.casefold().split()
    repeated = Counter[str]()
    found: list[tuple[int, str, Event]] = []
    for event in masters(calendar.events):
        # R1: of events that share a UID, each but the first is told by its start too.
        unique = f"{event.uid}\n{event.start.local.isoformat()}" if repeated[event.uid] else event.uid
        repeated[event.uid] += 1
        if not event.cancelled and event.has_words(words):
            made = event.start.instant() if event.created is None else event.created
            found.append((made, unique, event))
    found.sort(key=lambda entry: entry[:2])
    # What was left out once stays left out: it is not new when others are deleted.
    floor = (old or {}).get("floor")
    if floor is not None:
        found = [entry for entry in found if list(entry[:2]) >= floor]
    if len(found) > MAX_NEW_EVENTS:
        found = found[-MAX_NEW_EVENTS:]
        floor = list(found[0][:2])
        calendar.notes.append(f"Only the latest {MAX_NEW_EVENTS} events are watched.")
    items = tuple(_new(unique, event, check) for _, unique, event in found)
    note = " ".join(calendar.notes)
    return Found(items, {**seen, "floor": floor, "note": note}, note=note)


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
    from whenthen.services.calendar.events import read_calendar
    from whenthen.services.calendar.lines import cut
    from whenthen.services.calendar.occurrences import find_occurrences

    calendar = read_calendar(document.body, _charset(document), zone_info(check.fields.zone))
    occurrences, notes = find_occurrences(calendar, now - GRACE_MS + lead, now + HORIZON_MS + lead)
    words = check.fields.search.casefold().split()
    upcoming = [
        Upcoming(
            unique=occurrence.unique,
            due=occurrence.start - lead,
            start=occurrence.start,
            end=occurrence.end,
            title=occurrence.event.title,
            description=cut(occurrence.event.description, MAX_DESCRIPTION_CHARACTERS),
            where=occurrence.event.where,
            url=occurrence.event.url,
        )
        for occurrence in occurrences
        if occurrence.event.has_words(words)
    ]
    return _Read(Outlook.of(upcoming, now), {**seen, "note": " ".join([*calendar.notes, *notes])})


def _seen(document: Document) -> dict[str, Any]:
    return {"source": document.source.as_dict(), "sha256": sha256(document.body).hexdigest()}


def _charset(document: Document) -> str:
    return document.headers.get("content-type", "").lower().partition("charset=")[2].strip(' "').partition(";")[0]


def _position(old: Position | None) -> Position:
    if old is None:
        raise CheckFailed("The source says that nothing has changed, to one who has never asked.", field="url")
    return old


def _starting(occurrence: Upcoming, check: Check[EventStartsFields]) -> Item:
    late = check.now - occurrence.due
    return Item(
        unique=occurrence.unique,
        ingredients={
            "Title": occurrence.title,
            "Description": occurrence.description,
            "Where": occurrence.where,
            "Starts": _shown(occurrence.start, check.fields.zone),
            "Ends": _shown(occurrence.end, check.fields.zone),
            "EventUrl": occurrence.url,
        },
        occurred_at=occurrence.due,
        note=f"Comes {late // _MINUTE_MS} minutes late." if late >= _LATE_MS else "",
    )


def _new(unique: str, event: "Event", check: Check[CalendarFields]) -> Item:
    from whenthen.services.calendar.occurrences import ends_at

    made = check.now if event.created is None else min(event.created, check.now)
    return Item(
        unique=unique,
        ingredients={
            "Title": event.title,
            "Description": event.description,
            "Where": event.where,
            "Starts": _shown(event.start.instant(), check.fields.zone),
            "Ends": _shown(ends_at(event.start, event.length), check.fields.zone),
            "EventUrl": event.url,
            "CreatedAt": _shown(made, check.fields.zone),
        },
        occurred_at=made,
    )


def _shown(ms: int, zone: str) -> str:
    try:
        when = to_datetime(ms).astimezone(zone_info(zone))
    except (OverflowError, ValueError, OSError):
        # At the ends of time there is no room for an offset.
        when = wall_time(ms).replace(tzinfo=UTC)
    return when.strftime("%B %d, %Y at %I:%M%p")
