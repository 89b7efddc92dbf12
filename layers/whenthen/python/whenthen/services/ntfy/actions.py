"""Actions of the ntfy service."""

from typing import Any

from whenthen.model.encoding import one_line
from whenthen.net.messages import Request
from whenthen.services.ntfy.answers import read_published
from whenthen.services.ntfy.connection import NtfyAccount
from whenthen.services.ntfy.fields import PublishFields, check_link, check_topic
from whenthen.services.rendered import checked
from whenthen.services.requests import post_json
from whenthen.services.texts import fitted, utf8_bytes
from whenthen.services.work import Send, Task

MAX_MESSAGE_BYTES = 4096
"""A longer message becomes an attached file (ntfy's publish.md, "Limitations")."""

MAX_JSON_BYTES = 2 * MAX_MESSAGE_BYTES
"""A longer document is refused with 413 (ntfy's server.go reads twice the message's limit)."""

_MAX_TITLE_CHARACTERS = 250


def publish(task: Task[PublishFields]) -> Send:
    """Return the message as JSON for the server's root: no header carries text that way.

    ntfy knows no idempotency key, so the request is not repeatable.

    Raises
    ------
    FieldError
        The topic or the link can't be used.
    """
    fields = task.fields
    document: dict[str, Any] = {
        "topic": checked("topic", check_topic, fields.topic),
        "message": fitted(fields.message, MAX_MESSAGE_BYTES, utf8_bytes),
        "title": fitted(one_line(fields.title), _MAX_TITLE_CHARACTERS),
        "priority": fields.priority,
        "tags": [tag.strip() for tag in one_line(fields.tags).split(",") if tag.strip()],
        "click": checked("click", check_link, fields.click),
    }
    account = NtfyAccount() if task.account is None else task.account
    return Send(_request(account, document), repeatable=False, read=read_published)


def _request(account: NtfyAccount, document: dict[str, Any]) -> Request:
    """Return the request, with as much of the message as fits: quotes and line breaks take two bytes in JSON."""
    while True:
        request = post_json(account.server, document, *account.credentials())
        excess = len(request.body or b"") - MAX_JSON_BYTES
        if excess <= 0:
            return request
        message = document["message"]
        # At most six bytes of JSON come of one of text.
        document = {**document, "message": fitted(message, utf8_bytes(message) - (excess + 5) // 6, utf8_bytes)}
