"""Which runs of a schedule are due."""

from collections.abc import Mapping

from whenthen.services.checking import Check, Found
from whenthen.services.date_time.fields import SunFields
from whenthen.services.schedules.due import NEVER, find_due
from whenthen.services.schedules.fields import ScheduleFields
from whenthen.services.schedules.items import considered, position_after, slot_item
from whenthen.services.schedules.slots import Slot
from whenthen.services.schedules.texts import time_text
from whenthen.services.zones import zone_info


def check_schedule(check: Check[ScheduleFields]) -> Found:
    """Return the runs that are due. The first check finds none: a schedule starts after it (R7)."""
    fields = check.fields
    if check.position is None:
        first = fields.next_slot(check.now)
        return Found((), position_after(check.now), next_check_at=first.at if first else NEVER)
    due = find_due(
        fields, considered(check.position), check.now, catch_up=fields.catch_up, grace_minutes=fields.grace_minutes
    )
    return Found(
        tuple(slot_item(slot, fields.zone, check.now, _more(fields, slot)) for slot in due.slots),
        position_after(due.after),
        next_check_at=due.next_at,
        note=due.note(zone_info(fields.zone)),
    )


def _more(fields: ScheduleFields, slot: Slot) -> Mapping[str, str]:
    if not isinstance(fields, SunFields):
        return {}
    return {fields.event_ingredient: time_text(fields.sun_event_of(slot.at), zone_info(fields.zone))}
