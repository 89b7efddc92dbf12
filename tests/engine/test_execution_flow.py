"""Webhook to worker to target: what is sent, what is recorded, what is shown."""

import json
import logging

import pytest

from tests.support.embedded import House, make_house, notification, web_request
from tests.support.sink import Reply, Sink

NASTY = 'He said "hi"\nC:\\new {{Value2}} <b> ü 💥'


def test_a_missing_ingredient_is_empty_and_noted(house: House) -> None:
    house.make_applet(actions=[notification("[{{Nothing}}]{{Value3}}")])
    house.fire()
    house.work()
    assert house.inbox()[0]["message"] == "[]"
    notes = house.execution()["attempts"][0]["notes"]
    assert len(notes) == 1
    assert "Nothing" in notes[0]


@pytest.mark.parametrize(
    ("text", "value", "state"),
    [
        ("Value1 == 'open'", "open", "succeeded"),
        ("Value1 == 'open'", "shut", "skipped"),
        ("Nothing == 'x'", "", "skipped"),
        ("Value1 | float > 20", "x", "failed"),
        ("Value1", "false", "skipped"),
    ],
)
def test_the_filter(house: House, sink: Sink, text: str, value: str, state: str) -> None:
    house.make_applet(filter=text, actions=[web_request(sink.url)])
    house.fire(query={"value1": value})
    house.work()
    item = house.execution()
    assert item["state"] == state
    assert bool(item["reason"]) == (state != "succeeded")
    assert len(sink.requests) == (state == "succeeded")
    if state == "skipped":
        assert text in item["reason"]


@pytest.mark.parametrize("how", ["off", "deleted"])
def test_an_applet_that_went_after_the_event(house: House, sink: Sink, how: str) -> None:
    made = house.make_applet(actions=[web_request(sink.url)])
    house.fire()
    if how == "off":
        house.call("PATCH", f"/applets/{made['id']}", {"enabled": False})
    else:
        house.call("DELETE", f"/applets/{made['id']}")
    house.work()
    item = house.execution()
    assert (item["state"], how in item["reason"]) == ("skipped", True)
    assert sink.requests == []


def test_several_actions_in_order_and_a_failed_one_stops_no_other(house: House, sink: Sink) -> None:
    sink.reply("/2", [Reply(404)])
    actions = [web_request(f"{sink.url}/{n}") for n in (1, 2, 3)]
    house.make_applet(actions=[*actions, notification("done"), web_request(f"{sink.url}/{{{{1/0}}}}"), actions[0]])
    house.fire()
    house.work()
    item = house.execution()
    assert [request.path for request in sink.requests] == ["/1", "/2", "/3", "/1"]
    assert [request.key[-2:] for request in sink.requests] == [".0", ".1", ".2", ".5"]
    assert [attempt["outcome"] for attempt in item["attempts"]] == [
        "succeeded", "failed", "succeeded", "succeeded", "failed", "succeeded",
    ]  # fmt: skip
    assert (item["state"], item["reason"]) == (
        "failed",
        "The target answered 404 Not Found: there is nothing at this address.",
    )
    assert len(house.inbox()) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_a_refusal_is_not_repeated(house: House, sink: Sink, status: int) -> None:
    sink.reply("/", [Reply(status, body=b"no")])
    house.make_applet(actions=[web_request(sink.url)])
    house.fire()
    house.work()
    house.tick()
    assert house.work() == 0
    assert len(sink.requests) == 1
    assert house.execution()["state"] == "failed"


def test_secrets_are_masked_and_stay_out_of_logs(house: House, sink: Sink, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    sink.reply("/", [Reply(503), Reply(200)])
    action = web_request(
        f"{sink.url}/?token=hush1&apikey={{{{Value1}}}}&q=seen",
        additional_headers="Authorization: Bearer hush2",
        body="",
    )
    house.make_applet(actions=[action])
    house.fire(query={"value1": "hush3"}, headers={"Authorization": "Basic hush4"})
    house.work()
    assert sink.requests[0].headers["authorization"] == "Bearer hush2"
    assert sink.requests[0].path == "/?token=hush1&apikey=hush3&q=seen"
    shown = json.dumps(house.execution()["attempts"], ensure_ascii=False)
    assert "seen" in shown
    for secret in ("hush1", "hush2", "hush3", "hush4"):
        assert secret not in shown
    # The test's own client logs what it asks for.
    logged = [record.getMessage() + str(vars(record)) for record in caplog.records if record.name != "httpx2"]
    for secret in ("hush", house.webhook_key, house.api_key):
        assert not [line for line in logged if secret in line]


def test_long_and_binary_answers_are_cut(house: House, sink: Sink) -> None:
    for body in (b"x" * 3_000_000, b"\x00\xff\xfe" * 2000, "💥".encode() * 5000):
        sink.requests.clear()
        sink.reply("/", [Reply(200, body=body)])
        house.make_applet(actions=[web_request(sink.url, body="y" * 5000)], event="x")
        house.fire("x")
        house.work()
        attempt = house.execution()["attempts"][0]
        assert attempt["outcome"] == "succeeded"
        assert len(attempt["answer"]["body"]) <= 1025
        assert len(attempt["request"]["body"]) <= 1025
        for item in house.call("GET", "/applets").json()["items"]:
            house.call("DELETE", f"/applets/{item['id']}")


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "http://localhost:{port}", "http://169.254.169.254/latest"])
def test_private_addresses_are_refused(sink: Sink, url: str) -> None:
    with make_house(WHENTHEN_ALLOWED_NETWORKS="") as house:
        house.make_applet(actions=[web_request(url.format(port=sink.url.rpartition(":")[2]))])
        house.fire()
        house.work()
        item = house.execution()
    assert item["state"] == "failed"
    assert "not on the public internet" in item["reason"]
    assert sink.requests == []


def test_a_poisoned_value_does_not_harm_its_neighbours(house: House, sink: Sink) -> None:
    """A NUL from inside JSON can't be stored: that action fails, the batch goes on."""
    house.make_applet(
        kind="json_event", actions=[notification("{{(JsonPayload | fromjson).a}}"), web_request(sink.url)]
    )
    house.make_applet(actions=[web_request(sink.url)])
    path = f"/trigger/door/json/with/key/{house.webhook_key}"
    assert house.hooks.post(path, content=b'{"a": "x\\u0000y"}').status_code == 200
    house.fire()
    house.work()
    states = {item["state"] for item in house.activity()}
    assert states == {"failed", "succeeded"}
    assert len(sink.requests) == 2
