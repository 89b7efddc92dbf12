"""What the ntfy service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.ntfy.actions import publish
from whenthen.services.ntfy.connection import CONNECTION
from whenthen.services.ntfy.fields import PublishFields

SERVICE = Service(
    slug="ntfy",
    name="ntfy",
    actions=(
        Action(
            slug="publish",
            name="Push a message",
            description="Pushes a message to all who have subscribed to a topic; over ntfy.sh without a connection.",
            fields=PublishFields,
            prepare=publish,
            connects="ntfy",
            may_connect=True,
        ),
    ),
    connection=CONNECTION,
)
