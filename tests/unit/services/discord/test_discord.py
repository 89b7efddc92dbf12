"""Messages to Discord, against a stand-in that checks them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.sink import Reply
from tests.support.vendor import Done, do, json_reply, opened, prepared, try_account
from tests.unit.services.discord.stand_in import PATH, TOKEN, Discord, error, too_long
from whenthen.errors import FieldError
from whenthen.services.work import Meaning, Reading


@pytest.fixture(scope="module")
def server() -> Iterator[Discord]:
    with Discord() as running:
        yield running


@pytest.fixture
def discord(server: Discord) -> Discord:
    server.forget()
    return server


def post(discord: Discord, values: Mapping[str, str] | None = None, path: str = PATH, **fields: Any) -> Done:
    account = {"webhook_url": f"{discord.url}{path}"}
    return do(prepared("discord", "post_message", fields, account, values), discord)


def test_a_text(discord: Discord) -> None:
    done = post(discord, content="**{{Value1}}**", username=" Lamp ", values={"Value1": "Tür"})
    assert done.succeeded
    assert discord.last.path == f"{PATH}?wait=true"
    assert discord.sent == {"content": "**Tür**", "username": "Lamp", "allowed_mentions": {"parse": []}}
    assert not done.work.repeatable
    assert TOKEN not in done.shown


def test_a_box(discord: Discord) -> None:
    assert post(
        discord,
        embed_title="{{Title}}",
        embed_description="{{Text}}",
        embed_url="{{Url}}",
        values={"Title": "a_b", "Text": "# x", "Url": "https://example.org/a_b?c=d"},
    ).succeeded
    assert discord.sent["embeds"] == [{"title": r"a\_b", "description": r"\# x", "url": "https://example.org/a_b?c=d"}]
    assert "content" not in discord.sent


def test_a_thread(discord: Discord) -> None:
    assert post(discord, content="m", path=f"{PATH}?thread_id=12").succeeded
    assert discord.last.path == f"{PATH}?thread_id=12&wait=true"


def test_an_ingredient_has_no_markup_and_calls_nobody(discord: Discord) -> None:
    """R9; E08: underscores arrive as they are."""
    text = "@everyone <@&1> [bank](https://evil.example) light.bedroom_lamp ||x||"
    assert post(discord, content="{{Value1}}", values={"Value1": text}).succeeded
    written = r"@everyone \<@&1\> \[bank\](https://evil.example%29 light.bedroom\_lamp \|\|x\|\|"
    assert discord.sent["content"] == written.replace("@&", r"@\&")
    assert discord.sent["allowed_mentions"] == {"parse": []}


@pytest.mark.parametrize("sign", ["x", "_", "💥", "\n- "])
def test_long_texts_are_shortened(discord: Discord, sign: str) -> None:
    names = ("content", "username", "embed_title", "embed_description")
    done = post(discord, values={"Value1": sign * 9000}, **dict.fromkeys(names, "a{{Value1}}"))
    assert done.succeeded
    assert discord.sent["content"].endswith("…")
    assert len(discord.sent["content"]) > 900


@pytest.mark.parametrize(
    ("fields", "values", "words"),
    [
        ({}, {}, "content must not be empty"),
        ({"embed_url": "https://example.org"}, {}, "content must not be empty"),
        ({"content": "{{Value1}}"}, {"Value1": " "}, "content must not be empty"),
        ({"content": "m", "embed_title": "t", "embed_url": "/x"}, {}, "embed_url"),
        ({"content": "m", "embed_title": "t", "embed_url": "{{Value1}}"}, {"Value1": "x"}, "embed_url"),
        ({"content": "m", "embed_title": "t", "embed_url": "https://e.org/" + "x" * 2048}, {}, "embed_url"),
    ],
)
def test_what_can_not_be_posted_is_named(
    discord: Discord, fields: dict[str, str], values: dict[str, str], words: str
) -> None:
    with pytest.raises((ValidationError, FieldError), match=words):
        post(discord, values, **fields)


@pytest.mark.parametrize(
    ("reply", "meaning", "seconds", "words"),
    [
        (error(429, 20028, "limited", retry_after=64.57), Meaning.RETRY, 64.57, "left alone"),
        (json_reply({"message": "You are being rate limited.", "retry_after": 1.5, "global": True}, 429),
         Meaning.RETRY, 1.5, "You are being rate limited."),
        (json_reply({"retry_after": 1.5}, 429, ("Retry-After", "30")), Meaning.RETRY, 30, "429"),
        (json_reply({"retry_after": "soon"}, 429), Meaning.RETRY, 0, "429"),
        (Reply(429, (("Retry-After", "30"),), b"<html>"), Meaning.RETRY, 30, "429"),
        (error(404, 10015, "Unknown Webhook"), Meaning.UNAUTHORIZED, 0, "Discord says that the webhook was deleted"),
        (error(401, 50027, "Invalid Webhook Token"), Meaning.UNAUTHORIZED, 0, "not valid (50027)"),
        (error(400, 50006, "Cannot send an empty message"), Meaning.FAILED, 0, "empty"),
        (too_long("embeds", "0", "title"), Meaning.FAILED, 0, "embeds.0.title: Must be of another length."),
        (error(400, 50035, "Invalid Form Body", errors=[]), Meaning.FAILED, 0, "Invalid Form Body"),
        (error(400, 220001, "forum"), Meaning.FAILED, 0, "?thread_id="),
        (error(403, 99, "Odd one"), Meaning.FAILED, 0, "Odd one"),
        (Reply(502), Meaning.RETRY, 0, "502"),
        (Reply(body=b"<html>"), Meaning.FAILED, 0, "is not Discord"),
    ],
)  # fmt: skip
def test_what_an_answer_means(discord: Discord, reply: Reply, meaning: Meaning, seconds: float, words: str) -> None:
    discord.reply(PATH, [reply])
    done = post(discord, content="m")
    assert done.reading.meaning is meaning
    assert done.reading.retry_after_seconds == seconds
    assert words in done.reading.reason
    assert TOKEN not in done.shown


def test_the_webhook_itself_is_no_message(discord: Discord) -> None:
    """Given a redirect that made a GET of the POST, then nothing was posted (F20)."""
    discord.reply(PATH, [json_reply({"id": "223704706495545344", "type": 1, "name": "Captain Hook"})])
    assert not post(discord, content="Hello").succeeded


def test_a_connection(discord: Discord) -> None:
    assert try_account("discord", {"webhook_url": f"{discord.url}{PATH}?thread_id=1"}, discord) == "Captain Hook"
    assert (discord.last.method, discord.last.path) == ("GET", PATH)
    for path in (f"{PATH}x", "/api/v10/webhooks/1/x"):
        found = try_account("discord", {"webhook_url": f"{discord.url}{path}"}, discord)
        assert isinstance(found, Reading)
        assert found.meaning is Meaning.UNAUTHORIZED


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://discord.com/api/webhooks/1",
        "https://hooks.slack.com/services/T/B/x",
        "discord.com/api/webhooks/1/x",
        "https://discord.com/api/webhooks/1/x#here",
    ],
)
def test_a_connection_that_can_not_be_used(url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        opened("discord", {"webhook_url": url})
    assert refused.value.errors()[0]["loc"] == ("webhook_url",)
