"""Actions of the email digest service."""

import json

from whenthen.errors import FieldError
from whenthen.services.email.addresses import read_addresses
from whenthen.services.email.fields import MAX_SUBJECT
from whenthen.services.email_digest.fields import AddToDigestFields
from whenthen.services.notifications.fields import check_link
from whenthen.services.work import Collect, Task

_MAX_TITLE = 250
_MAX_TEXT = 2000
_MAX_LINK = 2000


def add_to_digest(task: Task[AddToDigestFields]) -> Collect:
    """Return the entry that the task's fields describe, long texts shortened.

    Raises
    ------
    FieldError
        The recipients or the link are none, or there is nothing to show.
    """
    fields = task.fields
    title, text = _shortened(fields.title.strip(), _MAX_TITLE), _shortened(fields.text.strip(), _MAX_TEXT)
    try:
        to = ", ".join(address.spec for address in read_addresses(fields.to))
    except ValueError as error:
        raise FieldError("to", str(error)) from error
    try:
        link = check_link(fields.link)
    except ValueError as error:
        raise FieldError("link", str(error)) from error
    if len(link) > _MAX_LINK:
        raise FieldError("link", f"is longer than {_MAX_LINK} characters")
    if not to or "{{" in to:
        raise FieldError("to", "must hold an address")
    if not (title or text or link):
        raise FieldError("title", "is empty, and so are text and link: there is nothing to show")
    subject = _shortened(fields.subject.strip(), MAX_SUBJECT)
    return Collect(
        to=to,
        subject=subject,
        entry={"title": title, "text": text, "link": link},
        identity=json.dumps([to, subject, fields.schedule, fields.weekday, fields.time, fields.zone]),
        schedule=fields,
    )


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
