"""Messages to an ntfy server, against a stand-in that checks them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.sink import Reply
from tests.support.vendor import Done, do, field_of, opened, prepared, try_account
from tests.unit.services.ntfy.stand_in import PASSWORD, TOKEN, USER, Ntfy, error
from whenthen.errors import FieldError
from whenthen.services.work import Meaning, Reading


@pytest.fixture(scope="module")
def server() -> Iterator[Ntfy]:
    with Ntfy() as running:
        yield running


@pytest.fixture
def ntfy(server: Ntfy) -> Ntfy:
    server.forget()
    return server


def publish(
    ntfy: Ntfy, account: Mapping[str, Any] | None = None, values: Mapping[str, str] | None = None, **fields: Any
) -> Done:
    work = prepared(
        "ntfy", "publish", {"topic": "door", "message": "m", **fields}, {"server": ntfy.url, **(account or {})}, values
    )
    return do(work, ntfy)


def test_a_message_with_everything(ntfy: Ntfy) -> None:
    done = publish(
        ntfy,
        title="Tür\n1",
        priority=5,
        tags=" warning ,, door",
        click="https://example.org/?q={{Value1}}",
        values={"Value1": "a b"},
    )
    assert done.succeeded
    assert ntfy.sent == {
        "topic": "door",
        "message": "m",
        "title": "Tür 1",
        "priority": 5,
        "tags": ["warning", "door"],
        "click": "https://example.org/?q=a%20b",
    }
    assert not done.work.repeatable


def test_without_a_connection_it_is_the_public_server() -> None:
    work = prepared("ntfy", "publish", {"topic": "door", "message": "m"})
    assert work.request.url == "https://ntfy.sh"
    assert "authorization" not in {name.lower() for name, _ in work.request.headers}


@pytest.mark.parametrize(
    ("account", "name"),
    [({}, "anybody"), ({"token": f" {TOKEN}\n"}, USER), ({"user": USER, "password": PASSWORD}, USER)],
)
def test_a_connection_that_works(ntfy: Ntfy, account: dict[str, str], name: str) -> None:
    assert try_account("ntfy", {"server": f"{ntfy.url}/", **account}, ntfy) == name
    done = publish(ntfy, account, topic="secret")
    assert done.succeeded == bool(account)
    assert TOKEN not in done.shown
    assert PASSWORD not in done.shown


def test_a_connection_that_does_not(ntfy: Ntfy) -> None:
    found = try_account("ntfy", {"server": ntfy.url, "token": "tk_other"}, ntfy)
    assert isinstance(found, Reading)
    assert found.meaning is Meaning.UNAUTHORIZED
    assert found.reason == "ntfy says that the access token, or the user name and password, are not valid (40101)."
    ntfy.reply("/v1/account", [Reply(body=b"<html>")])
    found = try_account("ntfy", {"server": ntfy.url}, ntfy)
    assert isinstance(found, Reading)
    assert "is not ntfy" in found.reason


@pytest.mark.parametrize(
    "account",
    [
        {"token": "a b"},
        {"token": "tk", "user": "u", "password": "p"},
        {"user": "u"},
        {"password": "p"},
        {"user": "a:b", "password": "p"},
        {"server": "ntfy.sh"},
        {"server": "https://ntfy.sh/?a=1"},
    ],
)
def test_a_connection_that_can_not_be_used(account: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        opened("ntfy", account)


@pytest.mark.parametrize("message", ["x" * 5000, "é" * 5000, '"\n' * 5000, "\x01" * 5000, "💥" * 5000])
def test_a_long_message_is_shortened(ntfy: Ntfy, message: str) -> None:
    """Longer than 4,096 bytes it would become a file, and its JSON longer than 8,192 would be refused."""
    done = publish(ntfy, message="{{Value1}}", title="“" * 600, values={"Value1": message})
    assert done.succeeded
    sent = ntfy.sent["message"]
    assert sent.endswith("…")
    assert message.startswith(sent[:-1])
    assert len(sent.encode()) > 1000


def test_the_longest_of_everything_fits(ntfy: Ntfy) -> None:
    click = "https://example.org/".ljust(2048, "x")
    values = {"Value1": '\\"' * 5000}
    assert publish(
        ntfy, message="{{Value1}}", title="{{Value1}}", tags="💥" * 512, click=click, topic="t" * 64, values=values
    ).succeeded
    assert len(ntfy.sent["message"]) > 100


@pytest.mark.parametrize(
    ("fields", "values", "field"),
    [
        ({"topic": "{{Value1}}"}, {"Value1": "a/b"}, "topic"),
        ({"topic": "{{Value1}}"}, {"Value1": "{{x}}"}, "topic"),
        ({"topic": "a b"}, {}, "topic"),
        ({"topic": ""}, {}, "topic"),
        ({"click": "javascript:alert(1)"}, {}, "click"),
        ({"click": "https://e.org/" + "x" * 2048}, {}, "click"),
        ({"message": "{{Value1}}"}, {"Value1": " "}, "message"),
        ({"priority": 6}, {}, "priority"),
    ],
)
def test_what_can_not_be_sent_is_named(ntfy: Ntfy, fields: dict[str, Any], values: dict[str, str], field: str) -> None:
    with pytest.raises((ValidationError, FieldError)) as refused:
        publish(ntfy, values=values, **fields)
    assert field_of(refused.value) == field


@pytest.mark.parametrize(
    ("reply", "meaning", "words"),
    [
        (error(429, 42901, "limit reached: too many requests"), Meaning.RETRY, "left alone"),
        (error(429, 42908, "limit reached: too many messages"), Meaning.RETRY, "for today are used up"),
        (error(403, 40301, "forbidden"), Meaning.FAILED, "may not write to the topic"),
        (error(400, 49999, "odd one"), Meaning.FAILED, "It says: odd one"),
        (Reply(status=502, body=b"<html>"), Meaning.RETRY, "502"),
        (Reply(body=b"<html>Log in"), Meaning.FAILED, "is not ntfy"),
        (Reply(status=302, headers=(("Location", "/login"),)), Meaning.FAILED, "404"),
    ],
)
def test_what_an_answer_means(ntfy: Ntfy, reply: Reply, meaning: Meaning, words: str) -> None:
    ntfy.reply("/", [reply])
    reading = publish(ntfy).reading
    assert reading.meaning is meaning
    assert words in reading.reason
