"""Slack as its documentation has it: the API fails with status 200, webhooks with a word and a status."""

import json

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor, is_json, json_reply

TOKEN = "xoxb-12345-67890-AbCdEfGhIjKlMnOpQrStUvWx"
HOOK = "/services/T01234567/B01234567/AbCdEfGhIjKlMnOpQrStUvWx"


def refusal(code: str) -> Reply:
    """An answer of the API that says no."""
    return json_reply({"ok": False, "error": code})


def word(status: int, text: str) -> Reply:
    """An answer of a webhook."""
    return Reply(status, (("Content-Type", "text/html"),), text.encode())


class Slack(Vendor):
    """A workspace with one channel, one bot and one webhook."""

    def answer(self, request: Recorded) -> Reply:
        if request.path.startswith("/services/"):
            return self._webhook(request)
        if not is_json(request):
            return refusal("invalid_post_type")
        authorization = request.headers.get("authorization", "")
        if authorization != f"Bearer {TOKEN}":
            return refusal("invalid_auth" if authorization.strip() != "Bearer" else "not_authed")
        if request.path == "/api/auth.test":
            return json_reply({"ok": True, "team": "Harbour", "user": "lamp", "team_id": "T0", "user_id": "U0"})
        if request.path != "/api/chat.postMessage":
            return refusal("unknown_method")
        message = json.loads(request.body.decode())
        if message["channel"] not in ("C0123456789", "#general"):
            return refusal("channel_not_found")
        if len(message["text"]) > 4000:
            return refusal("msg_too_long")
        return json_reply({"ok": True, "channel": "C0123456789", "ts": "1503435956.000247", "message": message})

    def _webhook(self, request: Recorded) -> Reply:
        if request.path != HOOK:
            return word(404, "no_service")
        if not is_json(request):
            return word(400, "invalid_payload")
        text = json.loads(request.body.decode())["text"]
        return word(200, "ok") if text else word(400, "no_text")
