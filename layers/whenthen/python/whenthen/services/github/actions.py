"""Actions of the GitHub service. None is repeatable: GitHub knows no key by which it would tell a repetition."""

import re

from whenthen.errors import FieldError
from whenthen.model.encoding import one_line
from whenthen.services.github.answers import read_made
from whenthen.services.github.fields import (
    MAX_BODY_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    CreateCommentFields,
    CreateIssueFields,
    check_issue,
    check_repository,
)
from whenthen.services.github.requests import making
from whenthen.services.rendered import checked
from whenthen.services.texts import fitted
from whenthen.services.work import Send, Task

_BACKTICKS = re.compile("`+")


def create_issue(task: Task[CreateIssueFields]) -> Send:
    """Return the request that opens an issue.

    Raises
    ------
    FieldError
        The repository's name is none after rendering.
    """
    fields = task.fields
    document = {
        "title": fitted(one_line(fields.title).strip(), MAX_TITLE_CHARACTERS),
        "body": _text(fields.body, fields.details),
        "labels": [label for label in fields.labels if label],
        "assignees": [name.removeprefix("@") for name in fields.assignees if name],
    }
    path = f"/repos/{checked('repository', check_repository, fields.repository)}/issues"
    return Send(making(task.account, path, document, task.key), repeatable=False, read=read_made)


def create_comment(task: Task[CreateCommentFields]) -> Send:
    """Return the request that comments on an issue or a pull request.

    Raises
    ------
    FieldError
        The repository's name or the issue's number is none after rendering.
    """
    fields = task.fields
    repository = checked("repository", check_repository, fields.repository)
    issue = checked("issue", check_issue, fields.issue)
    path = f"/repos/{repository}/issues/{issue}/comments"
    document = {"body": _text(fields.body, fields.details)}
    return Send(making(task.account, path, document, task.key), repeatable=False, read=read_made)


def _text(body: str, details: str) -> str:
    """Return the body with the details in a block of code, whose fence is longer than any run of backticks in them."""
    if not details.strip():
        return fitted(body, MAX_BODY_CHARACTERS)
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(details)), default=0))
    head, tail = f"\n\n{fence}\n", f"\n{fence}"
    body = fitted(body, MAX_BODY_CHARACTERS // 2)
    room = MAX_BODY_CHARACTERS - len(body) - len(head) - len(tail)
    if room < 1:
        raise FieldError("details", "must not hold so many backticks in a row")
    return f"{body}{head}{fitted(details, room)}{tail}".strip()
