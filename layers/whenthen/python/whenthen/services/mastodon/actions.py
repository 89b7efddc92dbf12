"""Actions of the Mastodon service."""

import re
from typing import Any

from whenthen.services.mastodon.answers import read_answer
from whenthen.services.mastodon.connection import MastodonAccount
from whenthen.services.mastodon.fields import PostStatusFields
from whenthen.services.requests import bearer, post_json
from whenthen.services.texts import fitted
from whenthen.services.work import Send, Task

_LINK = re.compile(r"https?://\S+", re.IGNORECASE)


def post_status(task: Task[PostStatusFields]) -> Send:
    """Return the post.

    Mastodon remembers an Idempotency-Key for an hour (docs.joinmastodon.org/methods/statuses), which covers the tries
    after an answer that says so. It is not repeatable without an answer: the last tries come hours later, and would
    post it twice.
    """
    fields = task.fields
    account: MastodonAccount = task.account
    warning = fitted(fields.spoiler_text.strip(), account.max_characters // 2, _size)
    document: dict[str, Any] = {"status": fitted(fields.status, account.max_characters - _size(warning), _size)}
    if warning:
        document["spoiler_text"] = warning
    if fields.sensitive:
        document["sensitive"] = True
    if fields.visibility != "default":
        document["visibility"] = fields.visibility
    if fields.language:
        document["language"] = fields.language
    key = ("Idempotency-Key", task.key)
    request = post_json(f"{account.server}/api/v1/statuses", document, bearer(account.token), key)
    return Send(request, repeatable=False, read=read_answer)


def _size(text: str) -> int:
    """Return how many characters Mastodon counts: a link is 23, however long it is."""
    return len(_LINK.sub("x" * 23, text))
