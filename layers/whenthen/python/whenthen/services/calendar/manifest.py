"""What the calendar service offers."""

from whenthen.services.calendar.checks import check_event_starts, check_new_event
from whenthen.services.calendar.fields import CalendarFields, EventStartsFields
from whenthen.services.contract import Ingredient, Service, Trigger

_EVENT = (
    Ingredient("Title", "Title", "Team meeting"),
    Ingredient("Description", "Description", "Bring the numbers of last month"),
    Ingredient("Where", "Place", "Room 4"),
    Ingredient("Starts", "When it starts", "August 23, 2010 at 11:00AM"),
    Ingredient("Ends", "When it ends", "August 23, 2010 at 12:00PM"),
    Ingredient("EventUrl", "Link of the event, if it has one", "https://example.org/meetings/17"),
)

SERVICE = Service(
    slug="calendar",
    name="Calendar",
    triggers=(
        Trigger(
            slug="event_starts",
            name="An event starts",
            description="Fires a number of minutes before each event of a calendar starts, repeated ones included.",
            fields=EventStartsFields,
            ingredients=_EVENT,
            check=check_event_starts,
        ),
        Trigger(
            slug="new_event",
            name="A new event is added",
            description="Fires every time a calendar has an event that it did not have before.",
            fields=CalendarFields,
            ingredients=(*_EVENT, Ingredient("CreatedAt", "When it was added", "August 20, 2010 at 09:15AM")),
            check=check_new_event,
        ),
    ),
)
