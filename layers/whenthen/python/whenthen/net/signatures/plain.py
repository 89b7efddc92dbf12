"""One HMAC in one header, which is what most senders do: GitHub, Meta, Shopify, Slack and a thousand others."""

import base64
import hmac
import re
from dataclasses import dataclass
from typing import Literal

from whenthen.net.signatures.message import Message, check_signature, check_time, raw

type Algorithm = Literal["sha256", "sha1", "sha512"]
type Coding = Literal["hex", "base64"]

_PLACES = re.compile(r"(\{(?:body|timestamp|id)\})")


@dataclass(frozen=True, slots=True)
class PlainScheme:
    """How a sender signs.

    Parameters
    ----------
    signature_header:
        The header with the signature, `prefix` before it.
    content:
        What is signed, with ``{body}`` once, and ``{timestamp}`` and ``{id}`` for the values of these headers.
    timestamp_header:
        The header with the time of signing, see `check_time`; empty when there is none.
    id_header:
        The header with the delivery's id; empty when there is none.
    """

    signature_header: str
    algorithm: Algorithm = "sha256"
    coding: Coding = "hex"
    prefix: str = ""
    content: str = "{body}"
    timestamp_header: str = ""
    id_header: str = ""

    def verify(self, message: Message, secret: bytes, now: float) -> None:
        """Check the message's signature and time.

        Parameters
        ----------
        now:
            Epoch seconds.

        Raises
        ------
        Forged
            The message was not signed with `secret`, or not now.
        """
        given = message.header(self.signature_header)
        values = {"{body}": message.body}
        if self.timestamp_header:
            timestamp = message.header(self.timestamp_header)
            check_time(timestamp, now)
            values["{timestamp}"] = raw(timestamp)
        if "{id}" in self.content:
            values["{id}"] = raw(message.header(self.id_header))
        content = b"".join(values.get(part, part.encode()) for part in _PLACES.split(self.content))
        digest = hmac.digest(secret, content, self.algorithm)
        if self.coding == "hex":
            check_signature(self.prefix + digest.hex(), [self._lowered(given)])
        else:
            check_signature(self.prefix + base64.b64encode(digest).decode(), [given])

    def _lowered(self, given: str) -> str:
        """Return the signature with its digits in lower case: some senders write them in upper case."""
        return given[: len(self.prefix)] + given[len(self.prefix) :].lower()


GITHUB = PlainScheme("x-hub-signature-256", prefix="sha256=")
"""GitHub, "Validating webhook deliveries". Meta signs alike with the app's secret ("Webhooks: Getting started")."""

SHOPIFY = PlainScheme("x-shopify-hmac-sha256", coding="base64")
"""Shopify, "Deliver webhooks through HTTPS"."""

SLACK = PlainScheme(
    "x-slack-signature",
    prefix="v0=",
    content="v0:{timestamp}:{body}",
    timestamp_header="x-slack-request-timestamp",
)
"""Slack, "Verifying requests from Slack"."""
