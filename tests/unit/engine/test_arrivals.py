"""An arrival on its way through the intake queue."""

import pytest

from whenthen.engine.arrivals import Arrival

REFUSED_BY_SQS = ["\x00", "\x0b", "\x1f", "\ud800", "\udfff", "\ufffe", "\uffff"]


def arrival(value: str) -> Arrival:
    return Arrival(
        key_hash="hash",
        service="webhooks",
        trigger="event",
        fields={"event": "door"},
        unique="delivery",
        ingredients={"Value1": value},
        occurred_at=1,
        headers={"x-name": value},
    )


@pytest.mark.parametrize("character", REFUSED_BY_SQS, ids=ascii)
def test_what_sqs_refuses_goes_as_an_escape(character: str) -> None:
    sent = arrival(f"a{character}b")
    text = sent.to_json()
    assert character not in text
    text.encode()
    assert Arrival.from_json(text) == sent


@pytest.mark.parametrize(
    "text", ["Küche 🚪", "\\ufffe is no escape", '"\\\\"', "\t\r\n\x7f\ufffd\U0010ffff"], ids=ascii
)
def test_all_else_goes_as_it_is(text: str) -> None:
    assert Arrival.from_json(arrival(text).to_json()) == arrival(text)
