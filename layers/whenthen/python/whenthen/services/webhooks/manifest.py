"""What the webhooks service offers."""

from whenthen.services.contract import Action, Ingredient, Query, Service, Trigger
from whenthen.services.webhooks.actions import make_web_request
from whenthen.services.webhooks.fields import EventFields, MakeWebRequestFields, WebRequestFields
from whenthen.services.webhooks.queries import ask_web

_OCCURRED_AT = Ingredient("OccurredAt", "When it occurred", "November 29, 2026 at 06:20PM")
_EVENT_NAME = Ingredient("EventName", "Name of the event", "front_door")

SERVICE = Service(
    slug="webhooks",
    name="Webhooks",
    triggers=(
        Trigger(
            slug="event",
            name="Receive a web request",
            description="Fires every time a web request names the event. Takes up to three values.",
            fields=EventFields,
            ingredients=(
                _EVENT_NAME,
                Ingredient("Value1", "First value", "open"),
                Ingredient("Value2", "Second value", "kitchen"),
                Ingredient("Value3", "Third value", "21.5"),
                _OCCURRED_AT,
            ),
        ),
        Trigger(
            slug="json_event",
            name="Receive a web request with a JSON payload",
            description="Fires every time a web request names the event. Takes any JSON.",
            fields=EventFields,
            ingredients=(
                _EVENT_NAME,
                Ingredient("JsonPayload", "The payload as text", '{"door": "open"}'),
                _OCCURRED_AT,
            ),
        ),
    ),
    actions=(
        Action(
            slug="make_web_request",
            name="Make a web request",
            description="Sends a request to a URL. Anything but a 2xx answer is a failure.",
            fields=MakeWebRequestFields,
            prepare=make_web_request,
        ),
    ),
    queries=(
        Query(
            slug="web_request",
            name="Make a web request",
            description="Asks a URL. Its answer is the body of the row; `fromjson` reads JSON in it.",
            fields=WebRequestFields,
            ingredients=(
                Ingredient("StatusCode", "Status code", "200"),
                Ingredient("ContentType", "Content type", "application/json"),
                Ingredient("Body", "Body of the answer", '{"temperature": 21.5}'),
            ),
            prepare=ask_web,
        ),
    ),
)
