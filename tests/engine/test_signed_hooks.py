"""Signed webhooks, from the ASGI app to the rows."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
from mangum import Mangum
from starlette.testclient import TestClient

from tests.support.deployment import EVENTS
from tests.support.embedded import House, notification
from tests.support.signing import SENDERS, Headers, github, plain
from whenthen.errors import Unavailable
from whenthen.queues.memory import MemoryQueue
from whenthen.store.errors import OutcomeUnknown, StoreError, Unreachable
from whenthen.vault import make_key_file
from whenthen.web import hooks
from whenthen.wiring import Runtime

REFUSED = b'{"errors":[{"message":"The signature is not valid."}]}'
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

every_sender = pytest.mark.parametrize("name", SENDERS)


@dataclass
class Hook:
    """A connection of the house to a sender."""

    house: House
    name: str
    id: str

    @property
    def path(self) -> str:
        return f"/hooks/{self.id}"

    def applet(self, event_type: str = "", message: str = "{{EventType}}: {{JsonPayload}}", **changes: Any) -> Any:
        """An applet that notifies of what comes."""
        trigger = {
            "service": "signed_webhooks",
            "trigger": "received",
            "fields": {"event_type": event_type},
            "connection": self.id,
        }
        return self.house.make_applet(trigger=trigger, actions=[notification(message)], **changes)

    def send(self, body: bytes | None = None, headers: Headers | None = None, **signing: Any) -> Any:
        """Send what the sender would send."""
        sender = SENDERS[self.name]
        body = sender.body if body is None else body
        return self.house.hooks.post(
            self.path, content=body, headers={**sender.sign(body, **signing), **(headers or {})}
        )


def connect(house: House, name: str, **changes: str) -> Hook:
    """A connection to the sender."""
    answer = house.call(
        "POST",
        "/connections",
        {"service": "signed_webhooks", "name": name, "fields": {**SENDERS[name].fields, **changes}},
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["hook_url"].endswith(f"/hooks/{answer.json()['id']}")
    return Hook(house, name, answer.json()["id"])


@pytest.fixture
def hook(house: House) -> Hook:
    """GitHub's, with an applet that is told of everything."""
    made = connect(house, "github")
    made.applet()
    return made


def events(house: House) -> int:
    count: int = house.table("SELECT COUNT(*) AS n FROM trigger_events")[0]["n"]
    return count


def is_untouched(house: House) -> bool:
    """Nothing was stored, and nothing waits in a queue."""
    return events(house) == 0 and house.activity() == [] and house.arrivals.receive(wait_seconds=0) == []


@every_sender
def test_what_a_sender_signs_is_an_event_once(house: House, name: str) -> None:
    """D07, D12, D19: the same signed request again within its window is the same event."""
    hook = connect(house, name)
    hook.applet(message="{{Source}}")
    at = int(time.time())
    answers = [hook.send(at=at, headers={"X-Slack-Retry-Num": str(again)}) for again in range(3)]
    assert [(answer.status_code, answer.content) for answer in answers] == [(200, b"")] * 3
    assert len({answer.headers["x-event-id"] for answer in answers}) == 1
    assert events(house) == 1
    assert house.messages() == [name]
    if SENDERS[name].is_timed and name != "stripe":
        # A retry that was signed anew.
        assert hook.send(at=at + 1).status_code == 200
    assert events(house) == 1


@every_sender
def test_forgeries_are_refused_before_any_row(house: House, name: str) -> None:
    hook = connect(house, name)
    hook.applet()
    sender = SENDERS[name]
    other = connect(house, name, secret="whsec_AAAA" if name == "standard_webhooks" else "another secret")
    signed = sender.sign(sender.body)
    answers = [
        house.hooks.post(hook.path, content=sender.body),
        house.hooks.post(hook.path, content=sender.body + b" ", headers=signed),
        house.hooks.post(hook.path, content=b"", headers=signed),
        house.hooks.post(hook.path),
        # Signed for another connection.
        house.hooks.post(other.path, content=sender.body, headers=signed),
        house.hooks.post(f"/hooks/{'0' * 32}", content=sender.body, headers=signed),
        house.hooks.post("/hooks/%00", content=sender.body, headers=signed),
        house.hooks.post(f"/hooks/{hook.id.upper()}", content=sender.body, headers=signed),
        house.hooks.get(hook.path),
        house.hooks.get(hook.path, params={"hub.mode": "subscribe", "hub.challenge": "c", "hub.verify_token": ""}),
    ]
    if sender.is_timed:
        answers.append(hook.send(at=int(time.time()) - 400))
        answers.append(hook.send(at=int(time.time()) + 400))
    assert {(answer.status_code, answer.content) for answer in answers} == {(401, REFUSED)}
    assert is_untouched(house)


def test_a_forgery_while_the_database_is_down_waits_nowhere(hook: Hook) -> None:
    assert hook.send().status_code == 200
    hook.house.database.error = Unreachable()
    forged = github(SENDERS["github"].body + b" ")
    assert hook.house.hooks.post(hook.path, content=b"{}", headers=forged).status_code == 401
    assert hook.house.arrivals.receive(wait_seconds=0) == []


def test_a_refusal_is_logged_without_what_was_sent(hook: Hook, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "whenthen.web"):
        hook.house.hooks.post(hook.path, content=b'{"secret": 1}', headers=github(b"{}"))
    (record,) = [record for record in caplog.records if record.name == "whenthen.web.signed_requests"]
    assert record.connection_id == hook.id  # type: ignore[attr-defined]
    assert record.message == "a signed webhook was refused"


def test_a_header_that_comes_twice_is_refused(hook: Hook) -> None:
    for name in ("X-Hub-Signature-256", "X-GitHub-Delivery", "X-GitHub-Event"):
        headers = [*github(b"{}").items(), (name, github(b"{}")[name])]
        assert hook.house.hooks.post(hook.path, content=b"{}", headers=headers).status_code == 401
    assert is_untouched(hook.house)


def test_headers_of_an_attacker_stay_values(hook: Hook) -> None:
    """What a header says can't become another header, a template or SQL."""
    hostile = "{{OccurredAt}}'; -- \t\x7f<b>"
    answer = hook.house.hooks.post(hook.path, content=b"{}", headers=github(b"{}", event=hostile, delivery=hostile))
    assert answer.status_code == 200
    assert set(answer.headers) == {"content-length", "content-type", "x-event-id"}
    assert hook.house.messages() == [f"{hostile}: {{}}"]


@pytest.mark.parametrize("slash", ["", "/"])
def test_head_and_other_methods_fire_nothing(hook: Hook, slash: str) -> None:
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = hook.house.hooks.request(method, hook.path + slash, headers=github(b""))
        assert answer.status_code == 405
    assert hook.house.hooks.post(hook.path + slash, headers=github(b"")).status_code == 200


def test_the_limit_comes_before_the_signature(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = hook.house.runtime.settings.max_body_bytes
    assert hook.send(b" " * limit).status_code == 200

    def refuse(*_: object) -> None:
        raise AssertionError("hashed")

    monkeypatch.setattr("whenthen.web.signed_requests.verify", refuse)
    answer = hook.send(b" " * (limit + 1))
    assert (answer.status_code, answer.json()) == (413, {"errors": [{"message": "The body is too large."}]})


def test_the_largest_json_is_run(hook: Hook) -> None:
    body = json.dumps({"a": '"' * 130_000}).encode()[: hook.house.runtime.settings.max_body_bytes]
    assert len(body) > 250_000
    assert hook.send(body).status_code == 200
    assert hook.house.execution()["ingredients"]["JsonPayload"] == body.decode()


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (b"\xff\x00", {}, {"JsonPayload": "", "Body": "", "BodyBase64": "/wA="}),
        (
            b"--x\r\n\xfe\r\n--x--",
            {"Content-Type": "multipart/form-data; boundary=x"},
            {"BodyBase64": "LS14DQr+DQotLXgtLQ=="},
        ),
        (b"plain", {"Content-Type": "text/plain"}, {"JsonPayload": "", "Body": "plain", "BodyBase64": ""}),
        (b'{"id": 9007199254740993}', {}, {"JsonPayload": '{"id": 9007199254740993}', "Body": ""}),
        (b'{"id": 1}', FORM, {"JsonPayload": '{"id": 1}'}),
        (b"a=1&b=%00", FORM, {"JsonPayload": '{"a": "1", "b": "\\u0000"}'}),
        (b"", {}, {"JsonPayload": "", "Body": "", "BodyBase64": ""}),
    ],
)
def test_bodies_of_all_kinds(hook: Hook, body: bytes, headers: Headers, expected: dict[str, str]) -> None:
    """D01, D18: verified over raw bytes, and what was received is shown."""
    assert hook.send(body, headers).status_code == 200
    assert hook.house.execution()["ingredients"].items() >= expected.items()
    assert hook.send(body + b" ", github(body)).status_code == 401


def test_ingredients_are_the_declared_ones(hook: Hook) -> None:
    hook.send(b"{}")
    services = hook.house.call("GET", "/services").json()["items"]
    (trigger,) = next(item for item in services if item["service"] == "signed_webhooks")["triggers"]
    assert set(hook.house.execution()["ingredients"]) == {item["ingredient"] for item in trigger["ingredients"]}
    assert hook.house.execution()["ingredients"]["DeliveryId"] == "d-1"


def test_json_is_read_in_templates(house: House) -> None:
    hook = connect(house, "github")
    hook.applet(message="{{(JsonPayload|fromjson).issue.title}}")
    hook.send(json.dumps({"issue": {"title": "It's <broken>"}}).encode())
    assert house.messages() == ["It's <broken>"]


def test_applets_can_listen_for_one_type(house: House) -> None:
    """Each once, and no execution is spent on what an applet does not want."""
    hook = connect(house, "github")
    hook.applet(message="all {{EventType}}")
    hook.applet(message="push {{EventType}}", event_type="push")
    hook.applet(message="issues {{EventType}}", event_type=" issues ")
    for _ in range(2):
        assert hook.send(event="push", delivery="1").status_code == 200
        assert hook.send(event="issues", delivery="2").status_code == 200
        assert hook.send(event="Push", delivery="3").status_code == 200
    assert sorted(house.messages()) == ["all Push", "all issues", "all push", "issues issues", "push push"]
    assert len(house.activity()) == 5


def test_connections_are_kept_apart(house: House) -> None:
    first, second = connect(house, "github"), connect(house, "github")
    first.applet(message="first")
    second.applet(message="second")
    first.send(delivery="same")
    assert house.messages() == ["first"]
    second.send(delivery="same")
    assert house.messages() == ["second", "first"]


def test_parallel_copies_are_one_event(hook: Hook) -> None:
    """D14."""
    hook.applet(event_type="push")
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(hook.send, delivery=f"d-{i % 4}") for i in range(32)]
    assert {job.result().status_code for job in jobs} == {200}
    assert (events(hook.house), len(hook.house.activity())) == (8, 8)
    assert hook.house.work() == 8


def test_without_an_id_or_a_time_each_call_is_an_event(house: House) -> None:
    hook = connect(house, "hmac", id_header="", timestamp_header="", signed_content="{body}")
    hook.applet()
    assert house.hooks.post(hook.path, content=b"{}", headers=plain(b"{}")).status_code == 401
    digest = base64.b64encode(hmac.digest(b"plain secret", b"{}", hashlib.sha512)).decode()
    for _ in range(2):
        assert house.hooks.post(hook.path, content=b"{}", headers={"X-Sign": f"hmac {digest}"}).status_code == 200
    assert events(house) == 2


def test_slack_asks_and_is_answered_before_any_row(house: House) -> None:
    hook = connect(house, "slack")
    hook.applet()
    body = b'{"type": "url_verification", "challenge": "3eZbrw1a<b>", "token": "t"}'
    answer = hook.send(body)
    assert (answer.status_code, answer.text) == (200, "3eZbrw1a<b>")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert house.hooks.post(hook.path, content=body).status_code == 401
    assert hook.send(b"ssl_check=1&token=t", FORM).content == b""
    assert is_untouched(house)


def test_a_challenge_that_is_no_text_is_refused(house: House) -> None:
    answer = connect(house, "slack").send(b'{"type": "url_verification", "challenge": "\\ud800"}')
    assert (answer.status_code, "challenge" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("name", "header", "changes"),
    [
        ("slack", "X-Slack-Signature", {}),
        ("hmac", "X-Sign", {"id_header": "", "algorithm": "sha256", "encoding": "hex", "prefix": ""}),
    ],
)
def test_a_signature_in_upper_case_is_the_same_event(
    house: House, name: str, header: str, changes: dict[str, str]
) -> None:
    """D19: what is known by its signature can't be replayed with another spelling of it."""
    hook = connect(house, name, **changes)
    hook.applet()
    at = int(time.time())
    prefix, key, content = {
        "slack": ("v0=", SENDERS["slack"].fields["secret"], b"v0:%d:{}" % at),
        "hmac": ("", "plain secret", b"%d:{}" % at),
    }[name]
    digest = hmac.new(key.encode(), content, hashlib.sha256).hexdigest()
    times = {"X-Time": str(at), "X-Slack-Request-Timestamp": str(at)}
    for written in (digest, digest.upper()):
        sent = house.hooks.post(hook.path, content=b"{}", headers={**times, header: prefix + written})
        assert sent.status_code == 200, sent.text
    assert events(house) == 1


def test_a_slack_command_is_answered_with_nothing_to_show(house: House) -> None:
    hook = connect(house, "slack")
    hook.applet(event_type="/deploy", message="{{(JsonPayload|fromjson).text}}")
    body = urlencode({"command": "/deploy", "text": "the *lot*", "trigger_id": "1.2"}).encode()
    assert hook.send(body, FORM).content == b""
    assert house.messages() == ["the *lot*"]


def test_meta_asks_and_is_answered_before_any_row(house: House) -> None:
    hook = connect(house, "meta")
    hook.applet()
    question = {"hub.mode": "subscribe", "hub.verify_token": "tok en", "hub.challenge": "<b>115"}
    answer = house.hooks.get(hook.path, params=question)
    assert (answer.status_code, answer.text) == (200, "<b>115")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    wrong = house.hooks.get(hook.path, params={**question, "hub.verify_token": "token"})
    assert (wrong.status_code, wrong.content) == (401, REFUSED)
    assert is_untouched(house)


def test_a_deleted_connection_takes_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = connect(house, "github")
    made = hook.applet()
    other = cold(house)
    for client in (house.hooks, other):
        assert client.post(hook.path, content=b"{}", headers=github(b"{}")).status_code == 200
    assert house.call("DELETE", f"/connections/{hook.id}").status_code == 409
    house.call("DELETE", f"/applets/{made['id']}")
    assert house.call("DELETE", f"/connections/{hook.id}").status_code == 204
    # Another process has a moment before it looks again.
    monkeypatch.setattr("whenthen.engine.connections.opened.REMEMBERED_SECONDS", 0)
    for client in (house.hooks, other, cold(house)):
        answer = client.post(hook.path, content=b"{}", headers=github(b"{}", delivery="later"))
        assert (answer.status_code, answer.content) == (401, REFUSED)
    assert events(house) == 1


def test_an_applet_that_was_made_while_its_connection_was_deleted_gets_nothing(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deleting has looked for applets before there was one; and its listeners are remembered."""
    other = cold(hook.house)
    for client in (hook.house.hooks, other):
        assert client.post(hook.path, content=b"{}", headers=github(b"{}")).status_code == 200
    monkeypatch.setattr("whenthen.engine.connections.keeping.users_of", lambda *_: [])
    assert hook.house.call("DELETE", f"/connections/{hook.id}").status_code == 204
    monkeypatch.setattr("whenthen.engine.connections.opened.REMEMBERED_SECONDS", 0)
    for client in (hook.house.hooks, other):
        assert client.post(hook.path, content=b"{}", headers=github(b"{}", delivery="later")).status_code == 401
    assert events(hook.house) == 1


def test_a_new_secret_ends_the_old_one(hook: Hook) -> None:
    house = hook.house
    assert hook.send().status_code == 200
    fields = {"fields": {"secret": "a new one"}}
    assert house.call("PATCH", f"/connections/{hook.id}", fields).status_code == 200
    assert hook.send(delivery="d-2").status_code == 401


def test_a_connection_of_another_service_is_none(hook: Hook) -> None:
    button = hook.house.call("POST", "/connections", {"service": "button", "name": "b", "fields": {}}).json()
    assert hook.house.hooks.post(f"/hooks/{button['id']}", content=b"{}", headers=github(b"{}")).content == REFUSED


def cold(house: House, arrivals: MemoryQueue | None = None) -> TestClient:
    """A process that has not seen the database yet."""
    runtime = Runtime(
        house.runtime.settings, database=house.database, wakeups=house.wakeups, arrivals=arrivals or house.arrivals
    )
    return TestClient(hooks.make_app(runtime))


@pytest.mark.parametrize(
    "error", [Unreachable(), OutcomeUnknown(), StoreError("new code")], ids=lambda e: type(e).__name__
)
def test_what_is_verified_while_the_database_is_down_waits_in_the_queue(hook: Hook, error: StoreError) -> None:
    """D17: acknowledged when it is in the queue, and then it comes once."""
    house = hook.house
    hook.applet(event_type="push", message="push")
    assert hook.send(delivery="before").status_code == 200
    house.work()
    house.database.error = error
    for _ in range(2):
        answer = hook.send(b'{"kept": 1}', delivery="d")
        assert (answer.status_code, answer.content) == (200, b"")
        assert "x-event-id" not in answer.headers
    waiting = house.arrivals.receive(wait_seconds=0)
    assert len(waiting) == 4
    assert not any("Secret to Everybody" in item.body or "sha256=" in item.body for item in waiting)
    house.arrivals.send([item.body for item in waiting])
    house.database.error = None
    assert house.tick().drained == 4
    house.work()
    assert sorted(message["message"] for message in house.inbox())[:2] == ["push", "push"]
    assert events(house) == 4


def test_what_can_not_be_verified_is_not_accepted(hook: Hook) -> None:
    """A process that has never read the connection can't tell while the database is down."""
    for house_error in (Unreachable(), OutcomeUnknown()):
        hook.house.database.error = house_error
        answer = cold(hook.house).post(hook.path, content=b"{}", headers=github(b"{}"))
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "30"
    assert hook.house.arrivals.receive(wait_seconds=0) == []


def test_a_look_up_that_fails_once_is_done_again(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a connection that was idle for long: the first call can break (ALOPEX.md 6)."""
    execute, failures = hook.house.database.execute, [OutcomeUnknown()]

    def breaks_once(sql: str, **options: Any) -> Any:
        if failures and "FROM connections" in sql:
            raise failures.pop()
        return execute(sql, **options)

    monkeypatch.setattr(hook.house.database, "execute", breaks_once)
    answer = cold(hook.house).post(hook.path, content=b"{}", headers=github(b"{}"))
    assert (answer.status_code, failures) == (200, [])


def test_a_wrong_key_for_secrets_is_not_the_senders_fault(hook: Hook) -> None:
    """Given a process with another key file, then the sender is told to come again, and not that it signs wrongly."""
    path = hook.house.runtime.settings.secrets_key_path
    path.unlink()
    make_key_file(path)
    other = Runtime(hook.house.runtime.settings, database=hook.house.database, wakeups=hook.house.wakeups)
    sender = SENDERS["github"]
    answer = TestClient(hooks.make_app(other)).post(hook.path, content=sender.body, headers=sender.sign(sender.body))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    assert is_untouched(hook.house)


def test_both_are_down(hook: Hook) -> None:
    class Broken(MemoryQueue):
        def send(self, *_: Any, **__: Any) -> None:
            raise Unavailable("the queue can't be reached")

    client = cold(hook.house, Broken())
    assert client.post(hook.path, content=b"{}", headers=github(b"{}")).status_code == 200
    hook.house.database.error = Unreachable()
    assert client.post(hook.path, content=b"{}", headers=github(b"{}", delivery="d-2")).status_code == 503


def test_what_waits_for_a_connection_that_is_gone_is_dropped(house: House) -> None:
    hook = connect(house, "github")
    made = hook.applet()
    assert hook.send().status_code == 200
    house.database.error = Unreachable()
    assert hook.send(delivery="d-2").status_code == 200
    house.database.error = None
    house.call("DELETE", f"/applets/{made['id']}")
    assert house.call("DELETE", f"/connections/{hook.id}").status_code == 204
    assert house.tick().drained == 2
    assert events(house) == 1


@pytest.fixture
def loop() -> Iterator[None]:
    """The event loop that Lambda's main thread has."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


@pytest.mark.parametrize("name", ["trigger_signed_github", "trigger_signed_github_base64", "trigger_signed_binary"])
def test_events_of_api_gateway_keep_their_bytes(house: House, loop: None, name: str) -> None:
    """D04, D05, D06: a body as it is and the same body in base64; the signature is over what was sent."""
    hook = connect(house, "github")
    hook.applet()
    event = json.loads((EVENTS / f"{name}.json").read_text().replace("CONNECTION_ID", hook.id))
    function = Mangum(hooks.make_app(house.runtime), lifespan="off")
    for _ in range(2):
        answer = function(event, None)  # type: ignore[arg-type]
        assert (answer["statusCode"], answer["body"]) == (200, "")
    assert events(house) == 1
    event["isBase64Encoded"] = not event["isBase64Encoded"]
    if not event["isBase64Encoded"]:
        # The text of the base64 is not what was signed.
        assert function(event, None)["statusCode"] == 401  # type: ignore[arg-type]
