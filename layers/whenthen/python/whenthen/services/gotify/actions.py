"""Actions of the Gotify service."""

from typing import Any

from whenthen.services.gotify.answers import read_answer
from whenthen.services.gotify.connection import GotifyAccount
from whenthen.services.gotify.fields import SendMessageFields
from whenthen.services.requests import post_json
from whenthen.services.texts import fitted
from whenthen.services.work import Send, Task

MAX_MESSAGE_CHARACTERS = 16 * 1024
"""Gotify has no limit of its own; apps show it all."""

MAX_TITLE_CHARACTERS = 250


def send_message(task: Task[SendMessageFields]) -> Send:
    """Return the message. Gotify knows no idempotency key, so the request is not repeatable."""
    fields = task.fields
    account: GotifyAccount = task.account
    document: dict[str, Any] = {
        "message": fitted(fields.message, MAX_MESSAGE_CHARACTERS),
        "title": fitted(fields.title, MAX_TITLE_CHARACTERS),
        "priority": fields.priority,
    }
    if fields.markdown:
        # https://gotify.net/docs/msgextras
        document["extras"] = {"client::display": {"contentType": "text/markdown"}}
    return Send(post_json(f"{account.server}/message", document, account.key()), repeatable=False, read=read_answer)
