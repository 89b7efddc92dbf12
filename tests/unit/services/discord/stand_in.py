"""Discord's webhooks as its documentation has them: limits of each member, errors with a code, mentions off."""

import json
from typing import Any

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor, is_json, json_reply

TOKEN = "a-bcdefghijklmnop_qrstuvwxyz"
PATH = f"/api/webhooks/223704706495545344/{TOKEN}"
_LIMITS = {"content": 2000, "username": 80}
_EMBED_LIMITS = {"title": 256, "description": 4096, "url": 2048}


def error(status: int, code: int, message: str, **more: Any) -> Reply:
    """An error as Discord writes it."""
    return json_reply({"message": message, "code": code, **more}, status)


def too_long(*path: str) -> Reply:
    """The error of a member that is too long or empty."""
    errors: dict[str, Any] = {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": "Must be of another length."}]}
    for name in reversed(path):
        errors = {name: errors}
    return error(400, 50035, "Invalid Form Body", errors=errors)


class Discord(Vendor):
    """A channel with one webhook."""

    def answer(self, request: Recorded) -> Reply:
        path, _, query = request.path.partition("?")
        if path != PATH:
            known = path.rpartition("/")[0] == PATH.rpartition("/")[0]
            return error(401, 50027, "Invalid Webhook Token") if known else error(404, 10015, "Unknown Webhook")
        if request.method == "GET":
            return json_reply({"id": "223704706495545344", "type": 1, "name": "Captain Hook", "token": TOKEN})
        if not is_json(request):
            return error(400, 50109, "The request body contains invalid JSON.")
        message = json.loads(request.body.decode())
        if message.get("allowed_mentions") != {"parse": []}:
            return error(400, 50035, "mentions are not turned off")
        if not message.get("content") and not message.get("embeds"):
            return error(400, 50006, "Cannot send an empty message")
        for name, limit in _LIMITS.items():
            if name in message and not 1 <= len(message[name].encode("utf-16-le")) // 2 <= limit:
                return too_long(name)
        for index, embed in enumerate(message.get("embeds", [])):
            for name, limit in _EMBED_LIMITS.items():
                if name in embed and not 1 <= len(embed[name].encode("utf-16-le")) // 2 <= limit:
                    return too_long("embeds", str(index), name)
        return json_reply({"id": "1", "content": message.get("content", "")}) if "wait=true" in query else Reply(204)
