"""An arrival on its way through the intake queue."""

import json
from dataclasses import replace

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


def test_one_that_came_through_a_connection() -> None:
    sent = replace(arrival("a"), key_hash="", connection="0" * 32)
    assert Arrival.from_json(sent.to_json()) == sent


def test_one_that_waited_while_whenthen_was_updated_is_read() -> None:
    document = json.loads(arrival("a").to_json())
    del document["connection"]
    assert Arrival.from_json(json.dumps(document)) == arrival("a")


@pytest.mark.parametrize("name", ["key_hash", "unique", "connection"])
def test_names_are_texts(name: str) -> None:
    document = json.loads(arrival("a").to_json()) | {name: 7}
    with pytest.raises(ValueError, match=name):
        Arrival.from_json(json.dumps(document))
