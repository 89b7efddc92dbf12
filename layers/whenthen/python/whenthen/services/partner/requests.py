"""What the engine asks a partner (PROTOCOLS.md 3, B.2 and B.3)."""

import json
import uuid

from whenthen.net.messages import Request
from whenthen.services.partner.fields import EventFields


def trigger_request(fields: EventFields, trigger_id: str) -> Request:
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
    headers = [
        ("Accept", "application/json"),
        ("Accept-Charset", "utf-8"),
        ("Content-Type", "application/json"),
        ("X-Request-ID", uuid.uuid4().hex),
    ]
    if fields.service_key:
        # The second is the first one's former name, which many partners still look for.
        headers += [(name, fields.service_key) for name in ("IFTTT-Service-Key", "IFTTT-Channel-Key")]
    return Request("POST", fields.endpoint(), tuple(headers), body.encode())
