"""GitHub's issues as its REST API has them: what it asks of a request, its limits and its errors."""

import json
from typing import Any

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor

TOKEN = "github_pat_a1b2c3"


def document(status: int, content: Any, **headers: str) -> Reply:
    """An answer of the API."""
    lines = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(status, (("Content-Type", "application/json; charset=utf-8"), *lines), json.dumps(content).encode())


def refusal(status: int, message: str, *errors: Any, **headers: str) -> Reply:
    """An error of the API."""
    return document(status, {"message": message, **({"errors": errors} if errors else {})}, **headers)


class GitHub(Vendor):
    """One repository, ``octocat/hello-world``, and one whose issues are turned off, ``octocat/quiet``."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[dict[str, Any]] = []
        self.listed: Any = []

    def answer(self, request: Recorded) -> Reply:
        headers = request.headers
        if not headers["user-agent"]:
            return refusal(403, "Request forbidden by administrative rules.")
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return refusal(401, "Bad credentials")
        assert headers["accept"] == "application/vnd.github+json"
        assert headers["x-github-api-version"] == "2022-11-28"
        path = request.path.partition("?")[0].split("/")[1:]
        if path == ["user"]:
            return document(200, {"login": "ada", "id": 1})
        if path[:3] == ["repos", "octocat", "quiet"]:
            return refusal(410, "Issues are disabled for this repo")
        if path[:4] != ["repos", "octocat", "hello-world", "issues"]:
            return refusal(404, "Not Found")
        if request.method == "GET":
            return document(200, self.listed)
        assert headers["content-type"].startswith("application/json")
        return self._make(json.loads(request.body))

    def _make(self, content: dict[str, Any]) -> Reply:
        for field, limit in (("title", 256), ("body", 65_536)):
            if len(content.get(field, "")) > limit:
                error = {"resource": "Issue", "code": "custom", "field": field, "message": f"{field} is too long"}
                return refusal(422, "Validation Failed", error)
        if "nobody" in content.get("assignees", []):
            return refusal(
                422, "Validation Failed", {"resource": "Issue", "field": "assignees", "code": "invalid", "value": "x"}
            )
        self.made.append(content)
        return document(201, {"id": 9_007_199_254_740_993, "number": 43})
