"""Services, webhooks and states, as Home Assistant has them."""

import json
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from tests.support.acting import Acting, meaning
from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor, json_reply, rendered
from whenthen.engine.attempts import describe_request
from whenthen.engine.retry import NeverSent, Unanswered
from whenthen.engine.wire import perform
from whenthen.errors import FieldError
from whenthen.net import GuardedClient
from whenthen.services.home_assistant.connection import HomeAssistantConnectionFields
from whenthen.services.home_assistant.fields import CallServiceFields, FireWebhookFields
from whenthen.services.work import Meaning, Reading

TOKEN = "eyJhbGciOi.x.y"
LIGHT = {"service": "light.turn_on", "data": '{"entity_id": "light.kitchen"}'}
TURN_ON = "/api/services/light/turn_on"
STATE = {
    "entity_id": "sensor.outside",
    "state": "21.5",
    "attributes": {"friendly_name": "Outside", "unit_of_measurement": "°C"},
    "last_changed": "2026-11-30T07:40:18.123456+00:00",
}


class HomeAssistant(Vendor):
    """One light and one sensor; every webhook is answered alike."""

    def answer(self, request: Recorded) -> Reply:
        if request.path.startswith("/api/webhook/"):
            return Reply(200, body=b"")
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return Reply(401, body=b"401: Unauthorized")
        if request.path == "/api/":
            return json_reply({"message": "API running."})
        if request.path == "/api/states/sensor.outside":
            return json_reply(STATE)
        if request.path.startswith("/api/states/"):
            return json_reply({"message": "Entity not found."}, 404)
        try:
            data = json.loads(request.body)
        except ValueError:
            return json_reply({"message": "Data should be valid JSON."}, 400)
        known = request.path == TURN_ON and isinstance(data, dict)
        return json_reply([{"entity_id": "light.kitchen", "state": "on"}]) if known else Reply(400, body=b"400: Bad")


@pytest.fixture(scope="module")
def running() -> Iterator[HomeAssistant]:
    with HomeAssistant() as home:
        yield home


@pytest.fixture
def home(running: HomeAssistant) -> HomeAssistant:
    running.forget()
    return running


@pytest.fixture
def acting(home: HomeAssistant) -> Acting:
    return Acting("home_assistant", {"url": home.url + "/", "token": TOKEN})


def test_a_service_is_called_with_the_data_as_it_is_written(acting: Acting, home: HomeAssistant) -> None:
    """D09: a number of 64 bits keeps its digits."""
    data = '{"entity_id": "light.kitchen", "context": 9007199254740993}'
    sent = acting.act("call_service", {**LIGHT, "data": data})
    assert meaning(sent) is Meaning.SUCCEEDED
    assert home.requests[-1].body == data.encode()
    assert home.requests[-1].headers["content-type"] == "application/json"
    assert sent.request is not None
    assert TOKEN not in str(describe_request(sent.request))


@pytest.mark.parametrize(
    ("template", "ingredient", "written"),
    [
        ('{"message": "{{Value1}}"}', 'a", "entity_id": "all', '{"message": "a\\", \\"entity_id\\": \\"all"}'),
        ('{"id": {{Value1}}}', "12345678901234567890", '{"id": 12345678901234567890}'),
    ],
)
def test_an_ingredient_stays_in_its_place(template: str, ingredient: str, written: str) -> None:
    ingredients = {"Value1": ingredient}
    assert rendered(CallServiceFields, {**LIGHT, "data": template}, ingredients).data == written
    assert rendered(FireWebhookFields, {"webhook_id": "x", "data": template}, ingredients).data == written


def test_a_service_that_is_unknown(acting: Acting) -> None:
    sent = acting.act("call_service", {**LIGHT, "service": "light.explode"})
    assert meaning(sent) is Meaning.FAILED
    assert "no such service" in sent.reason


@pytest.mark.parametrize(
    ("reply", "expected", "words"),
    [
        (Reply(401, body=b"401: Unauthorized"), Meaning.UNAUTHORIZED, "token"),
        (Reply(403), Meaning.FAILED, "bans"),
        (Reply(404), Meaning.FAILED, "address"),
        (Reply(405), Meaning.FAILED, "405"),
        (Reply(500, body=b"Server got itself in trouble"), Meaning.RETRY, "500"),
        (Reply(502), Meaning.RETRY, "502"),
        (Reply(200, body=b"<html>Log in"), Meaning.FAILED, "without a login"),
        (Reply(200, body=b"{}"), Meaning.FAILED, "without a login"),
        (Reply(200, body=b"[" * 99_999), Meaning.FAILED, "without a login"),
        (Reply(200, body=b"[" + b" " * 2**20 + b"]"), Meaning.SUCCEEDED, ""),
    ],
)
def test_answers(acting: Acting, home: HomeAssistant, reply: Reply, expected: Meaning, words: str) -> None:
    """F20: 200 with a login page is a failure."""
    home.reply(TURN_ON, [reply])
    sent = acting.act("call_service", LIGHT)
    assert meaning(sent) is expected
    assert words in sent.reason


def test_a_call_without_an_answer_is_not_repeated(acting: Acting, home: HomeAssistant) -> None:
    """F05: it may have been a toggle."""
    home.reply(TURN_ON, [Reply(close=True)])
    assert acting.act("call_service", LIGHT).result == Unanswered(repeatable=False)


def test_a_webhook_needs_no_token_and_is_a_secret(acting: Acting, home: HomeAssistant) -> None:
    sent = acting.act("fire_webhook", {"webhook_id": "front_door", "data": '{"who": "ada"}'})
    assert meaning(sent) is Meaning.SUCCEEDED
    request = home.requests[-1]
    assert (request.path, json.loads(request.body)) == ("/api/webhook/front_door", {"who": "ada"})
    assert "authorization" not in request.headers
    assert sent.request is not None
    assert "front_door" not in str(describe_request(sent.request))


def test_a_webhook_that_takes_no_post(acting: Acting, home: HomeAssistant) -> None:
    home.reply("/api/webhook/front_door", [Reply(405)])
    sent = acting.act("fire_webhook", {"webhook_id": "front_door"})
    assert meaning(sent) is Meaning.FAILED
    assert "Allow POST" in sent.reason


def test_a_state_is_a_row(acting: Acting) -> None:
    sent, rows = acting.ask("get_state", {"entity": "sensor.outside"})
    assert meaning(sent) is Meaning.SUCCEEDED
    assert rows == [
        {
            "Entity": "sensor.outside",
            "State": "21.5",
            "FriendlyName": "Outside",
            "LastChanged": "2026-11-30T07:40:18.123456+00:00",
            "Attributes": '{"friendly_name": "Outside", "unit_of_measurement": "°C"}',
        }
    ]


def test_states_that_are_none(acting: Acting, home: HomeAssistant) -> None:
    sent, rows = acting.ask("get_state", {"entity": "sensor.gone"})
    assert (meaning(sent), rows) == (Meaning.FAILED, [])
    assert "no such entity" in sent.reason
    home.reply("/api/states/sensor.outside", [json_reply({"state": 1})])
    assert meaning(acting.ask("get_state", {"entity": "sensor.outside"})[0]) is Meaning.FAILED
    home.reply("/api/states/sensor.outside", [json_reply({"state": "on", "attributes": None})])
    _, (row,) = acting.ask("get_state", {"entity": "sensor.outside"})
    assert row == {"Entity": "", "State": "on", "FriendlyName": "", "LastChanged": "", "Attributes": "{}"}


@pytest.mark.parametrize(
    ("slug", "field", "value"),
    [
        ("call_service", "service", "light"),
        ("call_service", "service", "light/../../x.y"),
        ("call_service", "service", "Light.On"),
        ("call_service", "data", "[]"),
        ("call_service", "data", '{"a": NaN}'),
        ("call_service", "data", "{"),
        ("fire_webhook", "webhook_id", "a/b"),
        ("fire_webhook", "webhook_id", "https://home/api/webhook/x"),
    ],
)
def test_fields_that_can_not_be(acting: Acting, slug: str, field: str, value: str) -> None:
    with pytest.raises(ValidationError) as caught:
        acting.prepare(slug, {**(LIGHT if slug == "call_service" else {}), field: value})
    assert caught.value.errors()[0]["loc"] == (field,)


def test_what_templates_made_is_checked(acting: Acting) -> None:
    for fields, field in (({"service": "{{a"}, "service"), ({"data": '{"{{'}, "data")):
        with pytest.raises(FieldError) as caught:
            acting.prepare("call_service", {**LIGHT, **fields})
        assert caught.value.field == field


def test_a_private_address_is_refused_in_words() -> None:
    account = {"url": "http://192.168.1.20:8123", "token": TOKEN}
    work = Acting("home_assistant", account).prepare("call_service", LIGHT)
    sent = perform(GuardedClient(), work, timeout_seconds=5)
    assert sent.result == NeverSent(permanent=True)
    assert "192.168.1.20 is not on the public internet and not in an allowed network" in sent.reason


@pytest.mark.parametrize(
    "url", ["http://home:8123", "http://home:8123/", "http://home:8123/api", " http://home:8123/api/ "]
)
def test_the_address_is_that_of_the_server(url: str) -> None:
    assert HomeAssistantConnectionFields(url=url, token=TOKEN).url == "http://home:8123"


def test_a_connection_is_tried_out(acting: Acting, home: HomeAssistant) -> None:
    assert acting.test() == "Home Assistant"
    home.reply("/api/", [Reply(200, body=b"<html>")])
    assert isinstance(acting.test(), Reading)
    home.reply("/api/", [Reply(401)])
    result = acting.test()
    assert isinstance(result, Reading)
    assert result.meaning is Meaning.UNAUTHORIZED
