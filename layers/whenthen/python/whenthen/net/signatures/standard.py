"""Standard Webhooks (its specification, version 1.0.0, "Signature scheme"), symmetric signatures."""

import base64
import binascii
import hmac
from dataclasses import dataclass

from whenthen.net.signatures.message import Forged, Message, check_signature, check_time, raw

_PREFIX = "whsec_"


def read_standard_secret(text: str) -> bytes:
    """Return the key that ``whsec_<base64>`` stands for; the prefix may be left out.

    Raises
    ------
    ValueError
        It is no base64, or empty.
    """
    encoded = text.removeprefix(_PREFIX).rstrip("=")
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError("is not base64, expected whsec_ and base64") from error
    if not key:
        raise ValueError("holds no key, expected whsec_ and base64")
    return key


@dataclass(frozen=True, slots=True)
class StandardScheme:
    """``webhook-signature: v1,<base64> v1,<base64>``, one for each secret that is valid.

    Many senders use the older names ``svix-id``, ``svix-timestamp`` and ``svix-signature`` for the same.
    """

    def verify(self, message: Message, secret: bytes, now: float) -> None:
        """See `PlainScheme.verify`."""
        family = header_family(message)
        timestamp = message.header(f"{family}-timestamp")
        check_time(timestamp, now)
        content = b".".join((raw(message.header(f"{family}-id")), raw(timestamp), message.body))
        expected = base64.b64encode(hmac.digest(secret, content, "sha256")).decode()
        signatures = [item.partition(",") for item in message.header(f"{family}-signature").split()]
        check_signature(expected, [signature for version, _, signature in signatures if version == "v1"])


def header_family(message: Message) -> str:
    """Return what the message's header names begin with. Both at once are a forgery: each could name another id.

    Raises
    ------
    Forged
        It has headers of both families.
    """
    families = [name for name in ("webhook", "svix") if message.optional(f"{name}-id")]
    if len(families) > 1:
        raise Forged
    return families[0] if families else "webhook"
