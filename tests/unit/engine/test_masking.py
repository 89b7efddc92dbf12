"""Secrets of a connection are found wherever they turn up."""

import base64
import json
from urllib.parse import quote

import pytest

from whenthen.engine.attempts import describe_answer, describe_request
from whenthen.engine.masking import MASK, masked, secrets_of
from whenthen.net import Answer, Request
from whenthen.services.connecting import Secret
from whenthen.services.contract import Fields


class Account(Fields):
    """A connection with two secrets."""

    user: str = "ada-lovelace"
    password: Secret = 'p"ss wörd/1'
    token: Secret = "tok-123456"
    pin: Secret = "1234"


SECRETS = secrets_of(Account())


@pytest.mark.parametrize("form", [str, quote, lambda text: json.dumps(text)[1:-1], lambda text: quote(text, safe="")])
def test_every_form_that_is_sent(form: object) -> None:
    text = form(Account().password)  # type: ignore[operator]
    assert masked(f"a{text}b", SECRETS) == f"a{MASK}b"


@pytest.mark.parametrize("user", ["a", "ad", "ada"])
@pytest.mark.parametrize("after", ["", ".", "..."])
def test_a_secret_in_base64_is_found_whatever_stands_around_it(user: str, after: str) -> None:
    """A target may repeat the header of Basic authentication."""
    pair = base64.b64encode(f"{user}:{Account().password}{after}".encode()).decode()
    shown = masked(f"Basic {pair}", SECRETS)
    assert MASK in shown
    # What is left is the user, what follows, and a character or two at each edge.
    assert len(shown) <= len("Basic ") + len(MASK) + 14


def test_what_is_no_secret_stays() -> None:
    assert masked("ada-lovelace 1234", SECRETS) == "ada-lovelace 1234"
    assert secrets_of(None) == ()
    assert masked({"n": 1, "x": [None, True, "tok-123456"]}, SECRETS) == {"n": 1, "x": [None, True, MASK]}


def test_a_request_and_its_echo() -> None:
    request = Request(
        "POST", "https://example.org/x/tok-123456?q=tok-123456", (("X-Plain", "tok-123456"),), b'{"t": "tok-123456"}'
    )
    answer = Answer(400, {"content-type": "tok-123456"}, b"bad token tok-123456", "https://example.org")
    shown = json.dumps([describe_request(request, SECRETS), describe_answer(answer, SECRETS)])
    assert "tok-123456" not in shown
    assert "bad token" in shown


def test_a_secret_at_the_edge_of_an_excerpt_is_not_shown_in_part() -> None:
    body = b"x" * 1020 + b"tok-123456"
    assert "tok" not in describe_request(Request("POST", "https://example.org", (), body), SECRETS)["body"]


def test_the_beginning_of_a_secret_where_a_text_was_cut() -> None:
    assert masked("It says: bad tok-12345… (x)", SECRETS) == f"It says: bad {MASK}… (x)"
    assert masked("It says: tok-1…", SECRETS) == "It says: tok-1…"
