"""Stripe's signatures (its docs, "Resolve webhook signature verification errors": verify manually)."""

import hmac
from dataclasses import dataclass

from whenthen.net.signatures.message import Forged, Message, check_signature, check_time, raw


@dataclass(frozen=True, slots=True)
class StripeScheme:
    """``Stripe-Signature: t=<seconds>,v1=<hex>``: while a secret is rolled there is a ``v1`` for each."""

    def verify(self, message: Message, secret: bytes, now: float) -> None:
        """See `PlainScheme.verify`."""
        pairs = [item.partition("=") for item in message.header("stripe-signature").split(",")]
        times = [value for name, _, value in pairs if name.strip() == "t"]
        if len(times) != 1:
            raise Forged
        check_time(times[0], now)
        content = raw(times[0]) + b"." + message.body
        expected = hmac.digest(secret, content, "sha256").hex()
        check_signature(expected, [value.strip() for name, _, value in pairs if name.strip() == "v1"])
