"""Senders of signed webhooks: what each would send, signed by the words of its documentation and not by our code."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

GITHUB_SECRET = "It's a Secret to Everybody"
SLACK_SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
STANDARD_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
STRIPE_SECRET = "whsec_test_secret"

type Headers = dict[str, str]


def hexdigest(secret: bytes, content: bytes, algorithm: str = "sha256") -> str:
    """An HMAC in hex."""
    return hmac.new(secret, content, getattr(hashlib, algorithm)).hexdigest()


def b64digest(secret: bytes, content: bytes) -> str:
    """An HMAC-SHA256 in base64."""
    return base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()


def github(body: bytes, at: int = 0, *, delivery: str = "d-1", event: str = "push") -> Headers:
    signature = hexdigest(GITHUB_SECRET.encode(), body)
    return {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Delivery": delivery, "X-GitHub-Event": event}


def meta(body: bytes, at: int = 0) -> Headers:
    return {"X-Hub-Signature-256": f"sha256={hexdigest(GITHUB_SECRET.encode(), body)}"}


def shopify(body: bytes, at: int = 0, *, event: str = "e-1", topic: str = "orders/create") -> Headers:
    return {
        "X-Shopify-Hmac-Sha256": b64digest(GITHUB_SECRET.encode(), body),
        "X-Shopify-Event-Id": event,
        "X-Shopify-Webhook-Id": f"w-{time.monotonic_ns()}",
        "X-Shopify-Topic": topic,
    }


def slack(body: bytes, at: int = 0) -> Headers:
    at = at or int(time.time())
    signature = hexdigest(SLACK_SECRET.encode(), b"v0:%d:%b" % (at, body))
    return {"X-Slack-Request-Timestamp": str(at), "X-Slack-Signature": f"v0={signature}"}


def stripe(body: bytes, at: int = 0) -> Headers:
    at = at or int(time.time())
    signature = hexdigest(STRIPE_SECRET.encode(), b"%d.%b" % (at, body))
    # `v0` is a scheme of Stripe's test mode, which is to be ignored.
    return {"Stripe-Signature": f"t={at},v0={'0' * 64},v1={signature}"}


def standard(body: bytes, at: int = 0, *, delivery: str = "msg_1", family: str = "webhook") -> Headers:
    at = at or int(time.time())
    key = base64.b64decode(STANDARD_SECRET.removeprefix("whsec_"))
    signature = b64digest(key, b"%b.%d.%b" % (delivery.encode(), at, body))
    return {f"{family}-id": delivery, f"{family}-timestamp": str(at), f"{family}-signature": f"v1,{signature}"}


def plain(body: bytes, at: int = 0, *, delivery: str = "p-1") -> Headers:
    """A sender that signs its time, in SHA-512 and base64."""
    at = at or int(time.time())
    digest = hmac.new(b"plain secret", b"%d:%b" % (at, body), hashlib.sha512).digest()
    signature = base64.b64encode(digest).decode()
    return {"X-Time": str(at), "X-Sign": f"hmac {signature}", "X-Id": delivery, "X-Kind": "made"}


@dataclass(frozen=True)
class Sender:
    """A sender: the fields of a connection to it, and what it sends along with a body at a time."""

    fields: dict[str, Any]
    sign: Callable[..., Headers]
    is_timed: bool = False
    body: bytes = field(default=b'{"a": 1}')


SENDERS = {
    "github": Sender({"scheme": "github", "secret": GITHUB_SECRET}, github),
    "meta": Sender({"scheme": "meta", "secret": GITHUB_SECRET, "verify_token": "tok en"}, meta),
    "shopify": Sender({"scheme": "shopify", "secret": GITHUB_SECRET}, shopify),
    "slack": Sender(
        {"scheme": "slack", "secret": SLACK_SECRET},
        slack,
        is_timed=True,
        body=json.dumps({"type": "event_callback", "event_id": "Ev1", "event": {"type": "app_mention"}}).encode(),
    ),
    "stripe": Sender(
        {"scheme": "stripe", "secret": STRIPE_SECRET},
        stripe,
        is_timed=True,
        body=b'{"id": "evt_1", "object": "event", "type": "invoice.paid"}',
    ),
    "standard_webhooks": Sender(
        {"scheme": "standard_webhooks", "secret": STANDARD_SECRET},
        standard,
        is_timed=True,
        body=b'{"type": "contact.created", "data": {}}',
    ),
    "hmac": Sender(
        {
            "scheme": "hmac",
            "secret": "plain secret",
            "signature_header": "X-Sign",
            "algorithm": "sha512",
            "encoding": "base64",
            "prefix": "hmac ",
            "timestamp_header": "X-Time",
            "id_header": "X-Id",
            "signed_content": "{timestamp}:{body}",
            "type_header": "X-Kind",
        },
        plain,
        is_timed=True,
    ),
}
"""One sender of each scheme."""
