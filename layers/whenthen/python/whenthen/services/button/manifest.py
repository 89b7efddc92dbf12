"""What the button service offers."""

from whenthen.services.button.connection import CONNECTION
from whenthen.services.button.fields import PressedFields
from whenthen.services.contract import Ingredient, Service, Trigger

SERVICE = Service(
    slug="button",
    name="Button",
    triggers=(
        Trigger(
            slug="pressed",
            name="Button pressed",
            description="Fires every time somebody presses the button on the page that its link opens.",
            fields=PressedFields,
            ingredients=(
                Ingredient("Label", "What the button says", "Open the garage"),
                Ingredient("PressId", "Id of the press", "01993a4e-7b6c-7c3e-9a51-3f2d6b1c0a77"),
                Ingredient("OccurredAt", "When it was pressed", "November 29, 2026 at 06:20PM"),
            ),
            connects="button",
        ),
    ),
    connection=CONNECTION,
)
