"""What the Mastodon service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.mastodon.actions import post_status
from whenthen.services.mastodon.connection import CONNECTION
from whenthen.services.mastodon.fields import PostStatusFields

SERVICE = Service(
    slug="mastodon",
    name="Mastodon",
    actions=(
        Action(
            slug="post_status",
            name="Post",
            description="Posts a text to your account.",
            fields=PostStatusFields,
            prepare=post_status,
            connects="mastodon",
        ),
    ),
    connection=CONNECTION,
)
