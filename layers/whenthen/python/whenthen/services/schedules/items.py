"""What a check of a schedule finds: the same for every trigger that goes by the clock."""

from collections.abc import Mapping
from typing import Any

from whenthen.services.checking import Item
from whenthen.services.contract import Ingredient
from whenthen.services.schedules.due import ON_TIME_MS
from whenthen.services.schedules.slots import Slot
from whenthen.services.schedules.texts import late_text, time_text, weekday_text
from whenthen.services.zones import zone_info

SLOT_INGREDIENTS = (
    Ingredient("CheckTime", "When it was due", "August 23, 2010 at 11:01PM"),
    Ingredient("DayOfWeek", "Day of the week", "Monday"),
    Ingredient("LateMinutes", "How many minutes late", "0"),
)
"""What every slot gives."""

_AFTER = "after"
_MINUTE_MS = 60_000


def position_after(after: int) -> dict[str, int]:
    """Return the position that says: everything until `after`, epoch milliseconds, has been considered."""
    return {_AFTER: after}


def considered(position: Mapping[str, Any]) -> int:
    """Return the instant of a position of `position_after`, epoch milliseconds."""
    return int(position[_AFTER])


def slot_item(slot: Slot, zone: str, now: int, more: Mapping[str, str] | None = None) -> Item:
    """Return the item of a slot.

    Parameters
    ----------
    slot:
        The slot.
    zone:
        For the ingredients' texts.
    now:
        The instant of the check, epoch milliseconds: what decides whether the slot is late.
    more:
        Ingredients beyond `SLOT_INGREDIENTS`.
    """
    rules = zone_info(zone)
    late = now - slot.at
    on_time = late <= ON_TIME_MS
    return Item(
        unique=slot.key,
        ingredients={
            "CheckTime": time_text(slot.at, rules),
            "DayOfWeek": weekday_text(slot.at, rules),
            "LateMinutes": "0" if on_time else str(late // _MINUTE_MS),
            **(more or {}),
        },
        occurred_at=slot.at,
        note="" if on_time else late_text(late),
    )
