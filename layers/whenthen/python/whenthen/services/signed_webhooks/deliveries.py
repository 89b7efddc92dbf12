"""What a signed request says of itself: the type of its event, and what makes it the same when it comes again."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from whenthen.net.signatures import Message
from whenthen.net.signatures.standard import header_family
from whenthen.services.signed_webhooks.connection import Scheme, SignedWebhookFields
from whenthen.services.signed_webhooks.payloads import Payload


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery.

    Parameters
    ----------
    event_type:
        As the sender names it; empty when it does not.
    delivery_id:
        The sender's id of it; empty when it has none.
    unique:
        What makes its event unique (R8); empty when each request is an event of its own.
    """

    event_type: str
    delivery_id: str
    unique: str


type _Read = Callable[[SignedWebhookFields, Message, Payload], Delivery]


def read_delivery(fields: SignedWebhookFields, message: Message, payload: Payload) -> Delivery:
    """Return what a verified message says of itself.

    Raises
    ------
    Forged
        A header that tells came more than once.
    """
    return _READERS[fields.scheme](fields, message, payload)


def _github(_fields: SignedWebhookFields, message: Message, _payload: Payload) -> Delivery:
    # The same when somebody asks GitHub to deliver again ("Best practices for using webhooks").
    identity = message.optional("x-github-delivery")
    return _by_id(message.optional("x-github-event"), identity, message)


def _stripe(_fields: SignedWebhookFields, message: Message, payload: Payload) -> Delivery:
    return _by_id(payload.member("type"), payload.member("id"), message)


def _slack(_fields: SignedWebhookFields, message: Message, payload: Payload) -> Delivery:
    # `type` is event_callback for everything the Events API sends; the event's own is what people look for.
    kind = payload.member("event", "type") or payload.member("command") or payload.member("type")
    identity = payload.member("event_id") or payload.member("trigger_id")
    # What has neither is not sent again by Slack, and its signature covers the second that it was sent in.
    return Delivery(kind, identity, identity or _by_signature("x-slack-signature", message))


def _shopify(_fields: SignedWebhookFields, message: Message, _payload: Payload) -> Delivery:
    # The event's id is what comes again with a retry ("Ignore duplicate webhooks"); what one deed of a merchant sets
    # off in several topics may share it.
    topic = message.optional("x-shopify-topic")
    identity = message.optional("x-shopify-event-id") or message.optional("x-shopify-webhook-id")
    delivery = _by_id(topic, identity, message)
    return Delivery(topic, identity, f"{topic} {identity}") if identity else delivery


def _standard(_fields: SignedWebhookFields, message: Message, payload: Payload) -> Delivery:
    identity = message.header(f"{header_family(message)}-id")
    return Delivery(payload.member("type"), identity, identity)


def _meta(_fields: SignedWebhookFields, message: Message, payload: Payload) -> Delivery:
    # Meta gives no ids; the body holds the time of what happened.
    return _by_id(payload.member("object"), "", message)


def _hmac(fields: SignedWebhookFields, message: Message, _payload: Payload) -> Delivery:
    kind = message.optional(fields.type_header) if fields.type_header else ""
    identity = message.optional(fields.id_header) if fields.id_header else ""
    if identity or not fields.timestamp_header:
        return Delivery(kind, identity, identity)
    return Delivery(kind, "", _by_signature(fields.signature_header, message))


def _by_signature(header: str, message: Message) -> str:
    # In lower case: digits of hex in upper case are good, too, and must not make another event of what is replayed.
    return f"signature:{message.header(header).lower()}"


def _by_id(kind: str, identity: str, message: Message) -> Delivery:
    return Delivery(kind, identity, identity or f"body:{hashlib.sha256(message.body).hexdigest()}")


_READERS: Mapping[Scheme, _Read] = {
    "github": _github,
    "stripe": _stripe,
    "slack": _slack,
    "shopify": _shopify,
    "standard_webhooks": _standard,
    "meta": _meta,
    "hmac": _hmac,
}
