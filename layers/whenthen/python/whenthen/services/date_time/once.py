"""A single instant, as people write it."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from whenthen.clock import from_datetime, isoformat
from whenthen.services.schedules.slots import Slot, instant_of

_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_YEARS = range(1970, 9999)


def check_moment(text: str) -> str:
    """Return a local date and time, or one with an offset (RFC 3339).

    One that is past is taken: an applet that is stored stays valid.

    Raises
    ------
    ValueError
        It is none.
    """
    found = text.upper()
    if not _MOMENT.fullmatch(found):
        raise ValueError("must be a date and time such as 2026-12-24T18:00, or with an offset: 2026-12-24T18:00+01:00")
    try:
        moment = datetime.fromisoformat(found)
    except ValueError as error:
        raise ValueError(f"is no date and time of the calendar: {text!r}") from error
    if moment.year not in _YEARS:
        raise ValueError(f"must be in a year from {_YEARS.start} to {_YEARS.stop - 1}")
    return found


def moment_slot(text: str, zone: ZoneInfo) -> Slot | None:
    """Return the slot of text that `check_moment` has taken; None for a local date that the zone has left out."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        at = from_datetime(moment)
        return Slot(at, isoformat(at))
    local = instant_of(moment, zone)
    return None if local is None else Slot(local, moment.isoformat())
