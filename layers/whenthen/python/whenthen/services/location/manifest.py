"""What the location service offers."""

from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.location.checks import entered, entered_or_exited, exited
from whenthen.services.location.fields import PlaceFields

_PHONE = "The phone reports to /location/{key} with OwnTracks in HTTP mode; {key} is a webhook key."

_INGREDIENTS = (
    Ingredient("Device", "The phone, with its user", "ann/pixel"),
    Ingredient("PlaceName", "Name of the place", "Home"),
    Ingredient("EnteredOrExited", "entered or exited", "entered"),
    Ingredient("Latitude", "Where the phone was, in degrees", "48.858370"),
    Ingredient("Longitude", "Where the phone was, in degrees", "2.294481"),
    Ingredient("OccurredAt", "When the phone was there, in the trigger's time zone", "August 23, 2010 at 11:01PM"),
    Ingredient(
        "MapUrl",
        "Where the phone was on OpenStreetMap",
        "https://www.openstreetmap.org/?mlat=48.858370&mlon=2.294481#map=17/48.858370/2.294481",
    ),
)

SERVICE = Service(
    slug="location",
    name="Location",
    triggers=(
        Trigger(
            slug="entered",
            name="You enter a place",
            description=f"Fires every time a phone enters a place. {_PHONE}",
            fields=PlaceFields,
            ingredients=_INGREDIENTS,
            check=entered,
            offline=True,
        ),
        Trigger(
            slug="exited",
            name="You leave a place",
            description=f"Fires every time a phone leaves a place. {_PHONE}",
            fields=PlaceFields,
            ingredients=_INGREDIENTS,
            check=exited,
            offline=True,
        ),
        Trigger(
            slug="entered_or_exited",
            name="You enter or leave a place",
            description=f"Fires every time a phone enters or leaves a place. {_PHONE}",
            fields=PlaceFields,
            ingredients=_INGREDIENTS,
            check=entered_or_exited,
            offline=True,
        ),
    ),
)
