"""Fields of the weather service."""

from typing import Annotated, Literal

from pydantic import Field

from whenthen.services.checking import PolledFields
from whenthen.services.schedules.days import every_day, on_days, time_of_day
from whenthen.services.schedules.fields import ClockFields, Latitude, Longitude, TimeOfDay
from whenthen.services.schedules.slots import Slot, next_wall_slot
from whenthen.services.weather.conditions import Condition
from whenthen.services.zones import Zone, zone_info

type Unit = Literal["celsius", "fahrenheit"]


class PlaceFields(PolledFields):
    """A place whose present weather is asked for."""

    zone: Zone = ""
    latitude: Latitude
    longitude: Longitude
    interval_minutes: Annotated[
        int,
        Field(
            title="Check every",
            description="Minutes from one check to the next. There is a new observation every 15.",
            ge=1,
            le=1440,
        ),
    ] = 15


class ConditionChangesToFields(PlaceFields):
    """The condition to wait for."""

    condition: Annotated[
        Condition, Field(title="Condition", description="Rain takes in drizzle and showers; cloudy begins at partly.")
    ]


class ThresholdFields(PlaceFields):
    """The temperature to wait for."""

    threshold: Annotated[
        float,
        Field(title="Temperature", description="The limit; it must be crossed.", ge=-150, le=150, allow_inf_nan=False),
    ]
    unit: Annotated[Unit, Field(title="Unit", description="Of the temperature: celsius or fahrenheit.")] = "celsius"


class TodaysReportAtFields(ClockFields):
    """When and where the report is for."""

    latitude: Latitude
    longitude: Longitude
    time: TimeOfDay
    unit: Annotated[
        Unit, Field(title="Unit", description="Of the temperatures in the report's text: celsius or fahrenheit.")
    ] = "celsius"
    grace_minutes: Annotated[
        int,
        Field(
            title="Grace",
            description="How many minutes late the report may be, when the weather service does not answer.",
            ge=0,
            le=1440,
        ),
    ] = 120

    def next_slot(self, after: int) -> Slot | None:
        """See `slots.Scheduled`."""
        return next_wall_slot(on_days(time_of_day(self.time), every_day), zone_info(self.zone), after)
