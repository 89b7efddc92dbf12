"""Fields of the location service."""

from typing import Annotated

from pydantic import Field, StringConstraints

from whenthen.services.contract import Fields
from whenthen.services.location.owntracks import MAX_DEVICE_CHARACTERS
from whenthen.services.schedules.fields import Latitude, Longitude
from whenthen.services.zones import Zone


class PlaceFields(Fields):
    """A place, and whose phone."""

    lat: Latitude
    lng: Longitude
    radius: Annotated[float, Field(title="Radius", description="In metres.", ge=50, le=100_000, allow_inf_nan=False)]
    place: Annotated[
        str,
        StringConstraints(max_length=200, strip_whitespace=True),
        Field(title="Name of the place", description="For people, for example Home."),
    ] = ""
    device: Annotated[
        str,
        StringConstraints(max_length=MAX_DEVICE_CHARACTERS, strip_whitespace=True),
        Field(
            title="Phone",
            description="The phone's name in OwnTracks, such as pixel, or with its user, such as ann/pixel; empty for "
            "any of your phones.",
        ),
    ] = ""
    zone: Zone = ""

    def is_about(self, device: str) -> bool:
        """Return whether the phone of that name is meant."""
        return not self.device or device == self.device or device.endswith(f"/{self.device}")
