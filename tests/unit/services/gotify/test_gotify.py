"""Messages to a Gotify server, against a stand-in that checks them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.sink import Reply
from tests.support.vendor import Done, do, opened, prepared, try_account
from tests.unit.services.gotify.stand_in import TOKEN, Gotify, error
from whenthen.services.work import Meaning, Reading


@pytest.fixture(scope="module")
def server() -> Iterator[Gotify]:
    with Gotify() as running:
        yield running


@pytest.fixture
def gotify(server: Gotify) -> Gotify:
    server.forget()
    return server


def account(gotify: Gotify, token: str = TOKEN) -> dict[str, str]:
    return {"server": f"{gotify.url}/push/", "token": token}


def send(gotify: Gotify, values: Mapping[str, str] | None = None, token: str = TOKEN, **fields: Any) -> Done:
    work = prepared("gotify", "send_message", {"message": "m", **fields}, account(gotify, token), values)
    return do(work, gotify)


def test_a_message(gotify: Gotify) -> None:
    done = send(gotify, message="{{Value1}}", title="Tür", priority=8, values={"Value1": "*b* #1"})
    assert done.succeeded
    assert gotify.sent == {"message": "*b* #1", "title": "Tür", "priority": 8}
    assert not done.work.repeatable
    assert TOKEN not in done.shown


def test_ingredients_are_text_in_markdown(gotify: Gotify) -> None:
    assert send(gotify, message="**{{Value1}}**", markdown=True, values={"Value1": "a_b [x](y)"}).succeeded
    assert gotify.sent["message"] == r"**a\_b \[x\](y)**"
    assert gotify.sent["extras"] == {"client::display": {"contentType": "text/markdown"}}


def test_a_connection_is_tried_without_a_message(gotify: Gotify) -> None:
    """An application can read nothing; its token is good when only the message's text is missing."""
    assert try_account("gotify", account(gotify), gotify) == "127.0.0.1"
    assert gotify.sent == {}


@pytest.mark.parametrize(
    ("reply", "meaning", "words"),
    [
        (None, Meaning.UNAUTHORIZED, "valid access token"),
        (Reply(status=400, body=b"<html>"), Meaning.FAILED, "400"),
        (Reply(body=b"<html>"), Meaning.FAILED, "is not Gotify"),
        (Reply(body=b'{"id": 1}'), Meaning.FAILED, "is not Gotify"),
        (Reply(status=503), Meaning.RETRY, "503"),
    ],
)
def test_a_connection_that_does_not_work(gotify: Gotify, reply: Reply | None, meaning: Meaning, words: str) -> None:
    if reply:
        gotify.reply("/push/message", [reply])
    found = try_account("gotify", account(gotify, "Aother"), gotify)
    assert isinstance(found, Reading)
    assert found.meaning is meaning
    assert words in found.reason


@pytest.mark.parametrize(
    ("reply", "meaning", "words"),
    [
        (error(400, "odd one"), Meaning.FAILED, "It says: odd one"),
        (error(401, "no"), Meaning.UNAUTHORIZED, "credentials"),
        (Reply(body=b"[1]"), Meaning.FAILED, "is not Gotify"),
        (Reply(status=429, headers=(("Retry-After", "90"),)), Meaning.RETRY, "too many"),
    ],
)
def test_what_an_answer_means(gotify: Gotify, reply: Reply, meaning: Meaning, words: str) -> None:
    gotify.reply("/push/message", [reply])
    reading = send(gotify).reading
    assert reading.meaning is meaning
    assert words in reading.reason
    assert reading.retry_after_seconds == (90 if meaning is Meaning.RETRY else 0)


def test_long_texts_are_shortened(gotify: Gotify) -> None:
    assert send(gotify, message="{{Value1}}", title="{{Value1}}", values={"Value1": "x" * 100_000}).succeeded
    assert (len(gotify.sent["message"]), len(gotify.sent["title"])) == (16 * 1024, 250)


@pytest.mark.parametrize("change", [{"token": ""}, {"token": "a\nb"}, {"server": ""}, {"server": "push.example.org"}])
def test_a_connection_that_can_not_be_used(change: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as refused:
        opened("gotify", {"server": "https://push.example.org", "token": TOKEN, **change})
    assert refused.value.errors()[0]["loc"] == tuple(change)
