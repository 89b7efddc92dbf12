"""A partner as real ones are: it checks what the engine sends, and bends the protocol where it is told to."""

import json
from typing import Any

from tests.support.sink import Recorded, Reply, Sink

PATH = "/ifttt/v1/triggers/new_photo"
KEY = "s3cret-key"


class Partner:
    """A partner on a sink.

    Args:
        sink: serves it.
    """

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.fields = {"url": sink.url, "trigger": "new_photo", "service_key": KEY}
        self.show()

    def show(self, *events: Any) -> None:
        """Answer with these events."""
        self.reply(Reply(body=json.dumps({"data": events}).encode()))

    def reply(self, *replies: Reply) -> None:
        """Answer with these."""
        self.sink.reply(PATH, replies)

    def last(self) -> Recorded:
        """The last request."""
        return self.sink.requests[-1]

    def asked(self) -> dict[str, Any]:
        """The last request's body, after the checks that openHAB Cloud, ello and adafruit make."""
        request = self.last()
        assert (request.method, request.path) == ("POST", PATH)
        assert request.headers["ifttt-channel-key"] == KEY
        assert request.headers["ifttt-service-key"] == KEY
        assert request.headers["content-type"] == request.headers["accept"] == "application/json"
        assert request.headers["accept-charset"] == "utf-8"
        assert len(request.headers["x-request-id"]) == 32
        body: dict[str, Any] = json.loads(request.body)
        assert body.keys() == {"trigger_identity", "triggerFields", "limit", "user"}
        assert isinstance(body["triggerFields"], dict)
        return body


def event(identity: Any, *, at: Any = 1_790_000_000, **members: Any) -> dict[str, Any]:
    """An event as the protocol has it; `at` is Unix seconds."""
    return {"title": f"t{identity}", **members, "meta": {"id": identity, "timestamp": at}}
