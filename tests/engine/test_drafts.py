"""Applets that are not stored yet: all that is wrong at once, slips, and a dry run."""

import json
from typing import Any

import pytest

from tests.support.embedded import House, Json, applet, notification, web_request
from whenthen.engine.drafts import look
from whenthen.engine.validation import validate
from whenthen.errors import FieldError
from whenthen.model.applet import Applet


def problems(document: Json) -> dict[str, str]:
    found = look(document, zone="UTC", connections={}).problems
    return {problem.field: problem.message for problem in found}


def warnings(**changes: Any) -> list[tuple[str, str]]:
    found = look(applet(**changes), zone="UTC", connections={}).warnings
    return [(warning.field, warning.message.partition(" ")[0]) for warning in found]


SLACK = {"service": "slack", "action": "post_message", "fields": {"channel": "#a", "text": "x"}}
QUERY = {"service": "webhooks", "query": "web_request", "fields": {"url": "https://example.org"}}

BROKEN = [
    ({}, ["name", "trigger", "actions"]),
    (
        {"name": "A", "trigger": 1, "actions": {}, "filter": 3, "surprise": 1},
        ["trigger", "filter", "actions", "surprise"],
    ),
    (
        # Parts that can't be read don't hide what is wrong with the others.
        {"trigger": {"service": "webhooks", "trigger": "event", "fields": {}}, "actions": [1, web_request("ftp://x")]},
        ["name", "actions.0", "trigger.fields.event", "actions.1.fields.url"],
    ),
    (
        applet(
            event="a/b",
            filter="Value1 ==",
            queries=[{**QUERY, "name": "Value1"}, {"service": "no", "query": "q"}],
            actions=[
                web_request("{{", method="BREW", body="{{ 1 +", more=1),
                {"service": "webhooks", "action": "no"},
                {**notification("{{"), "delay": {"until": "soon"}},
                {**notification(), "connection": "0" * 32},
                SLACK,
            ],
        ),
        [
            "trigger.fields.event",
            "queries.0.name",
            "queries.1.service",
            "filter",
            "actions.0.fields.method",
            "actions.0.fields.more",
            "actions.0.fields.url",
            "actions.0.fields.body",
            "actions.1.action",
            "actions.2.fields.message",
            "actions.2.delay.until",
            "actions.3.connection",
            "actions.4.connection",
        ],
    ),
    (
        {**applet(), "actions": [notification("{{")] * 12},
        ["actions", *(f"actions.{index}.fields.message" for index in range(10))],
    ),
]


@pytest.mark.parametrize(("document", "fields"), BROKEN)
def test_all_that_is_wrong_is_told_at_once(document: Json, fields: list[str]) -> None:
    found = problems(document)
    assert list(found) == fields
    assert all(found.values())
    assert not any(message.startswith("Value error") for message in found.values())


def test_the_first_problem_is_the_one_that_refuses_the_applet() -> None:
    document = BROKEN[3][0]
    (field, message), *_ = problems(document).items()
    with pytest.raises(FieldError) as raised:
        validate(Applet.model_validate(document), zone="UTC", connections={})
    assert (raised.value.field, raised.value.message) == (field, message)


WARNED: list[tuple[Json, list[tuple[str, str]]]] = [
    ({"actions": [notification("{{Value1}} {{ EventName | upper }}")], "filter": "Value1 == 'a'"}, []),
    ({"actions": [notification("{{Valu1}} {{EventName}}")]}, [("actions.0.fields.message", "Valu1")]),
    ({"filter": "Value4 == 'a' and Value1"}, [("filter", "Value4")]),
    ({"kind": "json_event", "actions": [notification("{{ (JsonPayload|fromjson).Value1 }}")]}, []),
    (
        # A query gives its rows to what comes after it.
        {
            "queries": [{**QUERY, "fields": {"url": "https://example.org/{{query2}}"}}, {**QUERY, "name": "rows"}],
            "filter": "query1[0].Body and query2",
            "actions": [{**notification("{{ rows[0].Body }}"), "delay": {"until": "{{When}}"}}],
        },
        [("queries.0.fields.url", "query2"), ("filter", "query2"), ("actions.0.delay.until", "When")],
    ),
    # What can't be read has a problem of its own.
    ({"filter": "Value4 ==", "actions": [notification("{{ Value4")]}, []),
    ({"trigger": {"service": "no", "trigger": "no"}, "actions": [notification("{{Value4}}")]}, []),
]


@pytest.mark.parametrize(("changes", "expected"), WARNED)
def test_an_ingredient_that_nothing_gives_is_a_warning(changes: Json, expected: list[tuple[str, str]]) -> None:
    assert warnings(**changes) == expected


def test_a_slip_names_what_was_meant() -> None:
    (warning,) = look(applet(filter="Valu1"), zone="UTC", connections={}).warnings
    assert warning.message == "Valu1 is no ingredient here and will be empty text; did you mean Value1?"


def test_a_trigger_that_was_valid_once_is_taken_as_it_is() -> None:
    document = applet(trigger={"service": "gone", "trigger": "gone", "fields": {"x": 1}})
    known = Applet.model_validate(document).trigger
    assert look(document, zone="UTC", connections={}, known=known).must_be_good().trigger == known


def test_a_dry_run_of_an_applet_that_is_not_stored(house: House) -> None:
    draft = applet(actions=[web_request("https://example.org/{{Value1}}"), notification("{{Valu2}}")])
    answer = house.call("POST", "/try", {"applet": draft, "ingredients": {"Value1": "a b"}})
    assert answer.status_code == 200, answer.text
    trial = answer.json()
    assert trial["actions"][0]["sends"]["url"] == "https://example.org/a%20b"
    assert [warning["field"] for warning in trial["warnings"]] == ["applet.actions.1.fields.message"]
    stored = house.call("POST", f"/applets/{house.make_applet(**draft)['id']}/try", {"ingredients": {"Value1": "a b"}})
    assert {**stored.json(), "warnings": trial["warnings"]} == trial


def test_a_dry_run_tells_all_that_is_wrong(house: House) -> None:
    draft = {**applet(event="a/b", actions=[web_request("ftp://x")]), "name": ""}
    answer = house.call("POST", "/try", {"applet": draft})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [
        "applet.name", "applet.trigger.fields.event", "applet.actions.0.fields.url",
    ]  # fmt: skip
    assert house.call("POST", "/try", {"ingredients": {}}).json()["errors"][0]["field"] == "applet"


def test_a_draft_may_name_the_connections_of_its_owner_alone(house: House) -> None:
    fields = {"scheme": "github", "secret": "s" * 20}
    made = house.call("POST", "/connections", {"service": "signed_webhooks", "name": "Mine", "fields": fields}).json()
    draft = applet(
        trigger={"service": "signed_webhooks", "trigger": "received", "fields": {}, "connection": made["id"]}
    )
    assert house.call("POST", "/try", {"applet": draft}).status_code == 200
    house.table(f"UPDATE connections SET owner_id = 'other' WHERE connection_id = CAST('{made['id']}' AS TEXT)")
    answer = house.call("POST", "/try", {"applet": draft})
    assert answer.json()["errors"] == [{"field": "applet.trigger.connection", "message": "there is no such connection"}]


@pytest.mark.parametrize(
    "body",
    [
        '{"applet": {"\\ud800": 1}}',
        '{"applet": {"name": "\\ud800", "trigger": {"service": "\\udfff"}}}',
        '{"applet": {"name": NaN, "actions": [NaN, [], null, {"fields": {"\\udfff": 1}}], "queries": "abc"}}',
        json.dumps({"applet": applet(actions=[web_request("https://x", more=json.loads("[" * 900 + "]" * 900))])}),
    ],
)
def test_hostile_drafts_are_refused_in_words(house: House, body: str) -> None:
    answer = house.call("POST", "/try", content=body.encode())
    assert answer.status_code == 422
    assert answer.json()["errors"]
