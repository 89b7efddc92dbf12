"""Fields of the calendar service."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.addresses import web_address
from whenthen.services.checking import PolledFields
from whenthen.services.zones import Zone

MAX_LEAD_MINUTES = 7 * 24 * 60


def _calendar_address(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    # What calendar programs write for an address to subscribe to.
    if scheme.lower() in ("webcal", "webcals"):
        url = f"https{separator}{rest}"
    return web_address(url)


class CalendarFields(PolledFields):
    """A calendar, and which of its events count."""

    url: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2048, strip_whitespace=True),
        AfterValidator(_calendar_address),
        Field(title="Calendar URL", description="The calendar's address in iCal format, often ending in .ics."),
    ]
    search: Annotated[
        str,
        StringConstraints(max_length=200, strip_whitespace=True),
        Field(
            title="Search words",
            description="Words that an event's title, description or place all hold; every event when left out.",
        ),
    ] = ""
    zone: Zone = ""

    def source(self) -> str:
        """See `PolledFields.source`."""
        return self.url


class EventStartsFields(CalendarFields):
    """How long before their start events are due."""

    lead_minutes: Annotated[
        int,
        Field(
            title="Minutes before the start",
            description="0 for the start itself, at most 10080, which is a week.",
            ge=0,
            le=MAX_LEAD_MINUTES,
        ),
    ] = 0
