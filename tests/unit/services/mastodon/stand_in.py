"""A Mastodon server as its documentation and source have it: scopes, characters, and a key that makes nothing twice."""

import json
import re

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor, is_json, json_reply

TOKEN = "ZA-Yj3aBD8U8Cm7lKUp-lm9O9BmDgdhHzDeqsY8tlL0"
READER = "reader-of-nothing"
_MENTION = re.compile(r"(?<![=/\w])@([a-z0-9_]+(?:@[\w.-]+\w)?)", re.IGNORECASE)
_LINK = re.compile(r"https?://\S+")


def error(status: int, words: str, *headers: tuple[str, str]) -> Reply:
    """An error as Mastodon writes it."""
    return json_reply({"error": words}, status, *headers)


class Mastodon(Vendor):
    """The server. `posted` are the posts by key, `notified` who was mentioned."""

    def __init__(self) -> None:
        super().__init__()
        self.posted: dict[str, dict[str, object]] = {}
        self.notified: list[str] = []

    def forget(self) -> None:
        super().forget()
        self.posted.clear()
        self.notified.clear()

    def answer(self, request: Recorded) -> Reply:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in (TOKEN, READER):
            return error(401, "The access token is invalid")
        if request.path == "/api/v1/accounts/verify_credentials":
            return json_reply({"id": "14715", "username": "ada", "acct": "ada"})
        if token == READER:
            return error(403, "This action is outside the authorized scopes")
        if (request.method, request.path) != ("POST", "/api/v1/statuses") or not is_json(request):
            return error(404, "Record not found")
        if request.key in self.posted:
            return json_reply(self.posted[request.key])
        post = json.loads(request.body.decode())
        text = post["status"] + post.get("spoiler_text", "")
        if not post["status"].strip():
            return error(422, "Validation failed: Text can't be blank")
        if len(_LINK.sub("x" * 23, text)) > 500:
            return error(422, "Validation failed: Text character limit of 500 exceeded")
        if post.get("visibility", "public") not in ("public", "unlisted", "private", "direct"):
            return error(422, "Validation failed: Visibility is not included in the list")
        self.notified += _MENTION.findall(text)
        self.posted[request.key] = {"id": str(103254962155278888 + len(self.posted)), **post}
        return json_reply(self.posted[request.key])
