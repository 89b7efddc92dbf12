"""What signed webhooks give to applets. Imported by the trigger function: kept light."""

from datetime import datetime

from whenthen.services.signed_webhooks.deliveries import Delivery
from whenthen.services.signed_webhooks.payloads import Payload
from whenthen.services.webhooks.triggers import occurred_at_text


def received_ingredients(source: str, delivery: Delivery, payload: Payload, when: datetime) -> dict[str, str]:
    """Return the ingredients of a delivery. `source` is the connection's scheme."""
    return {
        "EventType": delivery.event_type,
        "DeliveryId": delivery.delivery_id,
        "JsonPayload": payload.json,
        "Body": payload.text,
        "BodyBase64": payload.base64,
        "Source": source,
        "OccurredAt": occurred_at_text(when),
    }


def wanted_types(delivery: Delivery) -> tuple[str, ...]:
    """Return what triggers that the delivery sets off may have as their type of event: none, and its own."""
    return ("", delivery.event_type) if delivery.event_type else ("",)
