"""How the partner service finds events: all that the partner shows, whatever their time (A20, H02)."""

from collections.abc import Collection, Sequence
from hashlib import sha256

from whenthen.clock import time_text, to_datetime
from whenthen.net.errors import NetError
from whenthen.services.checking import Check, CheckFailed, Found, Item
from whenthen.services.documents import MAX_DOCUMENT_BYTES, may_pass
from whenthen.services.partner.access import Access
from whenthen.services.partner.answers import PartnerEvent, read_events
from whenthen.services.partner.failures import failure
from whenthen.services.partner.fields import EventFields
from whenthen.services.partner.requests import trigger_request
from whenthen.services.zones import zone_info


def check_event(check: Check[EventFields]) -> Found:
    """Find the latest events of a partner's trigger.

    Some partners make up new ids for every answer. So when no id is one of the last answer's, events whose content
    is do not count.

    Raises
    ------
    CheckFailed
        The partner can't be asked, says no, or gives nothing that can be used.
    """
    old = check.position
    events, unusable = _ask(check)
    notes = [f"{unusable} entries of the partner's answer are no events with an id."] if unusable else []
    if not events:
        # An empty answer tells nothing about ids.
        return Found((), old if old is not None else _position((), ()), note=" ".join(notes))
    ids = {event.id_mark() for event in events}
    before, contents, left_out = (set((old or {}).get(name, ())) for name in ("ids", "contents", "left_out"))
    all_new = bool(before) and ids.isdisjoint(before)
    if all_new and any(event.content_mark() in contents for event in events):
        # Ids tell nothing here, so the last answer and the content do. None of these ids counts later.
        last = sha256(",".join(sorted(before)).encode()).hexdigest()
        fresh = {event.content_mark(): event for event in events if event.content_mark() not in contents}
        items = [_item(event, f"content:{last}:{mark}", check) for mark, event in fresh.items()]
        left_out = ids
        notes.append("The partner makes up its ids: what came with new ones, but was known, does not count.")
    else:
        left_out &= ids
        items = [_item(event, event.identity, check) for event in events if event.id_mark() not in left_out]
        if all_new and len(events) == check.fields.limit:
            notes.append("All events are new, so some may have been lost: check more often, or allow more events.")
    return Found(tuple(items), _position(events, left_out), note=" ".join(notes))


def _ask(check: Check[EventFields]) -> tuple[list[PartnerEvent], int]:
    """Return the latest events, as many as are allowed, and how many entries are no events."""
    fields = check.fields
    access = _access(check)
    try:
        answer = check.fetch(trigger_request(access, fields, check.trigger_id))
    except NetError as error:
        raise CheckFailed(f"The partner could not be asked. {error}", field="url", temporary=may_pass(error)) from error
    if answer.status != 200:
        raise failure(answer, access, fields, check.now)
    if answer.truncated or len(answer.body) >= MAX_DOCUMENT_BYTES:
        raise CheckFailed("The partner's answer is too long, or broke off before its end.", field="url")
    events, unusable = read_events(answer.body, check.now)
    return events[-fields.limit :], unusable


def _access(check: Check[EventFields]) -> Access:
    """Return the way in: the connection's, or what stands in the trigger's own fields."""
    fields = check.fields
    if check.account is None:
        if not fields.url:
            raise CheckFailed("The address of the partner is needed without a connection.", field="url")
        return Access(fields.url, fields.service_key)
    access: Access = check.account.access()
    if fields.service_key:
        raise CheckFailed("The service key belongs into the connection.", field="service_key")
    # The connection's secrets go to its own address alone.
    if fields.url not in ("", access.url):
        raise CheckFailed("The address is another than that of the connection: leave it out.", field="url")
    return access


def _position(events: Sequence[PartnerEvent], left_out: Collection[str]) -> dict[str, list[str]]:
    return {
        "ids": sorted({event.id_mark() for event in events}),
        "contents": sorted({event.content_mark() for event in events}),
        "left_out": sorted(left_out),
    }


def _item(event: PartnerEvent, unique: str, check: Check[EventFields]) -> Item:
    when = to_datetime(event.occurred_at).astimezone(zone_info(check.fields.zone))
    return Item(
        unique=unique,
        ingredients={
            "EventJson": event.content,
            "EventId": event.identity,
            "CreatedAt": time_text(when),
        },
        occurred_at=event.occurred_at,
    )
