"""Requests of senders that sign: what is signed becomes an event, once."""

import logging
from datetime import UTC, datetime

import uuid_utils
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from whenthen.clock import Deadline, from_datetime
from whenthen.engine.arrivals import Arrival
from whenthen.engine.connections.errors import ConnectionUnusable
from whenthen.engine.listeners import UnknownKey
from whenthen.net.signatures import Forged, Message
from whenthen.services.signed_webhooks.connection import SignedWebhookFields
from whenthen.services.signed_webhooks.deliveries import Delivery, read_delivery
from whenthen.services.signed_webhooks.payloads import Payload, read_payload
from whenthen.services.signed_webhooks.triggers import received_ingredients, wanted_types
from whenthen.services.signed_webhooks.verification import answer_question, answer_subscription, verify
from whenthen.store.literals import check_text
from whenthen.web.receiving import check_ingredients, event_header, open_connection, store
from whenthen.wiring import Runtime

logger = logging.getLogger(__name__)

_SERVICE = "signed_webhooks"

_NOSNIFF = {"X-Content-Type-Options": "nosniff"}
"""A challenge is text of whoever asks, and nothing for a browser to guess about."""


def answer(runtime: Runtime, request: Request, body: bytes) -> Response:
    """Return the answer to a GET or POST.

    Raises
    ------
    Forged
        It is not signed, or does not know the verify token.
    StoreError, Unavailable
        See `receiving.open_connection` and `receiving.store`.
    """
    return _subscribe(runtime, request) if request.method == "GET" else _receive(runtime, request, body)


def _subscribe(runtime: Runtime, request: Request) -> Response:
    fields = _open(runtime, request, Deadline(runtime.settings.intake_timeout_seconds))
    return PlainTextResponse(answer_subscription(fields, request.query_params), headers=_NOSNIFF)


def _receive(runtime: Runtime, request: Request, body: bytes) -> Response:
    """Verify the request and store its event for all triggers that it sets off, in the time of one."""
    when = datetime.now(UTC)
    deadline = Deadline(runtime.settings.intake_timeout_seconds)
    fields = _open(runtime, request, deadline)
    message = Message(tuple(request.headers.items()), body)
    try:
        verify(fields, message, when.timestamp())
    except Forged:
        # Who has set the wrong secret finds out why nothing comes.
        logger.info("a signed webhook was refused", extra={"connection_id": request.path_params["connection"]})
        raise
    payload = read_payload(request.headers.get("content-type", ""), body)
    question = answer_question(fields, payload)
    if question is not None:
        check_text(question, "challenge")
        return PlainTextResponse(question, headers=_NOSNIFF)
    headers: dict[str, str] = {}
    for arrival in _arrivals(request, fields, read_delivery(fields, message, payload), payload, when):
        try:
            headers = {**event_header(store(runtime, arrival, deadline)), **headers}
        except UnknownKey as error:
            raise Forged from error
    # Without a text: Slack shows people what their command is answered.
    return PlainTextResponse("", headers=headers)


def _open(runtime: Runtime, request: Request, deadline: Deadline) -> SignedWebhookFields:
    try:
        account = open_connection(runtime, request.path_params["connection"], _SERVICE, deadline)
    except ConnectionUnusable as error:
        raise Forged from error
    fields = account.fields
    assert isinstance(fields, SignedWebhookFields)  # noqa: S101 - what the service's connections have
    return fields


def _arrivals(
    request: Request, fields: SignedWebhookFields, delivery: Delivery, payload: Payload, when: datetime
) -> list[Arrival]:
    ingredients = received_ingredients(fields.scheme, delivery, payload, when)
    check_ingredients(ingredients)
    # The same for all triggers: each makes an event of its own of it.
    unique = f"delivery:{delivery.unique}" if delivery.unique else str(uuid_utils.uuid7())
    return [
        Arrival(
            key_hash="",
            service=_SERVICE,
            trigger="received",
            fields={"event_type": wanted},
            unique=unique,
            ingredients=ingredients,
            occurred_at=from_datetime(when),
            headers={},
            connection=request.path_params["connection"],
        )
        for wanted in wanted_types(delivery)
    ]
