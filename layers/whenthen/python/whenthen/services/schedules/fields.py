"""Fields of triggers that go by the clock or by the sun."""

import re
from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.services.contract import Fields
from whenthen.services.schedules.slots import Slot
from whenthen.services.zones import Zone

_TIME_OF_DAY = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")


def _time_of_day(text: str) -> str:
    match = _TIME_OF_DAY.fullmatch(text)
    if not match:
        raise ValueError("must be a time of day from 00:00 to 23:59, such as 07:30 or 19:05")
    return f"{int(match[1]):02}:{match[2]}"


TimeOfDay = Annotated[
    str,
    StringConstraints(max_length=16, strip_whitespace=True),
    AfterValidator(_time_of_day),
    Field(
        title="Time",
        description="Hours and minutes, such as 07:30 or 19:05. On the day a change of the clock leaves this time "
        "out, it is the first instant after the gap; where it comes twice, it is the first one.",
    ),
]

Latitude = Annotated[
    float,
    Field(
        title="Latitude", description="In degrees; south of the equator negative.", ge=-90, le=90, allow_inf_nan=False
    ),
]

Longitude = Annotated[
    float,
    Field(
        title="Longitude", description="In degrees; west of Greenwich negative.", ge=-180, le=180, allow_inf_nan=False
    ),
]


class ClockFields(Fields):
    """What every trigger has that goes by the clock or by the sun."""

    zone: Zone = ""

    @abstractmethod
    def next_slot(self, after: int) -> Slot | None:
        """See `slots.Scheduled`."""

    def words(self, language: str) -> str:  # noqa: ARG002 - for those whose fields don't speak for themselves
        """Return when it runs in the words of a language, ``en`` or ``ja``; empty when the fields say it."""
        return ""


class ScheduleFields(ClockFields):
    """What to do with runs that are late, beside that."""

    catch_up: Annotated[
        Literal["last", "all", "none"],
        Field(
            title="After an interruption",
            description="What to do with runs that are late: the last one alone, all of them, or none.",
        ),
    ] = "last"
    grace_minutes: Annotated[
        int,
        Field(
            title="Grace",
            description="How many minutes late a run may be. One that is later is left out.",
            ge=0,
            le=10080,
        ),
    ] = 60
