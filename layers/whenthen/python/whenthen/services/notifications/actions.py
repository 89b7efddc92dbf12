"""Actions of the notifications service."""

from whenthen.errors import FieldError
from whenthen.services.contract import Notify
from whenthen.services.notifications.fields import SendNotificationFields


def send_notification(fields: SendNotificationFields, _key: str) -> Notify:
    """Return the message that the rendered `fields` describe.

    Raises
    ------
    FieldError
        The link is not an http or https URL: it will be shown as one.
    """
    if fields.link and not fields.link.lower().startswith(("http://", "https://")):
        raise FieldError("link", "must begin with http:// or https://")
    return Notify(title=fields.title, body=fields.message, link=fields.link)
