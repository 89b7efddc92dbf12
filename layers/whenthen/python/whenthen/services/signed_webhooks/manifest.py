"""What the signed webhooks service offers."""

from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.signed_webhooks.connection import CONNECTION
from whenthen.services.signed_webhooks.fields import ReceivedFields

SERVICE = Service(
    slug="signed_webhooks",
    name="Signed webhooks",
    triggers=(
        Trigger(
            slug="received",
            name="Receive a signed webhook",
            description="Fires every time the connection's sender sends a webhook with a valid signature.",
            fields=ReceivedFields,
            ingredients=(
                Ingredient("EventType", "Type of event", "issues"),
                Ingredient("DeliveryId", "The sender's id of the delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
                Ingredient("JsonPayload", "The payload as JSON, or a form's fields as JSON", '{"action": "opened"}'),
                Ingredient("Body", "The body when it is text, but no JSON", "ok"),
                Ingredient("BodyBase64", "The body in base64 when it is no text", "/wA="),
                Ingredient("Source", "The kind of sender", "github"),
                Ingredient("OccurredAt", "When it came", "November 29, 2026 at 06:20PM"),
            ),
            connects="signed_webhooks",
        ),
    ),
    connection=CONNECTION,
)
