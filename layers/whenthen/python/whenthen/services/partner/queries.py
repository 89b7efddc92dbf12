"""What the partner service asks: any query of a partner (PROTOCOLS.md 3, B.1)."""

import json
from functools import partial

from whenthen.services.partner.access import Access
from whenthen.services.partner.fields import RunQueryFields
from whenthen.services.partner.readings import read_rows
from whenthen.services.work import Ask, Task


def run_query(task: Task[RunQueryFields]) -> Ask:
    """Return the request for a query's first rows."""
    access: Access = task.account.access()
    fields = task.fields
    body = {"queryFields": fields.query_fields, "limit": fields.limit, "user": {"timezone": task.zone}}
    request = access.post(f"queries/{fields.query}", json.dumps(body).encode(), task.key)
    return Ask(request, partial(read_rows, access))
