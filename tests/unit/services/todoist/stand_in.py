"""Todoist's sync endpoint as its API v1 has it: commands, executed once for each uuid, and what came of each."""

import json
from typing import Any
from urllib.parse import parse_qs

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor

TOKEN = "0123456789abcdef"


def document(status: int, content: Any) -> Reply:
    """An answer of the API."""
    return Reply(status, (("Content-Type", "application/json"),), json.dumps(content).encode())


def refusal(status: int, tag: str, error: str, **extra: Any) -> Reply:
    """An error document of the API."""
    content = {"error": error, "error_tag": tag, "error_code": 1, "http_code": status, "error_extra": extra}
    return document(status, content)


class Todoist(Vendor):
    """An account with the projects ``inbox`` and ``6Jf8VQXxpwv56VQ7``."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: dict[str, dict[str, Any]] = {}
        self.loses_answers = False

    def answer(self, request: Recorded) -> Reply:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return refusal(401, "UNAUTHORIZED", "Unauthorized")
        if request.path == "/api/v1/user":
            return document(200, {"email": "ada@example.org", "full_name": "Ada"})
        assert (request.method, request.path) == ("POST", "/api/v1/sync")
        assert request.headers["content-type"] == "application/x-www-form-urlencoded"
        commands = json.loads(parse_qs(request.body.decode(), strict_parsing=True)["commands"][0])
        statuses = {command["uuid"]: self._execute(command) for command in commands}
        return Reply(close=True) if self.loses_answers else document(200, {"sync_status": statuses})

    def _execute(self, command: dict[str, Any]) -> Any:
        arguments = command["args"]
        assert command["type"] == "item_add"
        assert len(command["uuid"]) == 36
        assert arguments.keys() <= {
            "content", "description", "priority", "labels", "auto_parse_labels", "due", "project_id",
        }  # fmt: skip
        assert arguments["priority"] in (1, 2, 3, 4)
        if len(arguments["content"]) > 500 or len(arguments["description"]) > 16_383:
            return {"error": "Text too long", "error_tag": "TEXT_TOO_LONG", "error_code": 20, "http_code": 400}
        if arguments.get("project_id", "inbox") not in ("inbox", "6Jf8VQXxpwv56VQ7"):
            return {"error": "Project not found", "error_tag": "PROJECT_NOT_FOUND", "error_code": 21, "http_code": 404}
        self.tasks.setdefault(command["uuid"], arguments)
        return "ok"
