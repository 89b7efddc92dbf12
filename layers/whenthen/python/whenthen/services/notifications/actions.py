"""Actions of the notifications service."""

from whenthen.errors import FieldError
from whenthen.services.contract import Notify
from whenthen.services.notifications.fields import SendNotificationFields, check_link


def send_notification(fields: SendNotificationFields, _key: str) -> Notify:
    """Return the message that the rendered `fields` describe.

    Raises
    ------
    FieldError
        The link is not an http or https URL: it will be shown as one.
    """
    try:
        check_link(fields.link)
    except ValueError as error:
        raise FieldError("link", str(error)) from error
    return Notify(title=fields.title, body=fields.message, link=fields.link)
