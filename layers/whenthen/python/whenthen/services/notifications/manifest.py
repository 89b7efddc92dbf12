"""What the notifications service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.notifications.actions import send_notification
from whenthen.services.notifications.fields import SendNotificationFields

SERVICE = Service(
    slug="notifications",
    name="Notifications",
    actions=(
        Action(
            slug="send_notification",
            name="Send a notification",
            description="Puts a message in your inbox inside whenthen.",
            fields=SendNotificationFields,
            prepare=send_notification,
        ),
    ),
)
