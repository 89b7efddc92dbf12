"""Actions of the Slack service."""

import re

from whenthen.errors import FieldError
from whenthen.services.requests import bearer, post_json
from whenthen.services.slack.answers import read_api, read_webhook
from whenthen.services.slack.connection import API, SlackAccount
from whenthen.services.slack.fields import PostMessageFields, PostToWebhookFields
from whenthen.services.texts import fitted
from whenthen.services.work import Send, Task

MAX_TEXT_CHARACTERS = 4000
"""What Slack asks for; it cuts off at 40,000 (docs.slack.dev, chat.postMessage)."""

# An entity or a link that was cut in the middle would be shown as its own source.
_HALF = re.compile(r"(&\w{0,4}|<[^<>]*)(?=…$)")


def post_message(task: Task[PostMessageFields]) -> Send:
    """Return the message for the Web API. Slack knows no idempotency key, so the request is not repeatable.

    Raises
    ------
    FieldError
        The connection has no bot token.
    """
    account: SlackAccount = task.account
    if not account.token:
        raise FieldError("connection", "has no bot token; a webhook URL can only be used by “Post to a webhook”")
    document = {"channel": task.fields.channel, "text": _fitted(task.fields.text)}
    return Send(post_json(f"{API}/chat.postMessage", document, bearer(account.token)), repeatable=False, read=read_api)


def post_to_webhook(task: Task[PostToWebhookFields]) -> Send:
    """Return the message for an incoming webhook, as `post_message`.

    Raises
    ------
    FieldError
        The connection has no webhook URL.
    """
    account: SlackAccount = task.account
    if not account.webhook_url:
        raise FieldError("connection", "has no webhook URL; a bot token can only be used by “Post a message”")
    return Send(
        post_json(account.webhook_url, {"text": _fitted(task.fields.text)}), repeatable=False, read=read_webhook
    )


def _fitted(text: str) -> str:
    short = fitted(text, MAX_TEXT_CHARACTERS)
    return short if short == text else _HALF.sub("", short)
