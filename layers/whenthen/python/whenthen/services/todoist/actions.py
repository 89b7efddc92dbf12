"""Actions of the Todoist service."""

import json
import re
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid5

from whenthen.model.encoding import one_line
from whenthen.net.messages import Request
from whenthen.services.rendered import checked
from whenthen.services.texts import fitted
from whenthen.services.todoist.answers import read_command
from whenthen.services.todoist.connection import API, authorization
from whenthen.services.todoist.fields import (
    MAX_CONTENT_CHARACTERS,
    MAX_DESCRIPTION_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    CreateTaskFields,
    check_project,
)
from whenthen.services.work import Send, Task

_NAMESPACE = UUID("7c0c7a0f-6a0e-4f0c-9d0b-3a4f6f1c6a52")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

# The API counts the other way round than the apps do.
_PRIORITIES = {"p1": 4, "p2": 3, "p3": 2, "p4": 1}


def create_task(task: Task[CreateTaskFields]) -> Send:
    """Return the command that makes a task.

    It goes to the sync endpoint, since a command's ``uuid`` is what Todoist promises to execute only once
    (developer.todoist.com/api/v1, Command UUID): so it is repeatable. The header ``X-Request-Id`` of the REST endpoint
    promises nothing.

    Raises
    ------
    FieldError
        The project's id is none after rendering.
    """
    fields = task.fields
    project = checked("project", check_project, fields.project)
    arguments: dict[str, Any] = {
        "content": fitted(one_line(fields.content).strip(), MAX_CONTENT_CHARACTERS),
        "description": fitted(fields.description, MAX_DESCRIPTION_CHARACTERS),
        "priority": _PRIORITIES[fields.priority],
        "labels": [
            fitted(label.removeprefix("@"), MAX_LABEL_CHARACTERS) for label in fields.labels if label.strip("@")
        ],
        "auto_parse_labels": False,
    }
    if fields.due:
        arguments["due"] = {"date" if _DATE.fullmatch(fields.due) else "string": fields.due}
    if project:
        arguments["project_id"] = project
    uuid = str(uuid5(_NAMESPACE, task.key))
    # The temporary id is used by no other command, but Todoist wants one for all that is new.
    command = {"type": "item_add", "uuid": uuid, "temp_id": uuid, "args": arguments}
    headers = (
        authorization(task.account),
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Idempotency-Key", task.key),
    )
    body = urlencode({"commands": json.dumps([command], ensure_ascii=False)}).encode()
    return Send(Request("POST", f"{API}/sync", headers, body), repeatable=True, read=partial(read_command, uuid=uuid))
