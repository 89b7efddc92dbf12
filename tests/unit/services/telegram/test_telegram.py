"""Messages to Telegram, against a stand-in that checks them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.sink import Reply
from tests.support.vendor import Done, do, field_of, json_reply, opened, prepared, try_account
from tests.unit.services.telegram.stand_in import CHAT, TOKEN, Telegram, error, seen
from whenthen.errors import FieldError
from whenthen.services.work import Meaning, Reading


@pytest.fixture(scope="module")
def server() -> Iterator[Telegram]:
    with Telegram() as running:
        yield running


@pytest.fixture
def telegram(server: Telegram) -> Telegram:
    server.forget()
    return server


def send(telegram: Telegram, values: Mapping[str, str] | None = None, **fields: Any) -> Done:
    return _do(telegram, "send_message", {"chat_id": CHAT, "text": "m", **fields}, values)


def photo(telegram: Telegram, values: Mapping[str, str] | None = None, **fields: Any) -> Done:
    return _do(telegram, "send_photo", {"chat_id": CHAT, "photo": "https://example.org/a.jpg", **fields}, values)


def _do(telegram: Telegram, action: str, fields: dict[str, Any], values: Mapping[str, str] | None) -> Done:
    account = {"token": f"{TOKEN}\n", "server": telegram.url}
    return do(prepared("telegram", action, fields, account, values), telegram)


@pytest.mark.parametrize(
    "text",
    [
        "light.bedroom_lamp",
        "room #1",
        "a < b && c > d",
        "<b>no</b> *no* [no](x)",
        "&lt;",
        "\"quoted\" 'so'",
        "<br>",
        "{{x}}",
    ],
)
@pytest.mark.parametrize("formatting", ["html", "plain"])
def test_an_ingredient_arrives_as_it_is(telegram: Telegram, text: str, formatting: str) -> None:
    """E08, E10, R9."""
    done = send(telegram, text="{{Value1}}", formatting=formatting, values={"Value1": text})
    assert done.succeeded
    assert seen(telegram.sent["text"], telegram.sent.get("parse_mode")) == text
    assert ("parse_mode" in telegram.sent) == (formatting == "html")


def test_a_message(telegram: Telegram) -> None:
    done = send(telegram, text="<b>{{Value1}}</b> 1 < 2", link_preview=False, values={"Value1": "a&b"})
    assert done.succeeded
    assert telegram.sent == {
        "chat_id": CHAT,
        "text": "<b>a&amp;b</b> 1 &lt; 2",
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }
    assert not done.work.repeatable
    assert TOKEN not in done.shown


def test_a_chats_number_keeps_its_digits(telegram: Telegram) -> None:
    """D09: it is more than a float can hold, and stays a text."""
    assert send(telegram, chat_id="{{Value1}}", values={"Value1": CHAT}).succeeded
    assert telegram.sent["chat_id"] == CHAT == "-1009007199254740993"


def test_a_photo(telegram: Telegram) -> None:
    done = photo(
        telegram, caption="<i>{{Value1}}</i>", photo="{{Url}}", values={"Value1": "<", "Url": "https://e.org/a b"}
    )
    assert done.succeeded
    assert telegram.sent["photo"] == "https://e.org/a%20b"
    assert telegram.sent["caption"] == "<i>&lt;</i>"
    assert telegram.last.path.endswith("/sendPhoto")


@pytest.mark.parametrize("sign", ["x", "💥", "<", "&", "é\n"])
@pytest.mark.parametrize("formatting", ["html", "plain"])
def test_long_texts_are_shortened(telegram: Telegram, sign: str, formatting: str) -> None:
    values = {"Value1": sign * 9000}
    for done in (
        send(telegram, text="<b>{{Value1}}</b>", formatting=formatting, values=values),
        photo(telegram, caption="<b>{{Value1}}</b>", formatting=formatting, values=values),
    ):
        assert done.succeeded
        assert done.work.request.body is not None
        assert "…".encode() in done.work.request.body


@pytest.mark.parametrize(
    ("fields", "values", "field"),
    [
        ({"chat_id": "news"}, {}, "chat_id"),
        ({"chat_id": "12.5"}, {}, "chat_id"),
        ({"chat_id": ""}, {}, "chat_id"),
        ({"chat_id": "{{Value1}}"}, {"Value1": "{{x}}"}, "chat_id"),
        ({"text": "{{Value1}}"}, {"Value1": ""}, "text"),
        ({"photo": "{{Value1}}"}, {"Value1": "file:///etc/passwd"}, "photo"),
        ({"photo": "AgACAgIAAx0"}, {}, "photo"),
    ],
)
def test_what_can_not_be_sent_is_named(
    telegram: Telegram, fields: dict[str, str], values: dict[str, str], field: str
) -> None:
    with pytest.raises((ValidationError, FieldError)) as refused:
        (photo if "photo" in fields else send)(telegram, values, **fields)
    assert field_of(refused.value) == field


@pytest.mark.parametrize(
    ("reply", "meaning", "seconds", "words"),
    [
        (error(429, "Too Many Requests: retry after 5", retry_after=5), Meaning.RETRY, 5, "429"),
        (json_reply({"ok": False, "parameters": {"retry_after": True}}, 429), Meaning.RETRY, 0, "429"),
        (json_reply({"ok": False, "parameters": []}, 429, ("Retry-After", "7")), Meaning.RETRY, 7, "429"),
        (error(401, "Unauthorized"), Meaning.UNAUTHORIZED, 0, "bot token is not valid"),
        (error(404, "Not Found"), Meaning.UNAUTHORIZED, 0, "bot token is not valid"),
        (Reply(404, body=b"<html>"), Meaning.FAILED, 0, "404"),
        (error(400, "Bad Request: chat not found"), Meaning.FAILED, 0, "Telegram says that the chat does not exist"),
        (error(403, "Forbidden: bot was blocked by the user"), Meaning.FAILED, 0, "has blocked the bot"),
        (error(403, "Forbidden: bot was kicked from the group chat"), Meaning.FAILED, 0, "was removed"),
        (error(400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=-1001234567890),
         Meaning.FAILED, 0, "new chat ID, -1001234567890"),
        (error(400, "Bad Request: failed to get HTTP URL content"), Meaning.FAILED, 0, "could not get the photo"),
        (error(400, "Bad Request: odd one"), Meaning.FAILED, 0, "It says: Bad Request: odd one"),
        (error(500, "Internal Server Error"), Meaning.RETRY, 0, "500"),
        (json_reply({"ok": False, "description": "odd"}), Meaning.FAILED, 0, "is not Telegram"),
        (Reply(body=b"<html>"), Meaning.FAILED, 0, "is not Telegram"),
    ],
)  # fmt: skip
def test_what_an_answer_means(telegram: Telegram, reply: Reply, meaning: Meaning, seconds: float, words: str) -> None:
    telegram.reply(f"/bot{TOKEN}/sendMessage", [reply])
    done = send(telegram)
    assert done.reading.meaning is meaning
    assert done.reading.retry_after_seconds == seconds
    assert words in done.reading.reason
    assert TOKEN not in done.shown


def test_a_connection(telegram: Telegram) -> None:
    assert try_account("telegram", {"token": TOKEN, "server": f"{telegram.url}/"}, telegram) == "@lamp_bot"
    for token in (f"{TOKEN}x", f"9{TOKEN}"):
        found = try_account("telegram", {"token": token, "server": telegram.url}, telegram)
        assert isinstance(found, Reading)
        assert found.meaning is Meaning.UNAUTHORIZED
    telegram.reply(f"/bot{TOKEN}/getMe", [json_reply({"ok": True, "result": []})])
    assert isinstance(try_account("telegram", {"token": TOKEN, "server": telegram.url}, telegram), Reading)


@pytest.mark.parametrize(
    "token", ["", "123456", "bot123456:ABC-DEF1234ghIkl-zyx57W2v", "123456:ABC-DEF/../getMe?x=1234"]
)
def test_a_connection_that_can_not_be_used(token: str) -> None:
    with pytest.raises(ValidationError) as refused:
        opened("telegram", {"token": token})
    assert refused.value.errors()[0]["loc"] == ("token",)
    assert prepared("telegram", "send_message", {"chat_id": "1", "text": "m"}, {"token": TOKEN}).request.url.startswith(
        "https://api.telegram.org/bot"
    )
