"""Posts to Mastodon, against a stand-in that checks them."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from pydantic import ValidationError

from tests.support.sink import Reply
from tests.support.vendor import Done, do, json_reply, opened, prepared, try_account
from tests.unit.services.mastodon.stand_in import READER, TOKEN, Mastodon, error
from whenthen.services.registry import SERVICES
from whenthen.services.work import Meaning, Reading

NOW = datetime(2026, 11, 29, 18, tzinfo=UTC)


@pytest.fixture(scope="module")
def server() -> Iterator[Mastodon]:
    with Mastodon() as running:
        yield running


@pytest.fixture
def mastodon(server: Mastodon) -> Mastodon:
    server.forget()
    return server


def post(mastodon: Mastodon, values: Mapping[str, str] | None = None, token: str = TOKEN, **fields: Any) -> Done:
    account = {"server": f"{mastodon.url}/", "token": token, "max_characters": fields.pop("longest", 500)}
    return do(prepared("mastodon", "post_status", {"status": "m", **fields}, account, values), mastodon)


def test_a_post(mastodon: Mastodon) -> None:
    assert post(mastodon).succeeded
    assert mastodon.sent == {"status": "m"}
    done = post(
        mastodon,
        status="{{Value1}} #tür",
        spoiler_text=" {{Value1}} ",
        visibility="unlisted",
        sensitive=True,
        language="de",
        values={"Value1": "a <b> & c_d"},
    )
    assert done.succeeded
    assert mastodon.sent == {
        "status": "a <b> & c_d #tür",
        "spoiler_text": "a <b> & c_d",
        "visibility": "unlisted",
        "sensitive": True,
        "language": "de",
    }
    assert TOKEN not in done.shown


def test_a_repeated_post_is_one(mastodon: Mastodon) -> None:
    """The key is the same for every try. Mastodon keeps it for an hour and tries go on for longer: not repeatable."""
    for _ in range(2):
        done = post(mastodon)
        assert done.succeeded
        assert not done.work.repeatable
    assert [request.key for request in mastodon.requests] == ["key-1", "key-1"]
    assert len(mastodon.posted) == 1


def test_an_ingredient_notifies_nobody_and_the_owner_does(mastodon: Mastodon) -> None:
    values = {"Value1": "@eve@evil.example says hi to @bob", "Value2": "@", "Value3": "mallory"}
    assert post(
        mastodon, status="@ada {{Value1}} {{Value2}}{{Value3}}", spoiler_text="{{Value1}}", values=values
    ).succeeded
    assert mastodon.notified == ["ada"]
    assert mastodon.sent["status"].replace("\u200b", "") == "@ada @eve@evil.example says hi to @bob @mallory"


@pytest.mark.parametrize(
    ("status", "warning", "is_whole"),
    [
        ("x" * 500, "", True),
        ("x" * 501, "", False),
        ("x" * 476 + " https://example.org/" + "y" * 300, "", True),
        ("x" * 477 + " https://example.org/" + "y" * 300, "", False),
        ("x" * 400, "w" * 100, True),
        ("x" * 400, "w" * 101, False),
        ("x" * 400, "w" * 900, False),
    ],
)
def test_a_long_post_is_shortened(mastodon: Mastodon, status: str, warning: str, is_whole: bool) -> None:
    """As Mastodon counts: a link is 23 characters, and the warning counts."""
    values = {"Value1": status, "Value2": warning}
    assert post(mastodon, status="{{Value1}}", spoiler_text="{{Value2}}", values=values).succeeded
    assert (mastodon.sent["status"] == status) == is_whole
    assert mastodon.sent["status"].endswith("…") != is_whole


def test_a_server_that_allows_more(mastodon: Mastodon) -> None:
    mastodon.reply("/api/v1/statuses", [json_reply({"id": "1"})])
    assert post(mastodon, status="{{Value1}}", values={"Value1": "x" * 9000}, longest=5000).succeeded
    assert len(mastodon.sent["status"]) == 5000


@pytest.mark.parametrize(
    ("reply", "meaning", "seconds", "words"),
    [
        (error(422, "Validation failed: Text can't be blank"), Meaning.FAILED, 0, "Text can't be blank"),
        (error(401, "The access token was revoked"), Meaning.UNAUTHORIZED, 0, "credentials"),
        (error(403, "This action is outside the authorized scopes"), Meaning.UNAUTHORIZED, 0, "access token"),
        (error(422, "This method requires an authenticated user"), Meaning.UNAUTHORIZED, 0, "access token"),
        (error(403, "Your login is currently disabled"), Meaning.FAILED, 0, "currently disabled"),
        (error(429, "Too many requests", ("X-RateLimit-Reset", "2026-11-29T18:05:00.123456Z")),
         Meaning.RETRY, 300.123456, "429"),
        (error(429, "Too many requests", ("X-RateLimit-Reset", "2026-11-29T17:00:00Z")), Meaning.RETRY, 0, "429"),
        (error(429, "Too many requests", ("X-RateLimit-Reset", "soon")), Meaning.RETRY, 0, "429"),
        (error(429, "Too many requests", ("Retry-After", "60")), Meaning.RETRY, 60, "429"),
        (error(503, "There was a temporary problem", ("X-RateLimit-Reset", "2026-11-29T21:00:00Z")),
         Meaning.RETRY, 0, "temporary problem"),
        (Reply(body=b"<html>Log in"), Meaning.FAILED, 0, "is not Mastodon"),
        (json_reply([]), Meaning.FAILED, 0, "is not Mastodon"),
    ],
)  # fmt: skip
def test_what_an_answer_means(mastodon: Mastodon, reply: Reply, meaning: Meaning, seconds: float, words: str) -> None:
    mastodon.reply("/api/v1/statuses", [reply])
    with time_machine.travel(NOW, tick=False):
        reading = post(mastodon).reading
    assert reading.meaning is meaning
    assert reading.retry_after_seconds == pytest.approx(seconds)
    assert words in reading.reason


def test_a_connection(mastodon: Mastodon) -> None:
    account = {"server": mastodon.url, "token": TOKEN}
    assert try_account("mastodon", account, mastodon) == "@ada@127.0.0.1"
    found = try_account("mastodon", {**account, "token": "other"}, mastodon)
    assert isinstance(found, Reading)
    assert found.meaning is Meaning.UNAUTHORIZED
    assert post(mastodon, token=READER).reading.meaning is Meaning.UNAUTHORIZED


def test_a_token_by_logging_in() -> None:
    connection = SERVICES["mastodon"].connection
    assert connection is not None
    assert connection.oauth is not None
    account = opened("mastodon", {"server": "https://social.example/", "client_id": "c", "client_secret": "s"})
    assert connection.oauth.authorize_url(account) == "https://social.example/oauth/authorize"
    assert connection.oauth.token_url(account) == "https://social.example/oauth/token"
    assert connection.oauth.scope == "read:accounts write:statuses"


@pytest.mark.parametrize("change", [{"token": ""}, {"server": "@ada@social.example"}, {"max_characters": 10}])
def test_a_connection_that_can_not_be_used(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        opened("mastodon", {"server": "https://social.example", "token": TOKEN, **change})


@pytest.mark.parametrize("fields", [{"visibility": "all"}, {"language": "English"}, {"status": " "}])
def test_what_can_not_be_posted_is_named(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as refused:
        prepared("mastodon", "post_status", {"status": "m", **fields}, {"server": "https://e.org", "token": TOKEN})
    assert refused.value.errors()[0]["loc"] == tuple(fields)
