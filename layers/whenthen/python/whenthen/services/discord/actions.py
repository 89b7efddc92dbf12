"""Actions of the Discord service."""

from typing import Any

from whenthen.services.discord.answers import read_answer
from whenthen.services.discord.connection import DiscordAccount
from whenthen.services.discord.fields import PostMessageFields, check_link
from whenthen.services.rendered import checked
from whenthen.services.requests import post_json
from whenthen.services.texts import fitted, utf16_units
from whenthen.services.work import Send, Task

# https://docs.discord.com/developers/resources/webhook and /resources/message, "Embed Limits".
MAX_CONTENT = 2000
MAX_USERNAME = 80
MAX_EMBED_TITLE = 256
MAX_EMBED_DESCRIPTION = 4096


def post_message(task: Task[PostMessageFields]) -> Send:
    """Return the message. A webhook knows no idempotency key, so the request is not repeatable.

    No mention in it notifies anybody: what comes from outside must not call a whole server.

    Raises
    ------
    FieldError
        The link can't be used.
    """
    fields = task.fields
    document: dict[str, Any] = {"allowed_mentions": {"parse": []}}
    if fields.content.strip():
        document["content"] = fitted(fields.content, MAX_CONTENT, utf16_units)
    if fields.username.strip():
        document["username"] = fitted(fields.username.strip(), MAX_USERNAME, utf16_units)
    if embed := _embed(fields):
        document["embeds"] = [embed]
    account: DiscordAccount = task.account
    url = f"{account.webhook_url}{'&' if '?' in account.webhook_url else '?'}wait=true"
    return Send(post_json(url, document), repeatable=False, read=read_answer)


def _embed(fields: PostMessageFields) -> dict[str, str]:
    # Discord refuses empty members, and a box of a link alone.
    parts = {
        "title": fitted(fields.embed_title.strip(), MAX_EMBED_TITLE, utf16_units),
        "description": fitted(fields.embed_description.strip(), MAX_EMBED_DESCRIPTION, utf16_units),
    }
    embed = {name: value for name, value in parts.items() if value}
    url = checked("embed_url", check_link, fields.embed_url)
    return {**embed, "url": url} if embed and url else embed
