"""What a press of a button gives to applets. Imported by the trigger function: kept light."""

from datetime import datetime

from whenthen.services.webhooks.triggers import occurred_at_text


def pressed_ingredients(label: str, press: str, when: datetime) -> dict[str, str]:
    """Return the ingredients of a press."""
    return {"Label": label, "PressId": press, "OccurredAt": occurred_at_text(when)}
