"""Which phones have entered or left a place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whenthen.clock import time_text, to_datetime
from whenthen.services.checking import Check, Found, Item
from whenthen.services.location.distance import distance_metres
from whenthen.services.location.fields import PlaceFields
from whenthen.services.owned import Fix, Phone
from whenthen.services.zones import zone_info

_MINUTE_MS = 60_000
_ROUGH_METRES = 100.0

ENTERED = "entered"
EXITED = "exited"


@dataclass(slots=True)
class _Known:
    """What is known of a phone: its latest fix by number and by time, and whether it was inside then."""

    number: int = 0
    at: int = 0
    inside: bool | None = None


def entered(check: Check[PlaceFields]) -> Found:
    """Return who has entered the place."""
    return _find(check, (ENTERED,))


def exited(check: Check[PlaceFields]) -> Found:
    """Return who has left the place."""
    return _find(check, (EXITED,))


def entered_or_exited(check: Check[PlaceFields]) -> Found:
    """Return who has entered or left the place."""
    return _find(check, (ENTERED, EXITED))


def _find(check: Check[PlaceFields], wanted: Sequence[str]) -> Found:
    """Go through the fixes that came since the last check. The first check remembers where phones are (R3)."""
    fields = check.fields
    seen = check.position["phones"] if check.position is not None else {}
    known: dict[str, _Known] = {}
    items: list[Item] = []
    for phone in check.owned.phones():
        if not fields.is_about(phone.device):
            continue
        known[phone.device] = _Known(*seen.get(phone.device, ()))
        for fix, direction in _crossings(fields, phone, known[phone.device]):
            if direction in wanted and check.position is not None:
                items.append(_item(fields, phone.device, fix, direction))
    return Found(
        tuple(sorted(items, key=lambda item: item.occurred_at)),
        {"phones": {device: [state.number, state.at, state.inside] for device, state in sorted(known.items())}},
        next_check_at=check.now - check.now % _MINUTE_MS + _MINUTE_MS,
    )


def _crossings(fields: PlaceFields, phone: Phone, known: _Known) -> Iterator[tuple[Fix, str]]:
    """Yield the fixes at which the phone is found to have crossed the border, and bring `known` up to date.

    A phone that was nowhere before has crossed nothing. A fix that is older than the latest one comes too late.
    """
    new = sorted((fix for fix in phone.fixes if fix.number > known.number), key=lambda fix: (fix.at, fix.number))
    known.number = max((known.number, *(fix.number for fix in new)))
    for fix in new:
        if fix.at < known.at:
            continue
        known.at = fix.at
        inside = is_inside(fields, fix)
        if inside is None or inside is known.inside:
            continue
        if known.inside is not None:
            yield fix, ENTERED if inside else EXITED
        known.inside = inside


def is_inside(fields: PlaceFields, fix: Fix) -> bool | None:
    """Return whether a phone is inside, or None when the fix is too rough to tell: then it is where it was.

    It is inside when the middle of its fix is, unless that is rougher than the place is large. It is outside when all
    of the circle is in which it may be. In between nothing changes, so a phone near the border does not flap.
    """
    distance = distance_metres(fields.lat, fields.lng, fix.latitude, fix.longitude)
    if distance <= fields.radius and fix.accuracy <= max(fields.radius, _ROUGH_METRES):
        return True
    return False if distance - fix.accuracy > fields.radius else None


def _item(fields: PlaceFields, device: str, fix: Fix, direction: str) -> Item:
    latitude, longitude = f"{fix.latitude:.6f}", f"{fix.longitude:.6f}"
    return Item(
        unique=f"{device} {fix.at} {direction}",
        ingredients={
            "Device": device,
            "PlaceName": fields.place,
            "EnteredOrExited": direction,
            "Latitude": latitude,
            "Longitude": longitude,
            "OccurredAt": time_text(to_datetime(fix.at * 1000).astimezone(zone_info(fields.zone))),
            "MapUrl": f"https://www.openstreetmap.org/?mlat={latitude}&mlon={longitude}#map=17/{latitude}/{longitude}",
        },
        occurred_at=fix.at * 1000,
    )
