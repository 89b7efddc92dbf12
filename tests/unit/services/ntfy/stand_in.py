"""An ntfy server as its source has it (server.go, errors.go): it checks who asks, the topic and the sizes."""

import base64
import json
import re

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor, json_reply

TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
USER, PASSWORD = "phil", "mypass ü"
_BASIC = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
_KNOWN = {"": "*", f"Bearer {TOKEN}": USER, f"Basic {_BASIC}": USER}


def error(status: int, code: int, words: str) -> Reply:
    """An error as ntfy writes it."""
    return json_reply({"code": code, "http": status, "error": words, "link": "https://ntfy.sh/docs/"}, status)


class Ntfy(Vendor):
    """The server. The topic ``secret`` is for its users alone."""

    def answer(self, request: Recorded) -> Reply:
        user = _KNOWN.get(request.headers.get("authorization", ""))
        if user is None:
            return error(401, 40101, "unauthorized")
        if (request.method, request.path) == ("GET", "/v1/account"):
            return json_reply({"username": user, "role": "user"})
        if (request.method, request.path) != ("POST", "/"):
            return error(404, 40401, "page not found")
        if len(request.body) > 8192:
            return error(413, 41303, "JSON body too large")
        message = json.loads(request.body.decode())
        if not re.fullmatch(r"[-_A-Za-z0-9]{1,64}", message["topic"]):
            return error(400, 40009, "invalid request: topic invalid")
        if message["topic"] == "secret" and user == "*":
            return error(403, 40301, "forbidden")
        if len(message["message"].encode()) > 4096:
            return error(400, 40014, "invalid request: attachments not allowed")
        return json_reply({"id": "hwQ2YpKdmg", "time": 1_790_000_000, "event": "message", **message})
