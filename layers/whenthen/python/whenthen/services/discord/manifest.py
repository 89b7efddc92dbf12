"""What the Discord service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.discord.actions import post_message
from whenthen.services.discord.connection import CONNECTION
from whenthen.services.discord.fields import PostMessageFields

SERVICE = Service(
    slug="discord",
    name="Discord",
    actions=(
        Action(
            slug="post_message",
            name="Post a message",
            description="Posts a message to the channel of a webhook.",
            fields=PostMessageFields,
            prepare=post_message,
            connects="discord",
        ),
    ),
    connection=CONNECTION,
)
