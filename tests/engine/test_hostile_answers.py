"""Answers with texts that can't be stored: what has happened is written down all the same."""

import json

from tests.support.embedded import House, Json, notification
from tests.support.sink import Reply, Sink
from tests.support.vendor import json_reply

# JSON can spell half of a pair of code units, and UTF-8 can't.
HALF = "\ud800 said\x00so"


def connect(house: House, service: str, **fields: str) -> str:
    """Make a connection; return its id."""
    answer = house.call("POST", "/connections", {"service": service, "name": service, "fields": fields})
    assert answer.status_code == 201, answer.text
    identifier: str = answer.json()["id"]
    return identifier


def push(connection: str) -> Json:
    """An action that can't be repeated."""
    return {
        "service": "gotify",
        "action": "send_message",
        "fields": {"message": "Hello"},
        "connection": connection,
    }


def test_a_refusal_in_text_that_cant_be_stored_is_recorded(house: House, sink: Sink) -> None:
    """Given an answer whose words can't be stored, then the outcome is known, and so is that of a neighbour."""
    sink.reply("/message", [json_reply({"errorCode": 400}, 400), json_reply({"errorDescription": HALF}, 403)])
    connection = connect(house, "gotify", server=sink.url, token="Aabcdefgh")
    house.make_applet(actions=[push(connection)])
    house.make_applet(name="Neighbour")
    house.fire()
    house.work()
    states = {item["applet_name"]: item["state"] for item in house.activity()}
    assert states == {"Door": "failed", "Neighbour": "succeeded"}
    failed = next(item for item in house.activity() if item["state"] == "failed")
    assert failed["reason"].endswith("It says: \ufffd said so")


def test_a_query_whose_rows_cant_be_stored_gives_what_can_be(house: House, sink: Sink) -> None:
    state = {"state": HALF, "entity_id": "light.a", "attributes": {"friendly_name": HALF, HALF: HALF}}
    sink.reply("/api/", [json_reply({"message": "API running."})])
    sink.reply("/api/states/light.a", [json_reply(state)])
    connection = connect(house, "home_assistant", url=sink.url, token="abcdefgh")
    query = {
        "service": "home_assistant",
        "query": "get_state",
        "fields": {"entity": "light.a"},
        "connection": connection,
    }
    house.make_applet(queries=[query], actions=[notification("{{ query1[0].FriendlyName | length }}")])
    house.fire()
    assert house.messages() == ["9"]
    row = house.execution()["queries"][0][0]
    assert row["State"] == "\ufffd said\ufffdso"
    assert json.loads(row["Attributes"])["friendly_name"] == "\ufffd said\x00so"


def test_the_name_of_an_account_that_cant_be_stored_is_cleaned(house: House, sink: Sink) -> None:
    sink.reply("/v1/account", [Reply(body=json.dumps({"username": HALF + "x" * 5000}).encode())])
    connection = connect(house, "ntfy", server=sink.url, token="tk_abcdefgh")
    account = house.call("GET", f"/connections/{connection}").json()["account"]
    assert account.startswith("\ufffd said so")
    assert len(account) <= 300


def test_a_refusal_that_repeats_the_token_does_not_show_it(house: House, sink: Sink) -> None:
    sink.reply("/message", [json_reply({"errorDescription": "no Aabcdefgh here"}, 401)])
    fields = {"server": sink.url, "token": "Aabcdefgh"}
    answer = house.call("POST", "/connections", {"service": "gotify", "name": "Gotify", "fields": fields})
    assert answer.status_code == 422
    assert "no ••• here" in answer.text
    assert "Aabcdefgh" not in answer.text
