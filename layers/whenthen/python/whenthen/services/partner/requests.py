"""What the engine asks a partner for a trigger's events (PROTOCOLS.md 3, B.2 and B.3)."""

import json
import uuid

from whenthen.net.messages import Request
from whenthen.services.partner.access import Access
from whenthen.services.partner.fields import EventFields


def trigger_request(access: Access, fields: EventFields, trigger_id: str) -> Request:
    """Return the request for a trigger's latest events.

    Parameters
    ----------
    fields:
        The trigger's. Those of the partner's own go along as they were written, so that numbers keep their digits.
    trigger_id:
        The trigger's identity, which the partner names when it has news.
    """
    members = {
        "trigger_identity": json.dumps(trigger_id),
        "triggerFields": fields.trigger_fields,
        "limit": json.dumps(fields.limit),
        "user": json.dumps({"timezone": fields.zone}),
    }
    body = "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"
    return access.post(f"triggers/{fields.trigger}", body.encode(), uuid.uuid4().hex)
