"""Signatures of webhooks: what vendors publish passes, and nothing else does."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.signing import SENDERS, STANDARD_SECRET, Headers, hexdigest, slack, standard, stripe
from whenthen.net.signatures import (
    GITHUB,
    SLACK,
    Forged,
    Message,
    PlainScheme,
    StandardScheme,
    read_standard_secret,
)
from whenthen.services.signed_webhooks.connection import SignedWebhookFields
from whenthen.services.signed_webhooks.verification import verify

NOW = 1_795_976_400

every_scheme = pytest.mark.parametrize("name", SENDERS)
every_timed = pytest.mark.parametrize("name", [name for name, sender in SENDERS.items() if sender.is_timed])


def message(body: bytes, headers: Headers, *more: tuple[str, str]) -> Message:
    """A request with these headers, and more of them."""
    return Message((*((name.lower(), value) for name, value in headers.items()), *more), body)


def passes(name: str, sent: Message, now: float = NOW, **changes: str) -> bool:
    """Whether the connection to that sender, with changes, takes the request."""
    fields = SignedWebhookFields.model_validate({**SENDERS[name].fields, **changes})
    try:
        verify(fields, sent, now)
    except Forged:
        return False
    return True


def test_the_example_of_github() -> None:
    """docs.github.com, "Validating webhook deliveries": testing the webhook payload validation."""
    signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    GITHUB.verify(message(b"Hello, World!", {"X-Hub-Signature-256": signature}), b"It's a Secret to Everybody", NOW)


def test_the_example_of_slack() -> None:
    """api.slack.com, "Verifying requests from Slack": a step-by-step walk-through."""
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    headers = {
        "X-Slack-Request-Timestamp": "1531420618",
        "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    }
    SLACK.verify(message(body, headers), b"8f742231b10e8888abcd99yyyzzz85a5", 1531420618)


def test_the_example_of_standard_webhooks() -> None:
    """The specification's example and that of docs.svix.com, "Verifying webhooks manually"."""
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    secret = read_standard_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    StandardScheme().verify(message(b'{"test": 2432232314}', headers), secret, 1614265330)
    old_names = {name.replace("webhook", "svix"): value for name, value in headers.items()}
    StandardScheme().verify(message(b'{"test": 2432232314}', old_names), secret, 1614265330)


@every_scheme
@pytest.mark.parametrize(
    "body", [b"", b"\xff\x00", b'{"a": 1}', "Grüße 🚪".encode(), b"\r\n--x\r\n\x00", b"x" * 262_144]
)
def test_what_the_sender_signed_passes_and_nothing_else(name: str, body: bytes) -> None:
    """D01: over raw bytes, text or not."""
    headers = SENDERS[name].sign(body, NOW)
    assert passes(name, message(body, headers))
    assert not passes(name, message(body + b" ", headers))
    assert not passes(name, message(bytes((body[0] ^ 1,)) + body[1:] if body else b"x", headers))
    other = {"standard_webhooks": "whsec_AAAA"}.get(name, "another secret")
    assert not passes(name, message(body, headers), secret=other)


@every_scheme
def test_each_header_is_needed_once(name: str) -> None:
    sender = SENDERS[name]
    headers = sender.sign(sender.body, NOW)
    signing = {key: headers[key] for key in headers if "sign" in key.lower() or "hmac" in key.lower()}
    timing = {key: headers[key] for key in headers if "time" in key.lower()}
    for key in signing | timing:
        rest = {other: value for other, value in headers.items() if other != key}
        assert not passes(name, message(sender.body, rest))
        assert not passes(name, message(sender.body, {**headers, key: ""}))
        # Twice is a forgery, also when both are good: somebody before us may have looked at one of them alone.
        assert not passes(name, message(sender.body, headers, (key.lower(), headers[key])))
        # A gateway that joins them makes one value of both.
        assert not passes(name, message(sender.body, {**headers, key: f"{headers[key]},{headers[key]}"}))


@every_scheme
@pytest.mark.parametrize(
    "odd", ["", " ", "é", "\xff\xfe", "日本", "\ud800", "sha256=", "v0=", "v1,", "t=,v1=", ",", "=", "0" * 64, "A" * 44]
)
def test_odd_signatures_are_forgeries(name: str, odd: str) -> None:
    sender = SENDERS[name]
    headers = sender.sign(sender.body, NOW)
    for key in headers:
        if "sign" in key.lower() or "hmac" in key.lower():
            assert not passes(name, message(sender.body, {**headers, key: odd}))
            assert not passes(name, message(sender.body, {**headers, key: headers[key][:-1]}))


@every_timed
@pytest.mark.parametrize(("off", "expected"), [(-301, False), (-300, True), (0, True), (300, True), (301, False)])
def test_the_window_is_five_minutes_both_ways(name: str, off: int, expected: bool) -> None:
    sender = SENDERS[name]
    assert passes(name, message(sender.body, sender.sign(sender.body, NOW + off))) is expected


@every_timed
@pytest.mark.parametrize(
    "odd",
    [
        "",
        "now",
        "-1",
        "+1795976400",
        "1795976400.0",
        "1e9",
        "１７９５９７６４００",
        " 1795976400",
        "0x6B0C",
        "9" * 5000,
    ],
)
def test_an_odd_time_is_a_forgery(name: str, odd: str) -> None:
    sender = SENDERS[name]
    headers = sender.sign(sender.body, NOW)
    changed = {key: value.replace(str(NOW), odd) for key, value in headers.items()}
    assert changed != headers
    assert not passes(name, message(sender.body, changed))


@every_timed
def test_the_time_is_signed(name: str) -> None:
    sender = SENDERS[name]
    headers = sender.sign(sender.body, NOW - 1000)
    changed = {key: value.replace(str(NOW - 1000), str(NOW)) for key, value in headers.items()}
    assert not passes(name, message(sender.body, changed))


def test_the_id_of_a_standard_webhook_is_signed_and_of_one_family() -> None:
    headers = standard(b"{}", NOW)
    assert not passes("standard_webhooks", message(b"{}", {**headers, "webhook-id": "msg_2"}))
    assert passes("standard_webhooks", message(b"{}", standard(b"{}", NOW, family="svix")))
    assert not passes("standard_webhooks", message(b"{}", {**headers, **standard(b"{}", NOW, family="svix")}))


def test_one_good_signature_of_several_is_enough() -> None:
    """While a secret is changed, senders sign with both."""
    good = standard(b"{}", NOW)
    old = "v1,AAAA v1a,odd v2,x nonsense"
    assert passes(
        "standard_webhooks", message(b"{}", {**good, "webhook-signature": f"{old} {good['webhook-signature']}"})
    )
    # The digest of a good one under another version is none.
    other = good["webhook-signature"].replace("v1,", "v1a,")
    assert not passes("standard_webhooks", message(b"{}", {**good, "webhook-signature": other}))

    header = stripe(b"{}", NOW)["Stripe-Signature"]
    assert passes("stripe", message(b"{}", {"Stripe-Signature": header.replace(",v1=", f",v1={'0' * 64},v1=")}))
    assert not passes("stripe", message(b"{}", {"Stripe-Signature": header.replace(",v1=", ",v2=")}))
    assert not passes("stripe", message(b"{}", {"Stripe-Signature": f"{header},t={NOW}"}))


def test_a_scheme_of_ones_own() -> None:
    body = b"\xff\x00"
    scheme = PlainScheme(
        "x-sign",
        algorithm="sha1",
        prefix="a=",
        content="{id}|{timestamp}|{body}|",
        timestamp_header="x-at",
        id_header="x-id",
    )
    signature = hexdigest(b"k", b"7|%d123|%b|" % (NOW, body), "sha1")
    headers = {"X-Sign": f"a={signature.upper()}", "X-At": f"{NOW}123", "X-Id": "7"}
    scheme.verify(message(body, headers), b"k", NOW)
    for changed in ({"X-Id": "8"}, {"X-Id": ""}, {"X-At": str(NOW)}, {"X-Sign": f"A={signature}"}):
        with pytest.raises(Forged):
            scheme.verify(message(body, {**headers, **changed}), b"k", NOW)


def test_a_body_that_looks_like_a_place_is_a_body() -> None:
    headers = slack(b"{timestamp}{body}", NOW)
    assert passes("slack", message(b"{timestamp}{body}", headers))


@pytest.mark.parametrize(
    "secret", ["whsec_", "", "whsec_#", "whsec_a", "whsec_é", "==", "v1,whsec_AAAA", "whsec_AA AA"]
)
def test_secrets_of_standard_webhooks_that_can_not_be(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        read_standard_secret(secret)


def test_secrets_of_standard_webhooks() -> None:
    key = read_standard_secret(STANDARD_SECRET)
    assert len(key) == 24
    assert read_standard_secret(STANDARD_SECRET.removeprefix("whsec_")) == key
    assert read_standard_secret("whsec_AAE=") == read_standard_secret("whsec_AAE") == b"\x00\x01"


def test_comparing_takes_no_shortcut(monkeypatch: pytest.MonkeyPatch) -> None:
    """All comparing is `hmac.compare_digest`, of every signature, also after one that matched."""
    compared: list[bool] = []
    compare = hmac.compare_digest

    def counting(first: bytes, second: bytes) -> bool:
        compared.append(compare(first, second))
        return compared[-1]

    monkeypatch.setattr(hmac, "compare_digest", counting)
    header = stripe(b"{}", NOW)["Stripe-Signature"]
    assert passes("stripe", message(b"{}", {"Stripe-Signature": f"{header},v1=00,v1=11"}))
    assert compared == [True, False, False]


@given(body=st.binary(max_size=200), flipped=st.integers(min_value=0), name=st.sampled_from(sorted(SENDERS)))
def test_one_changed_byte_is_a_forgery(body: bytes, flipped: int, name: str) -> None:
    headers = SENDERS[name].sign(body, NOW)
    assert passes(name, message(body, headers))
    if body:
        place = flipped % len(body)
        changed = body[:place] + bytes((body[place] ^ 1,)) + body[place + 1 :]
        assert not passes(name, message(changed, headers))
