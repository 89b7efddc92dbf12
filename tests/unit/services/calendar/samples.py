"""Samples of the calendar service."""

from tests.support.samples import Sample
from tests.support.sink import Reply


def _calendar(*events: str) -> dict[str, Reply]:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//whenthen//EN", *events, "END:VCALENDAR", ""]
    return {"/a.ics": Reply(body="\r\n".join(lines).encode(), headers=(("Content-Type", "text/calendar"),))}


def _event(uid: str, start: str) -> str:
    return (
        f"BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260901T000000Z\r\nDTSTART:{start}\r\nDURATION:PT1H\r\n"
        f"SUMMARY:Meeting {uid}\r\nEND:VEVENT"
    )


# The first check is at 14:13 UTC.
_LATER = _event("later", "20261001T090000Z")
_SOON = _event("soon", "20260921T142000Z")

SAMPLES = {
    "event_starts": Sample(
        {"url": "{url}/a.ics", "lead_minutes": 5}, before=_calendar(_LATER), after=_calendar(_LATER, _SOON)
    ),
    "new_event": Sample({"url": "{url}/a.ics"}, before=_calendar(_LATER), after=_calendar(_LATER, _SOON)),
}
