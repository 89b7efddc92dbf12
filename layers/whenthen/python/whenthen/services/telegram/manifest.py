"""What the Telegram service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.telegram.actions import send_message, send_photo
from whenthen.services.telegram.connection import CONNECTION
from whenthen.services.telegram.fields import SendMessageFields, SendPhotoFields

SERVICE = Service(
    slug="telegram",
    name="Telegram",
    actions=(
        Action(
            slug="send_message",
            name="Send a message",
            description="Sends a message to a chat, group or channel, as a bot.",
            fields=SendMessageFields,
            prepare=send_message,
            connects="telegram",
        ),
        Action(
            slug="send_photo",
            name="Send a photo",
            description="Sends a photo that is on the web to a chat, group or channel, as a bot.",
            fields=SendPhotoFields,
            prepare=send_photo,
            connects="telegram",
        ),
    ),
    connection=CONNECTION,
)
