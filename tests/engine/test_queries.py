"""Queries before the filter: their rows are ingredients."""

import json

import pytest
import time_machine

from tests.support.embedded import LEASE, House, Json, die, notification, web_request
from tests.support.sink import Reply, Sink


def query(url: str, **more: object) -> Json:
    """A query that asks a URL."""
    return {"service": "webhooks", "query": "web_request", "fields": {"url": url}, **more}


def test_rows_are_ingredients_of_filter_and_actions(house: House, sink: Sink) -> None:
    sink.reply("/weather", [Reply(body=b'{"degrees": 21.5}')])
    house.make_applet(
        queries=[query(sink.url + "/weather?at={{Value1}}")],
        filter="(query1[0].Body | fromjson).degrees > 20",
        actions=[notification("{{ (query1[0].Body | fromjson).degrees }} in {{Value1}}, {{ query1[0].StatusCode }}")],
    )
    house.fire(query={"value1": "the kitchen"})
    assert house.messages() == ["21.5 in the kitchen, 200"]
    assert sink.requests[0].path == "/weather?at=the%20kitchen"
    item = house.execution()
    assert [(a["kind"], a["action"], a["service"], a["name"], a["outcome"]) for a in item["attempts"]] == [
        ("query", 0, "webhooks", "web_request", "succeeded"),
        ("action", 0, "notifications", "send_notification", "succeeded"),
    ]
    assert item["queries"][0][0]["Body"] == '{"degrees": 21.5}'


def test_a_query_may_use_the_one_before_and_have_a_name(house: House, sink: Sink) -> None:
    sink.reply("/one", [Reply(body=b"42")])
    house.make_applet(
        queries=[query(sink.url + "/one", name="answer"), query(sink.url + "/two?x={{ answer[0].Body }}")],
        actions=[notification("{{ answer | length }} {{ query2[0].Body }}")],
    )
    house.fire()
    assert house.messages() == ["1 ok"]
    assert [request.path for request in sink.requests] == ["/one", "/two?x=42"]


def test_a_filter_that_refuses_comes_after_the_queries(house: House, sink: Sink) -> None:
    house.make_applet(queries=[query(sink.url)], filter="query1[0].Body != 'ok'")
    house.fire()
    house.work()
    assert house.execution()["state"] == "skipped"
    assert len(sink.requests) == 1


def test_a_query_that_fails_ends_the_execution_before_its_actions(house: House, sink: Sink) -> None:
    sink.reply("/", [Reply(404)])
    house.make_applet(queries=[query(sink.url)])
    house.fire()
    assert house.messages() == []
    item = house.execution()
    assert item["state"] == "failed"
    assert item["reason"].startswith("Nothing was run, because query 1 failed. The target answered 404")


def test_a_query_is_tried_again_and_what_was_answered_is_kept(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    """R6 for queries; without an answer they may always be repeated."""
    sink.reply("/two", [Reply(503), Reply(close=True), Reply(body=b"at last")])
    house.make_applet(
        queries=[query(sink.url + "/one"), query(sink.url + "/two")],
        actions=[notification("{{ query1[0].Body }} {{ query2[0].Body }}")],
    )
    house.fire()
    house.work()
    for _ in range(2):
        item = house.execution()
        assert item["state"] == "waiting"
        clock.move_to(item["due_at"])
        house.run(item["execution_id"])
    assert house.messages() == ["ok at last"]
    assert [request.path for request in sink.requests] == ["/one", "/two", "/two", "/two"]
    assert [a["outcome"] for a in house.execution()["attempts"]] == [
        "succeeded",
        "retry",
        "retry",
        "succeeded",
        "succeeded",
    ]


def test_an_answer_that_is_too_long_is_told(house: House, sink: Sink) -> None:
    sink.reply("/", [Reply(body=b"x" * 30_000)])
    house.make_applet(queries=[query(sink.url)])
    house.fire()
    house.work()
    assert "longer than" in house.execution()["reason"]


def test_what_the_database_refuses_is_replaced(house: House, sink: Sink) -> None:
    sink.reply("/", [Reply(body=b"a\x00b")])
    house.make_applet(queries=[query(sink.url)], actions=[notification("{{ query1[0].Body }}")])
    house.fire()
    assert house.messages() == ["a\ufffdb"]


def test_answers_are_kept_while_an_action_waits(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/a", [Reply(503), Reply()])
    house.make_applet(queries=[query(sink.url + "/q")], actions=[web_request(sink.url + "/a?b={{query1[0].Body}}")])
    house.fire()
    house.work()
    item = house.execution()
    clock.move_to(item["due_at"])
    house.run(item["execution_id"])
    assert [request.path for request in sink.requests] == ["/q", "/a?b=ok", "/a?b=ok"]
    assert house.execution()["state"] == "succeeded"


def test_a_worker_that_dies_after_the_queries_asks_them_again(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.make_applet(queries=[query(sink.url + "/q")], actions=[web_request(sink.url + "/a")])
    house.fire()
    execution = house.activity()[0]["execution_id"]
    die(house, execution, "prepare", monkeypatch)
    clock.shift(LEASE + 1)
    assert house.tick().overdue == 1
    house.work()
    assert [request.path for request in sink.requests] == ["/q", "/q", "/a"]


@pytest.mark.parametrize("changed", ["actions", "queries"])
def test_an_edit_while_a_query_is_tried_again_counts(
    house: House, sink: Sink, clock: time_machine.Traveller, changed: str
) -> None:
    """No action has begun: the execution goes on with the applet as it is, and asks queries that are others anew."""
    sink.reply("/two", [Reply(503), Reply(body=b"two")])
    made = house.make_applet(
        queries=[query(sink.url + "/one"), query(sink.url + "/two")], actions=[notification("{{ query1[0].Body }}")]
    )
    house.fire()
    house.work()
    edit = {
        "actions": {"actions": [notification("new {{ query1[0].Body }} {{ query2[0].Body }}")]},
        "queries": {"queries": [query(sink.url + "/two"), query(sink.url + "/one")]},
    }
    assert house.call("PATCH", f"/applets/{made['id']}", edit[changed]).status_code == 200
    clock.move_to(house.execution()["due_at"])
    house.run(house.execution()["execution_id"])
    assert house.messages() == [{"actions": "new ok two", "queries": "two"}[changed]]
    asked = [request.path for request in sink.requests]
    assert asked == ["/one", "/two", "/two"] + (["/one"] if changed == "queries" else [])


def test_bad_queries_are_named(house: House, sink: Sink) -> None:
    for queries, field in (
        ([{"service": "nope", "query": "x"}], "queries.0.service"),
        ([{"service": "webhooks", "query": "x"}], "queries.0.query"),
        ([query("ftp://example.org")], "queries.0.fields.url"),
        ([query("https://example.org/{{")], "queries.0.fields.url"),
        ([query(sink.url), query(sink.url, name="query1")], "queries.1.name"),
        ([query(sink.url, name="Value1")], "queries.0.name"),
        ([query(sink.url, name="not a name")], "queries.0.name"),
        ([query(sink.url)] * 6, "queries"),
    ):
        answer = house.call(
            "POST",
            "/applets",
            json.loads(json.dumps({"name": "x", "trigger": TRIGGER, "queries": queries, "actions": [notification()]})),
        )
        assert answer.status_code == 422, queries
        assert answer.json()["errors"][0]["field"] == field, answer.text


TRIGGER = {"service": "webhooks", "trigger": "event", "fields": {"event": "door"}}


def test_rows_that_repeat_the_token_do_not_show_it(house: House, sink: Sink) -> None:
    token = "llat-abcdefgh"
    state = {"state": token, "entity_id": "light.a", "attributes": {"friendly_name": f"My {token}", token: 1}}
    sink.reply("/api/", [Reply(body=b'{"message": "API running."}')])
    sink.reply("/api/states/light.a", [Reply(body=json.dumps(state).encode())])
    fields = {"url": sink.url, "token": token}
    made = house.call("POST", "/connections", {"service": "home_assistant", "name": "Home", "fields": fields}).json()
    asked = {
        "service": "home_assistant",
        "query": "get_state",
        "fields": {"entity": "light.a"},
        "connection": made["id"],
    }
    house.make_applet(queries=[asked], actions=[notification("{{ query1[0].FriendlyName }}")])
    house.fire()
    assert house.messages() == ["My •••"]
    item = house.execution()
    assert item["queries"][0][0]["State"] == "•••"
    assert token not in json.dumps(item)
