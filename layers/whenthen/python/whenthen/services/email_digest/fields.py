"""Fields of the email digest service."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from whenthen.model.encoding import Encoding
from whenthen.services.contract import Fields, unless_templated
from whenthen.services.date_time.fields import WEEKDAYS, Weekday
from whenthen.services.email.fields import Recipients
from whenthen.services.notifications.fields import check_link
from whenthen.services.schedules.days import on_days, time_of_day
from whenthen.services.schedules.fields import TimeOfDay
from whenthen.services.schedules.slots import Slot, next_wall_slot
from whenthen.services.zones import Zone, zone_info


class AddToDigestFields(Fields):
    """An entry, and the mail that it is collected for. Actions with equal fields for the mail collect for the same."""

    to: Recipients
    subject: Annotated[
        str,
        StringConstraints(min_length=1, max_length=16384),
        Field(title="Subject", description="Of the mail. Entries with another subject come in another mail."),
    ] = "Your digest"
    schedule: Annotated[Literal["daily", "weekly"], Field(title="How often")] = "daily"
    weekday: Annotated[Weekday, Field(title="Day", description="Of a weekly mail.")] = "monday"
    time: TimeOfDay = "08:00"
    zone: Zone = ""
    title: Annotated[str, StringConstraints(max_length=16384), Field(title="Title of the entry")] = ""
    text: Annotated[str, StringConstraints(max_length=262144), Field(title="Text of the entry")] = ""
    link: Annotated[
        str,
        StringConstraints(max_length=8192, strip_whitespace=True),
        unless_templated(check_link),
        Field(title="Link of the entry", description="An http or https URL."),
    ] = ""

    def encodings(self) -> Mapping[str, Encoding]:
        """See `Fields.encodings`."""
        return {"to": Encoding.ADDRESS, "subject": Encoding.HEADER, "title": Encoding.HEADER, "link": Encoding.URL}

    def next_slot(self, after: int) -> Slot | None:
        """See `schedules.slots.Scheduled`."""
        return next_wall_slot(on_days(time_of_day(self.time), self._is_day), zone_info(self.zone), after)

    def _is_day(self, day: date) -> bool:
        return self.schedule == "daily" or WEEKDAYS[day.weekday()] == self.weekday
