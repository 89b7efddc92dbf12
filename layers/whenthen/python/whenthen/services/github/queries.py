"""Queries of the GitHub service."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from whenthen.net.messages import Answer
from whenthen.services.contract import Ingredient
from whenthen.services.github.answers import read_github, read_other_than
from whenthen.services.github.fields import ListIssuesFields, check_repository
from whenthen.services.github.requests import asking
from whenthen.services.rendered import checked
from whenthen.services.work import Ask, Meaning, Reading, Row, Task

ISSUE = (
    Ingredient("Number", "Number of the issue", "42"),
    Ingredient("Title", "Title", "The door does not close"),
    Ingredient("Url", "Address of the issue", "https://github.com/octocat/hello-world/issues/42"),
    Ingredient("Author", "Who opened it", "octocat"),
    Ingredient("State", "State", "open"),
    Ingredient("Labels", "Labels", "bug, house"),
    Ingredient("CreatedAt", "When it was opened", "2026-11-30T07:40:18Z"),
)


def list_issues(task: Task[ListIssuesFields]) -> Ask:
    """Return the request for the newest issues of a repository.

    Raises
    ------
    FieldError
        The repository's name is none after rendering.
    """
    fields = task.fields
    repository = checked("repository", check_repository, fields.repository)
    query = f"state={fields.state}&sort=created&direction=desc&per_page={fields.limit}"
    return Ask(asking(task.account, f"/repos/{repository}/issues?{query}"), _read_issues)


def _read_issues(answer: Answer) -> Sequence[Row] | Reading:
    reading = read_github(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    if answer.truncated:
        return Reading(Meaning.FAILED, "The list of issues is too long. Ask for fewer.")
    try:
        issues = json.loads(answer.body)
    except (ValueError, RecursionError):
        issues = None
    if not isinstance(issues, list):
        return read_other_than("a list of issues")
    # GitHub counts each pull request as an issue, too, and marks it so.
    return [_row(issue) for issue in issues if isinstance(issue, dict) and "pull_request" not in issue]


def _row(issue: Mapping[str, Any]) -> Row:
    user, labels = issue.get("user"), issue.get("labels")
    return {
        "Number": _text(issue.get("number")),
        "Title": _text(issue.get("title")),
        "Url": _text(issue.get("html_url")),
        "Author": _text(user.get("login")) if isinstance(user, dict) else "",
        "State": _text(issue.get("state")),
        "Labels": ", ".join(_text(label.get("name")) for label in labels if isinstance(label, dict))
        if isinstance(labels, list)
        else "",
        "CreatedAt": _text(issue.get("created_at")),
    }


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else ""
