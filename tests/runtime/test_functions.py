"""From an API Gateway event to the action and back to the owner, through the functions as built."""

import base64
import hashlib
import hmac
import json
import secrets
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from tests.support.deployment import EVENTS, Built, Deployment
from tests.support.emulator import Emulated, InvocationError
from tests.support.sink import Reply, Sink

VALUES = {"Value1": "open", "Value2": 'Küche & "Flur" 🚪', "Value3": "21.5"}
THREE_VALUES = [
    "trigger_get",
    "trigger_post_json",
    "trigger_post_json_base64",
    "trigger_post_form",
    "trigger_post_form_base64",
]
GITHUB = ["trigger_post_github", "trigger_post_github_base64"]
GITHUB_SECRET = b"It's a Secret to Everybody"
SIGNED = {
    "trigger_signed_github": None,
    "trigger_signed_github_base64": None,
    "trigger_signed_binary": "/wA=",
}
"""Signed with GITHUB_SECRET; what the bytes are in base64 where they are no text."""


def applet(sink: Sink, *, trigger: str, body: str) -> dict[str, Any]:
    """An applet that sends `body` to the sink."""
    return {
        "name": "Door to chat",
        "trigger": {"service": "webhooks", "trigger": trigger, "fields": {"event": "door"}},
        "actions": [
            {
                "service": "webhooks",
                "action": "make_web_request",
                "fields": {"url": f"{sink.url}/in", "method": "POST", "content_type": "text/plain", "body": body},
            }
        ],
    }


@pytest.fixture
def deployment(shared_deployment: Deployment) -> Deployment:
    """The module's stack with a new owner and empty queues; its functions are warm."""
    shared_deployment.become(f"owner-{secrets.token_hex(4)}")
    shared_deployment.aws.take("WakeupQueue")
    return shared_deployment


@pytest.fixture
def values_applet(deployment: Deployment, sink: Sink) -> str:
    """The id of an applet for the three values, made through the console function."""
    document = applet(sink, trigger="event", body="{{Value1}}|{{Value2}}|{{Value3}}")
    made: str = deployment.api("POST", "/api/applets", document)["id"]
    return made


@pytest.mark.parametrize("name", THREE_VALUES)
def test_an_event_becomes_one_action(deployment: Deployment, sink: Sink, values_applet: str, name: str) -> None:
    """D05, D06: the body as it is and the same body in base64 give the same ingredients; also a form and a query."""
    answer = deployment.webhook(name, delivery="delivery-1")
    assert answer[:2] == (200, "Congratulations! You've fired the door event")

    assert deployment.work() == {"batchItemFailures": []}
    (request,) = sink.requests
    assert (request.method, request.path) == ("POST", "/in")
    assert request.body.decode() == "|".join(VALUES.values())

    (execution,) = deployment.executions()
    assert (execution["state"], execution["applet_id"]) == ("succeeded", values_applet)
    assert execution["ingredients"].items() >= VALUES.items()
    assert execution["ingredients"]["EventName"] == "door"
    assert request.key == f"{execution['execution_id']}.0"

    again = deployment.webhook(name, delivery="delivery-1")
    assert again[:2] == answer[:2]
    assert deployment.aws.take("WakeupQueue") == []
    assert len(sink.requests) == 1
    assert len(deployment.executions()) == 1


def test_a_wake_up_that_comes_twice_does_no_harm(deployment: Deployment, sink: Sink, values_applet: str) -> None:
    deployment.webhook("trigger_post_json")
    messages = deployment.aws.receive("WakeupQueue")
    event = deployment.aws.event("WakeupQueue", messages * 2)
    worker = deployment.function("WorkerFunction")
    assert worker.invoke(event) == {"batchItemFailures": []}
    assert worker.invoke(event) == {"batchItemFailures": []}
    assert len(sink.requests) == 1


@pytest.mark.parametrize("name", GITHUB)
def test_a_signed_post_keeps_its_bytes(deployment: Deployment, sink: Sink, name: str) -> None:
    """D04, D07: what GitHub signed is what arrives, in both encodings; its delivery id names the event."""
    made = deployment.api(
        "POST",
        "/api/keys",
        {"kind": "webhook", "name": "GitHub", "delivery_id_header": "X-GitHub-Delivery"},
    )
    deployment.webhook_key = made["key"]
    deployment.api("POST", "/api/applets", applet(sink, trigger="json_event", body="{{JsonPayload}}"))

    for _ in range(2):
        answer = deployment.webhook(name)
        assert answer[:2] == (200, "Congratulations! You've fired the door JSON event")
    deployment.work()

    (request,) = sink.requests
    signature = deployment.event(name)["headers"]["x-hub-signature-256"]
    assert "sha256=" + hmac.digest(GITHUB_SECRET, request.body, hashlib.sha256).hex() == signature


@pytest.mark.parametrize("name", SIGNED)
def test_a_signed_webhook_is_verified_over_its_bytes(deployment: Deployment, sink: Sink, name: str) -> None:
    """D01, D04, D05, D06: also bytes that are no text; a forgery is refused by both encodings."""
    fields = {"scheme": "github", "secret": GITHUB_SECRET.decode()}
    connection = {"service": "signed_webhooks", "name": "GitHub", "fields": fields}
    made = deployment.api("POST", "/api/connections", connection)["id"]
    document = applet(sink, trigger="event", body="{{JsonPayload}}{{BodyBase64}}")
    document["trigger"] = {"service": "signed_webhooks", "trigger": "received", "connection": made}
    deployment.api("POST", "/api/applets", document)

    def named(event: dict[str, Any]) -> None:
        event["rawPath"] = event["requestContext"]["http"]["path"] = f"/hooks/{made}"

    def forged(event: dict[str, Any]) -> None:
        named(event)
        event["headers"]["x-hub-signature-256"] = f"sha256={'0' * 64}"

    function = deployment.function("TriggerFunction")
    assert function.invoke(deployment.event(name, forged))["statusCode"] == 401
    for _ in range(2):
        answer = function.invoke(deployment.event(name, named))
        assert (answer["statusCode"], answer["body"]) == (200, "")
    deployment.work()

    (request,) = sink.requests
    if SIGNED[name] is not None:
        assert request.body.decode() == SIGNED[name]
    else:
        signature = deployment.event(name)["headers"]["x-hub-signature-256"]
        assert "sha256=" + hmac.digest(GITHUB_SECRET, request.body, hashlib.sha256).hex() == signature


def test_a_secret_is_sealed_with_the_stacks_key(deployment: Deployment) -> None:
    """Given a connection made by the console function, then KMS alone unwraps its key, and for its row alone."""
    made = deployment.api("POST", "/api/connections", {"service": "button", "name": "Door"})
    (row,) = deployment.sql(f"SELECT sealed, owner_id FROM connections WHERE connection_id = '{made['id']}'")
    version, kind, wrapped, _ = row["sealed"].split(".")
    assert (version, kind) == ("v1", "kms")
    context = {"connection_id": made["id"], "owner_id": row["owner_id"], "service": "button"}
    unwrapped = deployment.aws.kms.decrypt(CiphertextBlob=base64.urlsafe_b64decode(wrapped), EncryptionContext=context)
    assert len(unwrapped["Plaintext"]) == 32
    assert deployment.aws.kms_key in unwrapped["KeyId"]


def test_bytes_that_are_no_text_are_the_senders_mistake(deployment: Deployment, sink: Sink, values_applet: str) -> None:
    """D01: a body of ff 00 is told to be no JSON; nothing breaks over it."""
    deployment.api("POST", "/api/applets", applet(sink, trigger="json_event", body="{{JsonPayload}}"))
    answer = deployment.webhook("trigger_post_binary")
    assert answer.status == 400
    (error,) = json.loads(answer.body)["errors"]
    assert "UTF-8" in error["message"]

    # The three-value hook reads no body of this type.
    def as_values(event: dict[str, Any]) -> None:
        path = event["rawPath"].replace("/json/", "/")
        event["rawPath"] = event["requestContext"]["http"]["path"] = path

    function = deployment.function("TriggerFunction")
    assert function.invoke(deployment.event("trigger_post_binary", as_values))["statusCode"] == 200


def test_a_poison_message_fails_alone(deployment: Deployment, sink: Sink, values_applet: str) -> None:
    for _ in range(3):
        deployment.webhook("trigger_post_json")
    for body in ("not JSON", '"text"', '{"execution_id": 7}', '{"execution_id": "x"}'):
        deployment.aws.send("WakeupQueue", body)
    messages = deployment.aws.receive("WakeupQueue")
    assert len(messages) == 7

    answer = deployment.function("WorkerFunction").invoke(deployment.aws.event("WakeupQueue", messages))
    failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
    assert failed == {m["MessageId"] for m in messages if not m["Body"].startswith('{"execution_id": "20')}
    assert len(sink.requests) == 3
    assert [execution["state"] for execution in deployment.executions()] == ["succeeded"] * 3


def test_a_batch_of_nothing_but_poison(deployment: Deployment) -> None:
    """The sample of `events/`: two executions that are not there are dropped, the third message is reported."""
    event = deployment.event("worker_batch")
    answer = deployment.function("WorkerFunction").invoke(event)
    assert answer == {"batchItemFailures": [{"itemIdentifier": event["Records"][2]["messageId"]}]}


def test_a_wrong_key(deployment: Deployment) -> None:
    deployment.webhook_key = "wrong"
    for name in ("trigger_get", "trigger_post_form_base64"):
        answer = deployment.webhook(name)
        assert answer[:2] == (401, '{"errors":[{"message":"You sent an invalid key."}]}')


def feed(*names: str) -> Reply:
    """A feed with these items, the newest first."""
    items = "".join(f"<item><guid>{name}</guid><title>{name}</title></item>" for name in names)
    head = "<title>t</title><link>https://example.org/</link><description>d</description>"
    return Reply(body=f"<rss version='2.0'><channel>{head}{items}</channel></rss>".encode())


@pytest.fixture
def feed_applet(deployment: Deployment, sink: Sink) -> dict[str, Any]:
    """An applet that sends each new title to the sink, made through the console function."""
    deployment.aws.take("CheckQueue")
    sink.reply("/feed", [feed("old")])
    document = applet(sink, trigger="event", body="{{EntryTitle}}")
    document["trigger"] = {"service": "feed", "trigger": "new_feed_item", "fields": {"feed_url": f"{sink.url}/feed"}}
    made: dict[str, Any] = deployment.api("POST", "/api/applets", document)
    assert made["check"]["state"] == "ok"
    return made


def sent(sink: Sink) -> list[str]:
    """The bodies of the actions' requests."""
    return [request.body.decode() for request in sink.requests if request.method == "POST"]


def test_a_tick_passes_a_check_on_and_its_items_fire(
    deployment: Deployment, sink: Sink, feed_applet: dict[str, Any]
) -> None:
    sink.reply("/feed", [feed("new", "old")])
    assert deployment.tick()["checks"] == 0
    later = datetime.now(UTC) + timedelta(minutes=6)
    assert deployment.tick(later)["checks"] == 1
    assert deployment.tick(later)["checks"] == 0
    assert deployment.check() == {"batchItemFailures": []}
    deployment.work()
    assert sent(sink) == ["new"]
    found = deployment.api("GET", f"/api/applets/{feed_applet['id']}")["check"]
    assert (found["state"], found["failures"]) == ("ok", 0)


def test_a_schedule_fires_in_the_tick_itself(deployment: Deployment, sink: Sink) -> None:
    document = applet(sink, trigger="event", body="{{CheckTime}}")
    fields = {"time": "02:30", "zone": "Europe/Paris"}
    document["trigger"] = {"service": "date_time", "trigger": "every_day_at", "fields": fields}
    deployment.api("POST", "/api/applets", document)
    spring = datetime(2027, 3, 28, 1, tzinfo=UTC)
    assert deployment.tick(spring)["checks"] >= 1
    assert deployment.tick(spring)["checks"] == 0
    deployment.work()
    assert sent(sink) == ["March 28, 2027 at 03:00AM"]


def test_h01_a_notification_has_its_trigger_checked_at_once(
    deployment: Deployment, sink: Sink, feed_applet: dict[str, Any]
) -> None:
    sink.reply("/feed", [feed("new", "old")])
    (row,) = deployment.sql(f"SELECT trigger_id FROM applets WHERE applet_id = '{feed_applet['id']}'")

    def name(event: dict[str, Any]) -> None:
        event["body"] = event["body"].replace("TRIGGER_IDENTITY", row["trigger_id"])

    function = deployment.function("TriggerFunction")
    answer = function.invoke(deployment.event("trigger_realtime", name))
    assert (answer["statusCode"], answer["body"]) == (200, "{}")
    deployment.check()
    deployment.work()
    assert sent(sink) == ["new"]

    def stranger(event: dict[str, Any]) -> None:
        name(event)
        event["headers"]["ifttt-service-key"] = "wrong"

    assert function.invoke(deployment.event("trigger_realtime", stranger))["statusCode"] == 401


def test_a_message_that_is_no_order_fails_alone(deployment: Deployment) -> None:
    """The sample of `events/`: a check that is not there is dropped, the second message is reported."""
    event = deployment.event("poller_checks")
    answer = deployment.function("PollerFunction").invoke(event)
    assert answer == {"batchItemFailures": [{"itemIdentifier": event["Records"][1]["messageId"]}]}


def test_no_key_stands_in_a_log(deployment: Deployment, sink: Sink, values_applet: str) -> None:
    deployment.webhook("trigger_post_json")
    deployment.work()
    deployment.tick()
    deployment.executions()
    logs = "".join(path.read_text() for path in deployment.log_dir.glob("*.log"))
    assert "REPORT RequestId" in logs
    for key in (deployment.webhook_key, deployment.api_key, deployment.server.api_key):
        assert key not in logs


def test_a_package_that_the_layer_lacks_is_missed(
    built: Built, lone: Callable[[str, Path], Emulated], tmp_path: Path
) -> None:
    """The emulated runtime brings nothing of its own that would hide a hole in the layer."""
    directory = shutil.copytree(built.directory, tmp_path / "build")
    shutil.rmtree(directory / "DependenciesLayer" / "python" / "starlette")
    with pytest.raises(InvocationError, match="No module named 'starlette'"):
        lone("TriggerFunction", directory).invoke({})


def test_the_layers_hold_no_runtime_package(built: Built) -> None:
    layer = built.directory / "DependenciesLayer" / "python"
    for name in ("boto3", "botocore", "pytest", "uvicorn", "whenthen"):
        assert not (layer / name).exists()
    assert (built.directory / "WhenthenLayer" / "python" / "whenthen" / "store" / "sql").is_dir()


def test_every_sample_event_is_used() -> None:
    names = {path.stem for path in EVENTS.glob("*.json")} - {"env"}
    used = {*THREE_VALUES, *GITHUB, *SIGNED, "trigger_post_binary", "trigger_realtime"}
    used |= {"worker_batch", "poller_tick", "poller_checks", "console_activity", "console_page"}
    assert names == used | {"console_create_applet"}


def test_pages(deployment: Deployment) -> None:
    """Given the console function behind API Gateway, then its first user signs up with the owner's API key."""
    welcome = deployment.page("/welcome")
    assert (welcome.status, welcome.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = BeautifulSoup(welcome.body, "html.parser")
    style = page.find("link", rel="stylesheet")
    assert isinstance(style, Tag)
    assert deployment.page(str(style["href"])).headers["content-type"] == "text/css; charset=utf-8"
    (visitor,) = welcome.cookies
    assert {"HttpOnly", "Secure", "SameSite=lax"} <= set(visitor.split("; "))

    token = page.find("input", {"name": "csrf"})
    assert isinstance(token, Tag)
    form = {"csrf": str(token["value"]), "name": "Ada", "password": "correct horse battery", "zone": "Europe/Paris"}
    cookies = [visitor.partition(";")[0]]
    assert deployment.page("/welcome", form, cookies).status == 422
    made = deployment.page("/welcome", {**form, "api_key": deployment.api_key}, cookies)
    assert (made.status, made.headers["location"]) == (303, "/applets")
    (session,) = made.cookies
    assert {"HttpOnly", "Secure", "SameSite=lax"} <= set(session.split("; "))
    signed_in = deployment.page("/applets", cookies=[session.partition(";")[0]])
    assert signed_in.status == 200
    assert "Ada" in signed_in.body
    assert deployment.page("/applets").status == 303
