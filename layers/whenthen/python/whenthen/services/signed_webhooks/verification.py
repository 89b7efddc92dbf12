"""Verifying signed requests, and the questions that some senders ask before they send events."""

import hmac
from collections.abc import Mapping

from whenthen.net.signatures import (
    GITHUB,
    SHOPIFY,
    SLACK,
    Forged,
    Message,
    PlainScheme,
    StandardScheme,
    StripeScheme,
    read_standard_secret,
)
from whenthen.services.signed_webhooks.connection import SignedWebhookFields
from whenthen.services.signed_webhooks.payloads import Payload


def verify(fields: SignedWebhookFields, message: Message, now: float) -> None:
    """Check that the connection's sender signed the message.

    Parameters
    ----------
    now:
        Epoch seconds.

    Raises
    ------
    Forged
        It did not, or not now.
    """
    secret = fields.secret.encode()
    match fields.scheme:
        case "github" | "meta":
            GITHUB.verify(message, secret, now)
        case "shopify":
            SHOPIFY.verify(message, secret, now)
        case "slack":
            SLACK.verify(message, secret, now)
        case "stripe":
            StripeScheme().verify(message, secret, now)
        case "standard_webhooks":
            StandardScheme().verify(message, read_standard_secret(fields.secret), now)
        case "hmac":
            _plain(fields).verify(message, secret, now)


def _plain(fields: SignedWebhookFields) -> PlainScheme:
    return PlainScheme(
        fields.signature_header,
        algorithm=fields.algorithm,
        coding=fields.encoding,
        prefix=fields.prefix,
        content=fields.signed_content,
        timestamp_header=fields.timestamp_header,
        id_header=fields.id_header,
    )


def answer_subscription(fields: SignedWebhookFields, query: Mapping[str, str]) -> str:
    """Return what to answer to Meta's GET, which asks whether the URL is ours ("Webhooks: Getting started").

    Raises
    ------
    Forged
        It is no such question, or its verify token is another one.
    """
    token = query.get("hub.verify_token", "").encode()
    if fields.scheme != "meta" or query.get("hub.mode") != "subscribe":
        raise Forged
    if not hmac.compare_digest(token, fields.verify_token.encode()):
        raise Forged
    return query.get("hub.challenge", "")


def answer_question(fields: SignedWebhookFields, payload: Payload) -> str | None:
    """Return what to answer to a verified request of Slack that is no event, or None for an event.

    Slack asks once whether a URL of the Events API is ours (`url_verification`), and now and then whether the
    certificate of a command's URL is good (`ssl_check`).
    """
    if fields.scheme != "slack":
        return None
    if payload.member("type") == "url_verification":
        return payload.member("challenge")
    return "" if payload.member("ssl_check") == "1" else None
