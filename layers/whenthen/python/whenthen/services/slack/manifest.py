"""What the Slack service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.slack.actions import post_message, post_to_webhook
from whenthen.services.slack.connection import CONNECTION
from whenthen.services.slack.fields import PostMessageFields, PostToWebhookFields

SERVICE = Service(
    slug="slack",
    name="Slack",
    actions=(
        Action(
            slug="post_message",
            name="Post a message",
            description="Posts a message to a channel or a person, as a bot. The bot must be in the channel.",
            fields=PostMessageFields,
            prepare=post_message,
            connects="slack",
        ),
        Action(
            slug="post_to_webhook",
            name="Post to a webhook",
            description="Posts a message to the channel of an incoming webhook.",
            fields=PostToWebhookFields,
            prepare=post_to_webhook,
            connects="slack",
        ),
    ),
    connection=CONNECTION,
)
