"""What the partner service offers."""

from whenthen.services.contract import Action, Ingredient, Query, Service, Trigger
from whenthen.services.partner.actions import run_action
from whenthen.services.partner.checks import check_event
from whenthen.services.partner.connection import CONNECTION
from whenthen.services.partner.fields import EventFields, RunActionFields, RunQueryFields
from whenthen.services.partner.queries import run_query

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
            connects="partner",
            # A key may also stand in the trigger's fields, and some partners want none.
            may_connect=True,
        ),
    ),
    actions=(
        Action(
            slug="run_action",
            name="Run a partner's action",
            description="Runs any action of a service that speaks the IFTTT service protocol.",
            fields=RunActionFields,
            prepare=run_action,
            connects="partner",
        ),
    ),
    queries=(
        Query(
            slug="run_query",
            name="Ask a partner's query",
            description="Asks any query of a service that speaks the IFTTT service protocol. The members of its rows "
            "are ingredients by their own names, too.",
            fields=RunQueryFields,
            ingredients=(Ingredient("RowJson", "The row as JSON", '{"title": "Sunset", "views": 12}'),),
            prepare=run_query,
            connects="partner",
        ),
    ),
    connection=CONNECTION,
)
