"""How the partner service finds events: all that the partner shows, whatever their time (A20, H02)."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from whenthen.clock import to_datetime
from whenthen.net.errors import NetError
from whenthen.services.checking import Check, CheckFailed, Found, Item
from whenthen.services.partner.answers import PartnerEvent, read_answer
from whenthen.services.partner.fields import PartnerEventFields
from whenthen.services.partner.requests import trigger_request
from whenthen.services.zones import zone_info


def check_partner_event(check: Check[PartnerEventFields]) -> Found:
    """Find the latest events of a partner's trigger.

    Some partners make up new ids for every answer. So an event whose id is new is left out when no id is one of
    the last answer's, and its content is.

    Raises
    ------
    CheckFailed
        The partner can't be asked, or says no.
    """
    fields, old = check.fields, check.position
    try:
        answer = check.fetch(trigger_request(fields, check.trigger_id))
    except NetError as error:
        raise CheckFailed(f"The partner could not be asked. {error}", field="url") from error
    answered = read_answer(answer, fields, check.now)
    events = answered.events
    notes = []
    if answered.unusable:
        notes.append(f"Events that can't be used, because they have no meta.id: {answered.unusable}.")
    if not events:
        return Found((), old if old is not None else _position([], ()), note=" ".join(notes))

    ids = {event.id_mark() for event in events}
    before, contents = (set(old["ids"]), set(old["contents"])) if old else (set(), set())
    all_new = bool(before) and ids.isdisjoint(before)
    left_out = set(old["left_out"]) & ids if old else set()
    items = []
    if all_new and any(event.content_mark() in contents for event in events):
        # Ids tell nothing, so the last answer and the content do. None of these ids is to count later.
        last = sha256(",".join(sorted(before)).encode()).hexdigest()
        fresh = {event.content_mark(): event for event in events if event.content_mark() not in contents}
        items = [_item(event, f"content:{last}:{mark}", check) for mark, event in fresh.items()]
        left_out = ids
        notes.append("The same content came with new ids, and did not count.")
    else:
        if all_new and len(events) == fields.limit:
            notes.append("All events are new: others may have been lost. Check more often, or allow more events.")
        items = [_item(event, event.identity, check) for event in events if event.id_mark() not in left_out]
    return Found(tuple(items), _position(events, left_out), note=" ".join(notes))


def _position(events: Sequence[PartnerEvent], left_out: Iterable[str]) -> dict[str, list[str]]:
    return {
        "ids": sorted({event.id_mark() for event in events}),
        "contents": sorted({event.content_mark() for event in events}),
        "left_out": sorted(left_out),
    }


def _item(event: PartnerEvent, unique: str, check: Check[PartnerEventFields]) -> Item:
    when = to_datetime(event.occurred_at).astimezone(zone_info(check.fields.zone))
    return Item(
        unique=unique,
        ingredients={
            "EventJson": event.text,
            "EventId": event.identity,
            "CreatedAt": when.strftime("%B %d, %Y at %I:%M%p"),
        },
        occurred_at=event.occurred_at,
    )
