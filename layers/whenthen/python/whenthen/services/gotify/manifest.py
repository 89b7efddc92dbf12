"""What the Gotify service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.gotify.actions import send_message
from whenthen.services.gotify.connection import CONNECTION
from whenthen.services.gotify.fields import SendMessageFields

SERVICE = Service(
    slug="gotify",
    name="Gotify",
    actions=(
        Action(
            slug="send_message",
            name="Push a message",
            description="Pushes a message to the phones and browsers that are logged in to your Gotify server.",
            fields=SendMessageFields,
            prepare=send_message,
            connects="gotify",
        ),
    ),
    connection=CONNECTION,
)
