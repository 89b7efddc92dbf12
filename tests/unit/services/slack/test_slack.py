"""Messages to Slack, against a stand-in that checks them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.sink import Reply
from tests.support.vendor import Done, do, json_reply, opened, prepared, try_account
from tests.unit.services.slack.stand_in import HOOK, TOKEN, Slack, refusal, word
from whenthen.errors import FieldError
from whenthen.services.registry import SERVICES
from whenthen.services.work import Meaning, Reading

API = "https://slack.com"


@pytest.fixture(scope="module")
def workspace() -> Iterator[Slack]:
    with Slack() as running:
        yield running


@pytest.fixture
def slack(workspace: Slack) -> Slack:
    workspace.forget()
    return workspace


def post(slack: Slack, values: Mapping[str, str] | None = None, token: str = TOKEN, **fields: Any) -> Done:
    """Post as a bot."""
    fields = {"channel": "C0123456789", "text": "m", **fields}
    return do(prepared("slack", "post_message", fields, {"token": token}, values), slack, instead_of=API)


def hook(slack: Slack, values: Mapping[str, str] | None = None, path: str = HOOK, **fields: Any) -> Done:
    """Post to the webhook."""
    account = {"webhook_url": f"{slack.url}{path}"}
    return do(prepared("slack", "post_to_webhook", {"text": "m", **fields}, account, values), slack)


def test_a_message_of_a_bot(slack: Slack) -> None:
    done = post(slack, text="*{{Value1}}*", channel=" #general ", values={"Value1": "Tür"})
    assert done.succeeded
    assert slack.sent == {"channel": "#general", "text": "*Tür*"}
    assert not done.work.repeatable
    assert TOKEN not in done.shown


def test_a_message_to_a_webhook(slack: Slack) -> None:
    done = hook(slack, text="<https://example.org|{{Value1}}>", values={"Value1": "a > b"})
    assert done.succeeded
    assert slack.sent == {"text": "<https://example.org|a &gt; b>"}
    assert not done.work.repeatable
    assert HOOK.rpartition("/")[2] not in done.shown


def test_an_ingredient_calls_nobody(slack: Slack) -> None:
    """R9: what an owner writes is markup, what comes from outside is text."""
    post(slack, text="<!here> {{Value1}}", values={"Value1": "<!channel> <@U1> <https://evil.example|bank> &amp;"})
    text = "<!here> &lt;!channel&gt; &lt;@U1&gt; &lt;https://evil.example|bank&gt; &amp;amp;"
    assert slack.sent["text"] == text


@pytest.mark.parametrize(
    ("code", "meaning", "words"),
    [
        ("channel_not_found", Meaning.FAILED, "Slack says that the channel does not exist, or the bot is not in it ("),
        ("not_in_channel", Meaning.FAILED, "invite it"),
        ("missing_scope", Meaning.FAILED, "chat:write"),
        ("internal_error", Meaning.FAILED, "look whether the message is there"),
        ("quite_new", Meaning.FAILED, "Slack says: quite_new."),
        *[
            (code, Meaning.UNAUTHORIZED, code)
            for code in ("invalid_auth", "not_authed", "token_expired", "token_revoked", "account_inactive")
        ],
        *[(code, Meaning.RETRY, code) for code in ("ratelimited", "rate_limited", "service_unavailable")],
    ],
)
def test_a_failure_with_status_200_is_a_failure(slack: Slack, code: str, meaning: Meaning, words: str) -> None:
    """F20: `ok` decides, not the status."""
    slack.reply("/api/chat.postMessage", [refusal(code)])
    reading = post(slack).reading
    assert reading.meaning is meaning
    assert words in reading.reason


@pytest.mark.parametrize(
    ("reply", "meaning", "seconds"),
    [
        (json_reply({"ok": False, "error": "ratelimited"}, 429, ("Retry-After", "30")), Meaning.RETRY, 30),
        (Reply(status=429, headers=(("Retry-After", "30"),)), Meaning.RETRY, 30),
        (json_reply({"ok": False, "error": "ratelimited"}, 200, ("Retry-After", "30")), Meaning.RETRY, 30),
        (Reply(status=503, body=b"<html>"), Meaning.RETRY, 0),
        (json_reply({"ok": False, "error": "quite_new"}, 500), Meaning.RETRY, 0),
        (json_reply({"ok": False, "error": "fatal_error"}, 500), Meaning.FAILED, 0),
        (json_reply({"ok": False, "error": "quite_new"}, 401), Meaning.UNAUTHORIZED, 0),
        (Reply(status=404), Meaning.FAILED, 0),
        (Reply(body=b"<html>"), Meaning.FAILED, 0),
        (json_reply({"ok": "true"}), Meaning.FAILED, 0),
        (json_reply([]), Meaning.FAILED, 0),
    ],
)
def test_what_an_answer_of_the_api_means(slack: Slack, reply: Reply, meaning: Meaning, seconds: float) -> None:
    slack.reply("/api/chat.postMessage", [reply])
    reading = post(slack).reading
    assert reading.meaning is meaning
    assert reading.reason
    assert reading.retry_after_seconds == seconds


@pytest.mark.parametrize(
    ("reply", "meaning", "words"),
    [
        (word(400, "invalid_payload"), Meaning.FAILED, "make sense"),
        (word(403, "action_prohibited"), Meaning.FAILED, "administrator"),
        (word(403, "invalid_token"), Meaning.UNAUTHORIZED, "not valid"),
        (word(404, "no_service"), Meaning.UNAUTHORIZED, "removed or turned off"),
        (word(404, "channel_not_found"), Meaning.FAILED, "does not exist"),
        (word(410, "channel_is_archived"), Meaning.FAILED, "archived"),
        (word(429, "rate_limited"), Meaning.RETRY, "left alone"),
        (word(500, "rollup_error"), Meaning.RETRY, "rollup_error"),
        (word(418, "quite_new"), Meaning.FAILED, "It says: quite_new"),
        (word(200, "<html>"), Meaning.FAILED, "is not Slack"),
    ],
)
def test_what_an_answer_of_a_webhook_means(slack: Slack, reply: Reply, meaning: Meaning, words: str) -> None:
    slack.reply(HOOK, [reply])
    done = hook(slack)
    assert done.reading.meaning is meaning
    assert words in done.reading.reason
    assert HOOK not in done.shown


@pytest.mark.parametrize("ending", ["&amp;", "<https://example.org/|x>", "", "💥"])
def test_a_long_message_is_shortened_and_cuts_nothing_in_half(slack: Slack, ending: str) -> None:
    for length in range(3990, 4001):
        assert post(slack, text="x" * length + ending * 3).succeeded
        text = slack.sent["text"]
        assert len(text) <= 4000
        rest = text.removesuffix("…").lstrip("x")
        assert rest in (ending * 3, ending * 2, ending, "", "\ud83d")


def test_a_connection_that_works(slack: Slack) -> None:
    assert try_account("slack", {"token": TOKEN}, slack, instead_of=API) == "lamp in Harbour"
    assert try_account("slack", {"webhook_url": f"{slack.url}{HOOK}"}, slack) == "an incoming webhook"
    assert slack.sent == {"text": ""}, "nothing is posted"


def test_a_connection_that_does_not(slack: Slack) -> None:
    accounts = [
        ({"token": "xoxb-other"}, API),
        ({"webhook_url": f"{slack.url}/services/T0/B0/other"}, ""),
        ({"client_id": "1.2", "client_secret": "s"}, API),
    ]
    for account, instead_of in accounts:
        found = try_account("slack", account, slack, instead_of=instead_of)
        assert isinstance(found, Reading)
        assert found.meaning is Meaning.UNAUTHORIZED


@pytest.mark.parametrize(
    "account",
    [
        {},
        {"token": TOKEN, "webhook_url": "https://hooks.slack.com/services/T0/B0/x"},
        {"webhook_url": "hooks.slack.com/services/T0/B0/x"},
        {"token": "xoxb 1"},
    ],
)
def test_a_connection_that_can_not_be_used(account: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        opened("slack", account)


def test_each_action_wants_its_own_kind_of_connection() -> None:
    with pytest.raises(FieldError, match="connection: has no bot token"):
        prepared("slack", "post_message", {"channel": "C0", "text": "m"}, {"webhook_url": "https://hooks.slack.com/x"})
    with pytest.raises(FieldError, match="connection: has no webhook URL"):
        prepared("slack", "post_to_webhook", {"text": "m"}, {"token": TOKEN})


def test_a_bot_token_by_logging_in() -> None:
    connection = SERVICES["slack"].connection
    assert connection is not None
    assert connection.oauth is not None
    account = opened("slack", {"client_id": "1.2", "client_secret": "s"})
    assert connection.oauth.authorize_url(account) == "https://slack.com/oauth/v2/authorize"
    assert connection.oauth.token_url(account) == "https://slack.com/api/oauth.v2.access"
    assert connection.oauth.scope == "chat:write"
