"""Actions of the notifications service."""

from whenthen.errors import FieldError
from whenthen.services.notifications.fields import SendNotificationFields, check_link
from whenthen.services.work import Notify, Task


def send_notification(task: Task[SendNotificationFields]) -> Notify:
    """Return the message that the task's fields describe.

    Raises
    ------
    FieldError
        The link is not an http or https URL: it will be shown as one.
    """
    fields = task.fields
    try:
        check_link(fields.link)
    except ValueError as error:
        raise FieldError("link", str(error)) from error
    return Notify(title=fields.title, body=fields.message, link=fields.link)
