"""What a signed request carries, and what makes its event one and the same."""

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.signing import SENDERS, Headers, shopify, slack, standard
from whenthen.net.signatures import Forged, Message
from whenthen.services.signed_webhooks.connection import SignedWebhookFields
from whenthen.services.signed_webhooks.deliveries import Delivery, read_delivery
from whenthen.services.signed_webhooks.payloads import Payload, read_payload
from whenthen.services.signed_webhooks.verification import answer_question, answer_subscription
from whenthen.store.literals import check_text

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


def delivery(name: str, body: bytes, headers: Headers, content_type: str = JSON, **changes: str) -> Delivery:
    """What a request to the connection of that sender says of itself."""
    fields = SignedWebhookFields.model_validate({**SENDERS[name].fields, **changes})
    message = Message(tuple((key.lower(), value) for key, value in headers.items()), body)
    return read_delivery(fields, message, read_payload(content_type, body))


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        (
            JSON,
            b' {"id": 9007199254740993} ',
            Payload(json='{"id": 9007199254740993}', members={"id": "9007199254740993"}),
        ),
        (JSON, b"[1.10]", Payload(json="[1.10]")),
        (JSON, b"\xef\xbb\xbf{}", Payload(json="{}")),
        ("text/plain", b"1e400", Payload(json="1e400")),
        (JSON, b"{", Payload(text="{")),
        (JSON, b"NaN", Payload(text="NaN")),
        (JSON, b"[" * 100_000, Payload(text="[" * 100_000)),
        (JSON, b"", Payload()),
        (FORM, b"", Payload()),
        ("text/plain", "Grüße".encode(), Payload(text="Grüße")),
        ("text/plain", b"a\x00b", Payload(base64="YQBi")),
        (JSON, b"\xff\x00", Payload(base64="/wA=")),
        (FORM, b"\xff\x00", Payload(base64="/wA=")),
        (FORM, b"a=1&b=%C3%BC&c", Payload(json='{"a": "1", "b": "ü", "c": ""}', members={"a": "1", "b": "ü", "c": ""})),
        # D18: JSON that says it is a form.
        (FORM, b'{"a": "b=c&d"}', Payload(json='{"a": "b=c&d"}', members={"a": "b=c&d"})),
        (FORM, b"123", Payload(json='{"123": ""}', members={"123": ""})),
        (FORM, b"payload=" + quote('{"a": 1}').encode(), Payload(json='{"a": 1}', members={"a": "1"})),
        (FORM, b"payload=%7B", Payload(json='{"payload": "{"}', members={"payload": "{"})),
        (FORM, b"payload=1&b=2", Payload(json='{"payload": "1", "b": "2"}', members={"payload": "1", "b": "2"})),
    ],
)
def test_a_body_is_read_as_what_it_is(content_type: str, body: bytes, expected: Payload) -> None:
    assert read_payload(content_type, body) == expected


@given(body=st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(body=b"payload=%7B%22a%22%3A%22%00%22%7D")
@pytest.mark.parametrize("content_type", [JSON, FORM, "text/plain", ""])
def test_any_body_becomes_texts_that_can_be_kept(content_type: str, body: bytes) -> None:
    payload = read_payload(content_type, body)
    kept = [payload.json, payload.text, payload.base64]
    assert sum(map(bool, kept)) <= 1
    for text in kept:
        check_text(text, "payload")
    if payload.json:
        json.loads(payload.json)


def test_github() -> None:
    headers = {"X-GitHub-Delivery": "72d3162e", "X-GitHub-Event": "issues"}
    assert delivery("github", b"{}", headers) == Delivery("issues", "72d3162e", "72d3162e")
    assert (
        delivery("github", b"{}", {}).unique
        == delivery("github", b"{}", {}).unique
        != delivery("github", b"", {}).unique
    )


def test_stripe() -> None:
    body = b'{"id": "evt_1", "type": "invoice.paid"}'
    assert delivery("stripe", body, {}) == Delivery("invoice.paid", "evt_1", "evt_1")
    # Numbers and objects are no ids.
    assert delivery("stripe", b'{"id": {"a": 1}, "type": ["x"]}', {}).delivery_id == ""


def test_slack_events_commands_and_clicks() -> None:
    event = json.dumps({"type": "event_callback", "event_id": "Ev1", "event": {"type": "app_mention"}}).encode()
    assert delivery("slack", event, slack(event, 1)) == Delivery("app_mention", "Ev1", "Ev1")
    # A retry is signed anew.
    assert delivery("slack", event, slack(event, 2)) == delivery("slack", event, slack(event, 1))

    command = urlencode({"command": "/deploy", "text": "now", "trigger_id": "13.37.ab"}).encode()
    assert delivery("slack", command, slack(command, 1), FORM) == Delivery("/deploy", "13.37.ab", "13.37.ab")

    click = urlencode({"payload": json.dumps({"type": "block_actions", "trigger_id": "7.7"})}).encode()
    assert delivery("slack", click, slack(click, 1), FORM) == Delivery("block_actions", "7.7", "7.7")

    bare = b'{"type": "app_rate_limited"}'
    first, second = (delivery("slack", bare, slack(bare, at)) for at in (1, 2))
    assert first == delivery("slack", bare, slack(bare, 1))
    assert (first.event_type, first.delivery_id) == ("app_rate_limited", "")
    assert first.unique != second.unique


def test_shopify_tells_events_by_topic_and_event_id() -> None:
    """A retry may have another webhook id; what one deed does to two topics may share its event id."""
    first, again = (delivery("shopify", b"{}", shopify(b"{}", event="e")) for _ in range(2))
    assert first == again == Delivery("orders/create", "e", "orders/create e")
    assert delivery("shopify", b"{}", shopify(b"{}", event="e", topic="orders/paid")).unique != first.unique
    old = {key: value for key, value in shopify(b"{}").items() if key != "X-Shopify-Event-Id"}
    assert delivery("shopify", b"{}", old).delivery_id == old["X-Shopify-Webhook-Id"]


@pytest.mark.parametrize("family", ["webhook", "svix"])
def test_standard_webhooks(family: str) -> None:
    body = b'{"type": "contact.created"}'
    assert delivery("standard_webhooks", body, standard(body, 1, delivery="msg_7", family=family)) == Delivery(
        "contact.created", "msg_7", "msg_7"
    )


def test_meta_has_no_ids() -> None:
    body = b'{"object": "page", "entry": [{"time": 1}]}'
    assert delivery("meta", body, {}).event_type == "page"
    assert delivery("meta", body, {}) == delivery("meta", body, {}) != delivery("meta", body + b" ", {})


def test_a_sender_of_ones_own() -> None:
    assert delivery("hmac", b"", {"X-Id": "1", "X-Kind": "k", "X-Sign": "s"}) == Delivery("k", "1", "1")
    # Without an id the signature with its time, and without that nothing, makes it the same.
    assert delivery("hmac", b"", {"X-Sign": "s"}) == Delivery("", "", "signature:s")
    unsigned_time = {"timestamp_header": "", "signed_content": "{body}"}
    assert delivery("hmac", b"", {"X-Sign": "s"}, **unsigned_time) == Delivery("", "", "")


def test_a_header_that_tells_and_comes_twice() -> None:
    message = Message((("x-github-delivery", "1"), ("x-github-delivery", "2")), b"{}")
    with pytest.raises(Forged):
        read_delivery(SignedWebhookFields.model_validate(SENDERS["github"].fields), message, Payload())


META = SignedWebhookFields.model_validate(SENDERS["meta"].fields)
QUESTION = {"hub.mode": "subscribe", "hub.verify_token": "tok en", "hub.challenge": "1158201444"}


def test_meta_asks_whether_the_url_is_ours() -> None:
    assert answer_subscription(META, QUESTION) == "1158201444"


@pytest.mark.parametrize(
    "changes",
    [{"hub.verify_token": "token"}, {"hub.verify_token": ""}, {"hub.verify_token": "é"}, {"hub.mode": "unsubscribe"}],
)
def test_whoever_does_not_know_the_token_gets_no_answer(changes: dict[str, str]) -> None:
    with pytest.raises(Forged):
        answer_subscription(META, {**QUESTION, **changes})


@pytest.mark.parametrize("name", sorted(SENDERS.keys() - {"meta"}))
def test_other_senders_ask_nothing(name: str) -> None:
    fields = SignedWebhookFields.model_validate(SENDERS[name].fields)
    with pytest.raises(Forged):
        answer_subscription(fields, {**QUESTION, "hub.verify_token": ""})
    question = read_payload(JSON, b'{"type": "url_verification", "challenge": "c"}')
    assert answer_question(fields, question) == ("c" if name == "slack" else None)


def test_slack_looks_at_our_certificate() -> None:
    fields = SignedWebhookFields.model_validate(SENDERS["slack"].fields)
    assert answer_question(fields, read_payload(FORM, b"ssl_check=1&token=x")) == ""
    assert answer_question(fields, read_payload(FORM, b"command=%2Fx")) is None
