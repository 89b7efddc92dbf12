"""What the partner service does: any action of a partner (PROTOCOLS.md 3, B.1)."""

import json
from functools import partial

from whenthen.services.partner.access import Access
from whenthen.services.partner.fields import RunActionFields
from whenthen.services.partner.readings import read_action
from whenthen.services.work import Send, Task


def run_action(task: Task[RunActionFields]) -> Send:
    """Return the request that runs an action. Nothing says that a partner knows one that comes twice."""
    access: Access = task.account.access()
    body = {"actionFields": task.fields.action_fields, "user": {"timezone": task.zone}}
    request = access.post(f"actions/{task.fields.action}", json.dumps(body).encode(), task.key)
    return Send(request, repeatable=False, read=partial(read_action, access))
