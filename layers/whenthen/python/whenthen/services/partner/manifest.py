"""What the partner service offers."""

from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.partner.checks import check_event
from whenthen.services.partner.fields import EventFields

SERVICE = Service(
    slug="partner",
    name="Partner",
    triggers=(
        Trigger(
            slug="event",
            name="An event of a partner's trigger",
            description="Fires for every event of a trigger of a service that speaks the IFTTT service protocol.",
            fields=EventFields,
            ingredients=(
                Ingredient("EventJson", "The event as JSON", '{"title": "Sunset", "views": 12}'),
                Ingredient("EventId", "The event's id at the partner", "14b9-1fd2-acaa-5df5"),
                Ingredient("CreatedAt", "When it occurred", "August 23, 2010 at 11:01PM"),
            ),
            check=check_event,
        ),
    ),
)
