"""What the Home Assistant service offers."""

from whenthen.services.contract import Action, Query, Service
from whenthen.services.home_assistant.actions import call_service, fire_webhook
from whenthen.services.home_assistant.connection import CONNECTION
from whenthen.services.home_assistant.fields import CallServiceFields, FireWebhookFields, GetStateFields
from whenthen.services.home_assistant.queries import STATE, get_state

SERVICE = Service(
    slug="home_assistant",
    name="Home Assistant",
    actions=(
        Action(
            slug="call_service",
            name="Call a service",
            description="Calls a service, which Home Assistant also calls an action: turns on a light, runs a script.",
            fields=CallServiceFields,
            prepare=call_service,
            connects="home_assistant",
        ),
        Action(
            slug="fire_webhook",
            name="Fire a webhook",
            description="Fires the webhook of an automation. Home Assistant answers the same when there is no such "
            "webhook, or when it takes requests from its own network only.",
            fields=FireWebhookFields,
            prepare=fire_webhook,
            connects="home_assistant",
        ),
    ),
    queries=(
        Query(
            slug="get_state",
            name="Get a state",
            description="Looks at the state of one entity.",
            fields=GetStateFields,
            ingredients=STATE,
            prepare=get_state,
            connects="home_assistant",
        ),
    ),
    connection=CONNECTION,
)
