"""A Gotify server as its source has it (router.go, api/message.go): the token is looked at before the message."""

import json
from http import HTTPStatus

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor, json_reply

TOKEN = "AfGhIjKlMnOp123"


def error(status: int, words: str) -> Reply:
    """An error as Gotify writes it."""
    return json_reply({"error": HTTPStatus(status).phrase, "errorCode": status, "errorDescription": words}, status)


class Gotify(Vendor):
    """The server, under the path /push."""

    def answer(self, request: Recorded) -> Reply:
        if (request.method, request.path) != ("POST", "/push/message"):
            return error(404, "page not found")
        if request.headers.get("x-gotify-key") != TOKEN:
            return error(401, "you need to provide a valid access token or user credentials to access this api")
        if not request.headers.get("content-type", "").startswith("application/json"):
            return error(400, "Field 'message' is required")
        message = json.loads(request.body.decode())
        if not message.get("message"):
            return error(400, "Field 'message' is required")
        if not isinstance(message.get("priority"), int):
            return error(400, "priority is no number")
        return json_reply({"id": 25, "appid": 5, **message})
