"""Webhook to worker to target: what is sent, what is recorded, what is shown."""

import json
import logging
from urllib.parse import unquote_plus

import pytest
from tests.support.embedded import House, make_house, notification, web_request
from tests.support.sink import Reply, Sink
from whenthen.engine.identity import parse_execution_id

NASTY = 'He said "hi"\nC:\\new {{Value2}} <b> ü 💥'


def test_the_request_is_exactly_what_the_applet_says(house: House, sink: Sink) -> None:
    action = web_request(
        f"{sink.url}/in/{{{{Value1}}}}?q={{{{Value2}}}}&fixed=a%20b#part",
        method="PATCH",
        additional_headers="X-One:  {{Value3}} \n",
    )
    made = house.make_applet(actions=[action])
    house.fire(query={"value1": "a/b", "value2": "x&y=ü", "value3": "a\r\nX-Evil: 1"})
    assert house.work() == 1
    (request,) = sink.requests
    assert request.method == "PATCH"
    assert request.path == "/in/a%2Fb?q=x%26y%3D%C3%BC&fixed=a%20b"
    assert json.loads(request.body) == {"said": "a/b"}
    item = house.execution()
    assert request.headers["x-one"] == "a X-Evil: 1"
    assert "x-evil" not in request.headers
    assert request.headers["content-type"] == "application/json"
    assert request.key == f"{item['execution_id']}.0"
    assert parse_execution_id(item["execution_id"]).applet_id == made["id"]
    assert (item["state"], item["reason"]) == ("succeeded", "")
    (attempt,) = item["attempts"]
    assert attempt["outcome"] == "succeeded"
    assert (attempt["number"], attempt["action"]) == (1, 0)
    assert attempt["request"]["url"] == f"{sink.url}{request.path}#part"
    assert attempt["answer"]["status"] == 200
    assert attempt["answer"]["body"] == "ok"


def test_several_headers_with_ingredients(house: House, sink: Sink) -> None:
    headers = "X-One: {{Value1}}\nX-Two: two\r\n\nX-Three: {{Value2}}"
    house.make_applet(actions=[web_request(sink.url, additional_headers=headers)])
    house.fire(query={"value1": "a\nX-Evil: 1", "value2": "c"})
    house.work()
    sent = sink.requests[0].headers
    assert (sent["x-one"], sent["x-two"], sent["x-three"]) == ("a X-Evil: 1", "two", "c")
    assert "x-evil" not in sent


def test_several_fixed_headers(house: House, sink: Sink) -> None:
    house.make_applet(actions=[web_request(sink.url, additional_headers="X-One: 1\r\n\nX-Two: 2:3\n")])
    house.fire()
    house.work()
    assert (sink.requests[0].headers["x-one"], sink.requests[0].headers["x-two"]) == ("1", "2:3")


@pytest.mark.parametrize(
    ("content_type", "template", "decode"),
    [
        ("application/json", '{"said": "{{Value1}}"}', lambda body: json.loads(body)["said"]),
        ("application/json", '{"said": {{Value1}}}', lambda body: json.loads(body)["said"]),
        ("application/x-www-form-urlencoded", "said={{Value1}}", lambda body: unquote_plus(body.decode())[5:]),
        ("text/plain", "{{Value1}}", lambda body: body.decode()),
    ],
)
def test_values_arrive_whole(house: House, sink: Sink, content_type: str, template: str, decode: object) -> None:
    """E01: encoded for their place; and what looks like a template is not one."""
    house.make_applet(actions=[web_request(sink.url, content_type=content_type, body=template)])
    house.fire(method="POST", json={"value1": NASTY, "value2": "EXPANDED"})
    house.work()
    assert callable(decode)
    assert decode(sink.requests[0].body) == NASTY


def test_html_is_escaped(house: House, sink: Sink) -> None:
    house.make_applet(actions=[web_request(sink.url, content_type="text/html", body="<p>{{Value1}}</p>")])
    house.fire(query={"value1": "<script>'\"&"})
    house.work()
    assert sink.requests[0].body == b"<p>&lt;script&gt;&#x27;&quot;&amp;</p>"
    assert sink.requests[0].headers["content-type"] == "text/html; charset=utf-8"


def test_template_text_is_kept_as_written(house: House, sink: Sink) -> None:
    """E02: a typed backslash and n stay two characters; E05: a real line break stays one."""
    house.make_applet(
        actions=[
            web_request(sink.url, body='{"text": "Name:\\n {{Value1}}"}'),
            web_request(sink.url, content_type="text/plain", body="one\\n{{Value1}}\ntwo"),
        ]
    )
    house.fire(query={"value1": "Ada\\n"})
    house.work()
    assert sink.requests[0].body == b'{"text": "Name:\\n Ada\\\\n"}'
    assert sink.requests[1].body == b"one\\nAda\\n\ntwo"


def test_a_value_that_is_json_is_not_escaped_again(house: House, sink: Sink) -> None:
    """E07 and D09: as a value it is inserted as it is, digits and all; inside a string it is a string."""
    payload = '{"id": 9007199254740993, "x": [1.10, "ü"]}'
    body = '{"value": {{JsonPayload}}, "text": "{{JsonPayload}}"}'
    house.make_applet(kind="json_event", actions=[web_request(sink.url, body=body)])
    house.hooks.post(f"/trigger/door/json/with/key/{house.webhook_key}", content=payload.encode())
    house.work()
    sent = sink.requests[0].body.decode()
    assert sent.startswith(f'{{"value": {payload}, "text": "')
    assert json.loads(sent)["text"] == payload


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
    assert (item["state"], item["reason"]) == ("failed", "The target answered 404 Not Found.")
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


def test_secrets_are_masked_and_stay_out_of_logs(
    house: House, sink: Sink, caplog: pytest.LogCaptureFixture
) -> None:
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


def test_what_a_template_makes_of_a_url_is_checked(house: House, sink: Sink) -> None:
    house.make_applet(actions=[web_request("{{Value1}}")])
    for value in ("", "ftp://x/", "file:///etc/passwd", "javascript:alert(1)", "http://u:p@127.0.0.1/", "http://{{/", "x"):
        house.fire(query={"value1": value})
        house.work()
        item = house.execution()
        assert item["state"] == "failed", value
        assert item["reason"]
    house.fire(query={"value1": f"{sink.url}/a b?c=d"})
    house.work()
    assert [request.path for request in sink.requests] == ["/a%20b?c=d"]


def test_a_poisoned_value_does_not_harm_its_neighbours(house: House, sink: Sink) -> None:
    """A NUL from inside JSON can't be stored: that action fails, the batch goes on."""
    house.make_applet(kind="json_event", actions=[notification("{{(JsonPayload | fromjson).a}}"), web_request(sink.url)])
    house.make_applet(actions=[web_request(sink.url)])
    path = f"/trigger/door/json/with/key/{house.webhook_key}"
    assert house.hooks.post(path, content=b'{"a": "x\\u0000y"}').status_code == 200
    house.fire()
    house.work()
    states = {item["state"] for item in house.activity()}
    assert states == {"failed", "succeeded"}
    assert len(sink.requests) == 2
