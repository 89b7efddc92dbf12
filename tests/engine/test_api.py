"""The management API: applets, errors, and who may see what."""

import json
from typing import Any

import pytest

from tests.support.embedded import House, applet, notification, web_request


def fields_of(answer: Any) -> list[str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return [error["field"] for error in answer.json().get("errors", [])]


def test_an_applet_from_making_to_deleting(house: House) -> None:
    wanted = applet(filter="Value1 == 'open'", actions=[web_request("https://example.org/{{Value1}}")])
    answer = house.call("POST", "/applets", wanted)
    assert answer.status_code == 201
    made = answer.json()
    assert {**made, **wanted, "actions": made["actions"]} == made
    assert made["actions"][0]["fields"]["method"] == "POST"
    assert answer.headers["etag"] == '"1"'
    one = house.call("GET", f"/applets/{made['id']}")
    assert (one.json(), one.headers["etag"]) == (made, '"1"')
    assert house.call("GET", "/applets").json() == {"items": [made], "next": None}

    changed = house.call("PATCH", f"/applets/{made['id']}", {"name": "  Gate  ", "filter": None})
    assert changed.status_code == 200
    assert changed.headers["etag"] == '"2"'
    assert changed.json() == {
        **made,
        "name": "Gate",
        "filter": None,
        "version": 2,
        "updated_at": changed.json()["updated_at"],
    }

    deleted = house.call("DELETE", f"/applets/{made['id']}")
    assert (deleted.status_code, deleted.content) == (204, b"")
    for method in ("GET", "PATCH", "DELETE"):
        assert house.call(method, f"/applets/{made['id']}", {} if method == "PATCH" else None).status_code == 404
    assert house.call("GET", "/applets").json()["items"] == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": 1}, "name"),
        ({"filter": "Value1 =="}, "filter"),
        ({"filter": "'\x00' == Value1"}, "filter"),
        ({"filter": "x" * 5000}, "filter"),
        ({"enabled": "perhaps"}, "enabled"),
        ({"id": "mine"}, "id"),
        ({"actions": []}, "actions"),
        ({"actions": [notification()] * 11}, "actions"),
        ({"event": ""}, "trigger.fields.event"),
        ({"event": "a/b"}, "trigger.fields.event"),
        ({"event": "a\nb"}, "trigger.fields.event"),
        ({"event": 7}, "trigger.fields.event"),
        ({"trigger": {"service": "no", "trigger": "event"}}, "trigger.service"),
        ({"trigger": {"service": "webhooks", "trigger": "no"}}, "trigger.trigger"),
        ({"trigger": {"service": "webhooks", "trigger": "event"}}, "trigger.fields.event"),
        ({"trigger": {"service": "Web-hooks!", "trigger": "event"}}, "trigger.service"),
        ({"trigger": "event"}, "trigger"),
        ({"actions": [{"service": "no", "action": "no"}]}, "actions.0.service"),
        ({"actions": [notification(), {"service": "webhooks", "action": "no"}]}, "actions.1.action"),
        ({"actions": [web_request("")]}, "actions.0.fields.url"),
        ({"actions": [web_request("ftp://example.org")]}, "actions.0.fields.url"),
        ({"actions": [web_request("https://a:b@example.org")]}, "actions.0.fields.url"),
        ({"actions": [web_request("https://x", method="BREW")]}, "actions.0.fields.method"),
        ({"actions": [web_request("https://x", additional_headers="Host: y")]}, "actions.0.fields.additional_headers"),
        ({"actions": [web_request("https://x", additional_headers="nonsense")]}, "actions.0.fields.additional_headers"),
        ({"actions": [web_request("https://x", body="{{")]}, "actions.0.fields.body"),
        ({"actions": [web_request("https://x", surprise=1)]}, "actions.0.fields.surprise"),
        ({"actions": [notification(), notification("{{ 1 +")]}, "actions.1.fields.message"),
        ({"actions": [notification("")]}, "actions.0.fields.message"),
        ({"actions": [notification("a\x00b")]}, "actions.0.fields.message"),
        ({"actions": [notification(link="javascript:alert(1)")]}, "actions.0.fields.link"),
        ({"queries": [{"service": "webhooks", "query": "q"}]}, "queries.0.query"),
        ({"queries": [{"service": "no", "query": "q"}]}, "queries.0.service"),
    ],
)
def test_what_is_wrong_is_named(shared: House, changes: dict[str, Any], field: str) -> None:
    answer = shared.call("POST", "/applets", applet(**changes))
    assert answer.status_code == 422
    assert fields_of(answer) == [field]
    message = answer.json()["errors"][0]["message"]
    assert message
    assert not message.startswith("Value error")
    assert shared.call("GET", "/applets").json()["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b'"x"',
        b"\xff",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"1" * 5000,
        b"\xef\xbb\xbf{",
    ],
)
@pytest.mark.parametrize("path", ["/applets", "/keys"])
def test_malformed_json(shared: House, path: str, body: bytes) -> None:
    answer = shared.call("POST", path, content=body)
    assert answer.status_code == 400
    assert answer.json()["title"] == "Bad request"
    assert fields_of(answer) == []


@pytest.mark.parametrize(
    "body",
    [
        '{"\\ud800": 1}',
        '{"name": "\\ud800"}',
        '{"name": "a", "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "\\ud800"}}, '
        '"actions": [{"service": "webhooks", "action": "make_web_request", "fields": {"\\udfff": 1}}]}',
        '{"name": NaN}',
        '{"name": 1e999, "a\\u0000": 1}',
        json.dumps(applet(actions=[web_request("https://x", repeatable=json.loads("[" * 900 + "]" * 900))])),
    ],
)
def test_hostile_json_is_refused_in_words(shared: House, body: str) -> None:
    answer = shared.call("POST", "/applets", content=body.encode())
    assert answer.status_code in (400, 422)
    assert answer.json()["status"] == answer.status_code


def test_too_large(shared: House) -> None:
    answer = shared.call("POST", "/applets", content=b" " * (512 * 1024 + 1))
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_change_needs_the_version_that_was_read(house: House) -> None:
    made = house.make_applet()
    path = f"/applets/{made['id']}"
    assert house.call("PATCH", path, {"name": "A"}, headers={"If-Match": '"1"'}).status_code == 200
    for tag in ('"1"', 'W/"1"', '"3"', '"999999999999999999999"'):
        for method, body in (("PATCH", {"name": "B"}), ("DELETE", None)):
            answer = house.call(method, path, body, headers={"If-Match": tag})
            assert answer.status_code == 409
            assert answer.headers["content-type"] == "application/problem+json"
    for tag in ("two", '"-1"', '""', '"1", "2"', "'2'"):
        assert house.call("PATCH", path, {"name": "B"}, headers={"If-Match": tag}).status_code == 422
    for tag in ('"2"', 'W/"3"', "*", " * "):
        assert house.call("PATCH", path, {"name": "C"}, headers={"If-Match": tag}).status_code == 200
    assert house.call("DELETE", path, headers={"If-Match": '"6"'}).status_code == 204


def test_a_refused_change_changes_nothing(house: House) -> None:
    made = house.make_applet()
    path = f"/applets/{made['id']}"
    bodies: tuple[dict[str, Any], ...] = (
        {"id": "x"}, {"version": 7}, {"name": None}, {"trigger": {}}, {"actions": [{}]}, {"filter": "("},
    )  # fmt: skip
    for body in bodies:
        assert house.call("PATCH", path, body).status_code == 422
    assert house.call("GET", path).json() == made
    assert house.call("PATCH", path, {}).json()["version"] == 2
