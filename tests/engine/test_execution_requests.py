"""The request that leaves: templates encoded for their place, headers, secrets."""

import json
from urllib.parse import unquote_plus

import pytest

from tests.support.embedded import House, web_request
from tests.support.sink import Sink
from whenthen.engine.identity import parse_execution_id
from whenthen.store.reservations import COPIED_INGREDIENTS

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


@pytest.mark.parametrize("length", [300, COPIED_INGREDIENTS, 5_000, 100_000])
@pytest.mark.parametrize("kind", ["event", "json_event"])
def test_long_values_arrive_whole(house: House, sink: Sink, kind: str, length: int) -> None:
    """D11: what is too long to be copied into the execution is read from the event, and not a character differs."""
    value = (NASTY * (length // len(NASTY) + 1))[:length]
    body = json.dumps({"value1": value}, ensure_ascii=False)
    template = {"event": "{{Value1}}", "json_event": "{{JsonPayload}}"}[kind]
    for _ in range(2):
        house.make_applet(kind=kind, actions=[web_request(sink.url, content_type="text/plain", body=template)])
    form = {"event": "", "json_event": "/json"}[kind]
    answer = house.hooks.post(
        f"/trigger/door{form}/with/key/{house.webhook_key}",
        content=body.encode(),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200
    (slot,) = {execution["execution_id"].partition(".")[0] for execution in house.activity()}
    stored = house.table(f"SELECT ingredients FROM executions_{slot}")
    (event,) = house.table("SELECT ingredients FROM trigger_events")
    copied = event["ingredients"] if len(event["ingredients"]) <= COPIED_INGREDIENTS else ""
    assert [row["ingredients"] for row in stored] == [copied] * 2
    assert bool(copied) == (length < COPIED_INGREDIENTS)
    assert house.work() == 2
    expected = {"event": value, "json_event": body}[kind]
    assert [request.body.decode() for request in sink.requests] == [expected] * 2
    for item in house.activity():
        assert item["state"] == "succeeded"
        shown = house.execution(item["execution_id"])["ingredients"]
        assert shown[{"event": "Value1", "json_event": "JsonPayload"}[kind]] == expected


def test_a_long_event_that_is_not_there_is_told(house: House, sink: Sink) -> None:
    house.make_applet(actions=[web_request(sink.url)])
    house.fire(query={"value1": "short"})
    house.fire(method="POST", json={"value1": "x" * 5_000})
    house.table("DELETE FROM trigger_events")
    assert house.work() == 2
    assert {(item["state"], item["reason"]) for item in house.activity()} == {
        ("succeeded", ""),
        ("failed", "The event is not in the database."),
    }
    assert [json.loads(request.body) for request in sink.requests] == [{"said": "short"}]


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


def test_what_a_template_makes_of_a_url_is_checked(house: House, sink: Sink) -> None:
    house.make_applet(actions=[web_request("{{Value1}}")])
    for value in (
        "",
        "ftp://x/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://u:p@127.0.0.1/",
        "http://{{/",
        "x",
    ):
        house.fire(query={"value1": value})
        house.work()
        item = house.execution()
        assert item["state"] == "failed", value
        assert item["reason"]
    house.fire(query={"value1": f"{sink.url}/a b?c=d"})
    house.work()
    assert [request.path for request in sink.requests] == ["/a%20b?c=d"]
