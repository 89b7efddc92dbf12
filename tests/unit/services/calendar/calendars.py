"""Calendars as text, and checks of them."""

from datetime import datetime
from typing import Any

from tests.support.checking import Checks
from tests.support.sink import Reply, Sink
from whenthen.clock import from_datetime
from whenthen.services.checking import Found

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def calendar(*components: str) -> str:
    """A calendar with these events and zones."""
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//t//EN", *components, "END:VCALENDAR", ""])


def event(uid: str, *lines: str) -> str:
    """An event with its UID as its title, and these lines."""
    return "\r\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{uid}", *lines, "END:VEVENT"])


def at(text: str) -> int:
    """An instant, epoch milliseconds, from ISO 8601 with an offset."""
    return from_datetime(datetime.fromisoformat(text))


def show(sink: Sink, *components: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
    """Answer with a calendar of these from now on."""
    sink.reply("/a.ics", [Reply(body=calendar(*components).encode(), headers=headers)])


def starts(sink: Sink, lead: int = 0, zone: str = "Europe/Paris", **fields: Any) -> Checks:
    """Checks of events that start."""
    values = {"url": f"{sink.url}/a.ics", "lead_minutes": lead, **fields}
    return Checks("calendar", "event_starts", values, zone=zone)


def additions(sink: Sink, **fields: Any) -> Checks:
    """Checks of events that are new."""
    return Checks("calendar", "new_event", {"url": f"{sink.url}/a.ics", **fields}, zone="Europe/Paris")


def titles(found: Found) -> list[str]:
    """The titles of what was found."""
    return [item.ingredients["Title"] for item in found.items]
