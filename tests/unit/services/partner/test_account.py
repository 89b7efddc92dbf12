"""Partners with a connection: its key or token in every request, actions, queries, and what answers mean."""

import json
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.checking import Checks
from tests.support.sink import Recorded, Reply, Sink
from tests.unit.services.partner.stand_in import KEY, Partner, event
from whenthen.net import Answer, GuardedClient
from whenthen.services.checking import CheckFailed, Refused
from whenthen.services.partner.actions import run_action
from whenthen.services.partner.connection import CONNECTION, PartnerAccount
from whenthen.services.partner.fields import RunActionFields, RunQueryFields
from whenthen.services.partner.queries import run_query
from whenthen.services.partner.readings import read_action, read_rows
from whenthen.services.work import Meaning, Reading, Task

TOKEN = "person-token"


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink() as running:
        yield running


@pytest.fixture
def partner(sink: Sink) -> Partner:
    sink.requests.clear()
    return Partner(sink)


def account(partner: Partner, **fields: Any) -> PartnerAccount:
    return PartnerAccount.model_validate({"url": partner.sink.url, **fields})


def send(request: Any) -> Answer:
    return GuardedClient(allowed_networks=[ip_network("127.0.0.0/8")], timeout_seconds=5).send(request)


def check(partner: Partner, account: PartnerAccount, **fields: Any) -> Any:
    return Checks("partner", "event", {"trigger": "new_photo", **fields}, account=account).check()


def of_the_protocol(request: Recorded, **credentials: str) -> dict[str, Any]:
    """The body of a request that has what the protocol asks for (PROTOCOLS.md B.2)."""
    assert request.method == "POST"
    assert request.headers["content-type"] == request.headers["accept"] == "application/json"
    assert len(request.headers["x-request-id"]) == 32
    known = ("authorization", "ifttt-service-key", "ifttt-channel-key")
    assert {name: value for name, value in request.headers.items() if name in known} == credentials
    body: dict[str, Any] = json.loads(request.body)
    return body


def test_a_check_uses_the_connections_key_or_the_persons_token(partner: Partner) -> None:
    partner.show(event("a"))
    keys = {"ifttt-service-key": KEY, "ifttt-channel-key": KEY}
    check(partner, account(partner, service_key=KEY))
    of_the_protocol(partner.last(), **keys)
    check(partner, account(partner, service_key=KEY, token=TOKEN))
    of_the_protocol(partner.last(), authorization=f"Bearer {TOKEN}")


def test_the_connections_secrets_go_to_its_own_address_alone(partner: Partner) -> None:
    with Sink() as other, pytest.raises(CheckFailed) as failed:
        check(partner, account(partner, service_key=KEY), url=other.url)
    assert (failed.value.field, other.requests) == ("url", [])
    with pytest.raises(CheckFailed) as failed:
        check(partner, account(partner, token=TOKEN), service_key="x")
    assert failed.value.field == "service_key"
    with pytest.raises(CheckFailed) as failed:
        Checks("partner", "event", {"trigger": "new_photo"}).check()
    assert failed.value.field == "url"


def test_a_refusal_of_the_connection_is_told_as_such(partner: Partner) -> None:
    partner.reply(Reply(status=401, body=json.dumps({"errors": [{"message": f"no {TOKEN}"}]}).encode()))
    with pytest.raises(Refused, match="token was refused: no •••"):
        check(partner, account(partner, token=TOKEN))


def task(fields: Any, account: PartnerAccount) -> Any:
    return Task(fields, "key", account=account, zone="Asia/Tokyo")


def test_an_action_is_the_protocols(partner: Partner) -> None:
    fields = RunActionFields(action="new_note", action_fields={"title": 'a "quote"\n'})
    work = run_action(task(fields, account(partner, token=TOKEN)))
    assert work.request == run_action(task(fields, account(partner, token=TOKEN))).request
    send(work.request)
    assert partner.last().path == "/ifttt/v1/actions/new_note"
    assert of_the_protocol(partner.last(), authorization=f"Bearer {TOKEN}") == {
        "actionFields": {"title": 'a "quote"\n'},
        "user": {"timezone": "Asia/Tokyo"},
    }
    assert not work.repeatable


def test_a_query_is_the_protocols(partner: Partner) -> None:
    partner.sink.reply("/ifttt/v1/queries/notes", [Reply(body=b'{"data": [{"title": "x", "n": 1.50, "of": [true]}]}')])
    fields = RunQueryFields(query="notes", query_fields={"tag": "a"}, limit=3)
    asked = run_query(task(fields, account(partner, service_key=KEY)))
    assert asked.read(send(asked.request)) == [
        {"title": "x", "n": "1.50", "of": "[true]", "RowJson": '{"title": "x", "n": 1.50, "of": [true]}'}
    ]
    keys = {"ifttt-service-key": KEY, "ifttt-channel-key": KEY}
    assert of_the_protocol(partner.last(), **keys) == {
        "queryFields": {"tag": "a"},
        "limit": 3,
        "user": {"timezone": "Asia/Tokyo"},
    }


def said(status: int, body: Any, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, headers or {}, json.dumps(body).encode(), "http://x")


def error(message: str, **members: str) -> Any:
    return {"errors": [{"message": message, **members}]}


ACCESS = PartnerAccount(url="http://x", service_key=KEY, token=TOKEN).access()


@pytest.mark.parametrize(
    ("answer", "meaning", "words"),
    [
        (said(200, {"data": [{"id": "1"}]}), Meaning.SUCCEEDED, ""),
        (said(200, error("sorry")), Meaning.FAILED, "sorry"),
        (said(200, "ok"), Meaning.SUCCEEDED, ""),
        (said(400, error("not for you", status="SKIP")), Meaning.SKIPPED, "not for you"),
        (said(400, error("later", status="SKIP") | {"x": 1}), Meaning.SKIPPED, "later"),
        (said(400, error("bad field")), Meaning.FAILED, "bad field"),
        (said(400, {"errors": "x"}), Meaning.FAILED, "400"),
        (said(400, {"errors": [7]}), Meaning.FAILED, "400"),
        (said(401, error(f"{KEY} {TOKEN}")), Meaning.UNAUTHORIZED, "••• •••"),
        (said(404, {}), Meaning.FAILED, "404"),
        (said(429, {}, {"retry-after": "7"}), Meaning.RETRY, "429"),
        (said(500, {}), Meaning.RETRY, "500"),
        (said(503, error("down")), Meaning.RETRY, "down"),
    ],
)
def test_answers_to_an_action(answer: Answer, meaning: Meaning, words: str) -> None:
    """PROTOCOLS.md B.4: SKIP is skipped, other 4xx final, 5xx tried again, and no secret is repeated."""
    reading = read_action(ACCESS, answer)
    assert (reading.meaning, words in reading.reason) == (meaning, True), reading
    assert KEY not in reading.reason
    assert TOKEN not in reading.reason


@pytest.mark.parametrize("body", [{}, {"data": 1}, {"data": [1]}, [], {"errors": [{"message": "x"}]}])
def test_rows_that_are_none_are_told(body: Any) -> None:
    assert isinstance(read_rows(ACCESS, said(200, body)), Reading)
    assert read_rows(ACCESS, said(200, {"data": []})) == []


@pytest.mark.parametrize(
    ("fields", "path", "reply", "expected"),
    [
        ({"token": TOKEN}, "user/info", Reply(body=b'{"data": {"id": "1", "name": "Ada"}}'), "Ada"),
        ({"service_key": KEY}, "status", Reply(body=b""), "127.0.0.1"),
        ({"service_key": KEY}, "status", Reply(status=401), Meaning.UNAUTHORIZED),
        ({"service_key": KEY}, "status", Reply(status=503), Meaning.RETRY),
    ],
)
def test_a_connection_is_tried_out(
    partner: Partner, fields: dict[str, str], path: str, reply: Reply, expected: str | Meaning
) -> None:
    partner.sink.reply(f"/ifttt/v1/{path}", [reply])
    test = CONNECTION.test(account(partner, **fields))
    assert test is not None
    read = test.read(send(test.request))
    assert (read.meaning if isinstance(read, Reading) else read) == expected


def test_oauth_needs_to_know_where(partner: Partner) -> None:
    with pytest.raises(ValidationError, match="authorize_url"):
        account(partner, client_id="c")
    with pytest.raises(ValidationError, match="must begin with"):
        account(partner, client_id="c", authorize_url="x", token_url="http://x")
