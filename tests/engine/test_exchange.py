"""Applets as files: what is in one, and what becomes of it elsewhere."""

import copy
import json
from typing import Any

import pytest

from tests.support.embedded import House, Json, applet, make_house, notification, web_request
from tests.support.listing import Listing
from whenthen.engine import importing
from whenthen.engine.masking import MASK
from whenthen.store.errors import OutcomeUnknown

PARTNER = {
    "service": "partner",
    "trigger": "event",
    "fields": {
        "url": "https://partner.test",
        "trigger": "new_photo",
        "service_key": "hidden-key",
        "zone": "Asia/Tokyo",
    },
}
HOSTILE = "<b>\"'{{ \\ \u2028 😀 é 'quoted'\n\t"


def connect(house: House, name: str = "My hub") -> str:
    fields = {"scheme": "github", "secret": "s" * 20}
    answer = house.call("POST", "/connections", {"service": "signed_webhooks", "name": name, "fields": fields})
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["id"]
    return found


def signed(connection: str) -> Json:
    return {"service": "signed_webhooks", "trigger": "received", "fields": {"event_type": ""}, "connection": connection}


def exported(house: House, **query: str) -> Json:
    answer = house.call("GET", "/export", params=query)
    assert answer.status_code == 200
    document: Json = answer.json()
    return document


def imported(house: House, document: Json, **headers: str) -> Json:
    answer = house.call("POST", "/import", document, headers=headers)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


def applets(house: House) -> list[Json]:
    items: list[Json] = house.call("GET", "/applets").json()["items"]
    return items


def own(item: Json) -> Json:
    """What of an applet its owner has written."""
    return {k: v for k, v in item.items() if k not in ("id", "version", "created_at", "updated_at", "check", "enabled")}


def test_a_file_makes_the_same_applets_elsewhere(house: House) -> None:
    """Hostile texts and 64-bit numbers are in it as they were, and all of it is off."""
    house.make_applet(
        name=HOSTILE,
        filter="Value1 == '\"'",
        actions=[notification(f"a {HOSTILE[:4]} b"), web_request("https://e.org")],
    )
    house.make_applet(
        name="Later",
        cool_down_minutes=5,
        actions=[notification("9223372036854775807"), {**notification("x"), "delay": {"seconds": 60}}],
    )
    document = exported(house)
    assert document["whenthen"] == 1
    assert [item["name"] for item in document["applets"]] == ["Later", HOSTILE.strip()]
    assert document["connections"] == []
    with make_house() as other:
        made = imported(other, document)
        assert made["notes"] == []
        assert [own(item) for item in made["items"]] == [own(item) for item in document["applets"]]
        assert not any(item["enabled"] for item in made["items"])
        assert {item["id"] for item in applets(other)} == {item["id"] for item in made["items"]}
        other.fire()
        assert other.activity() == []
        for item in made["items"]:
            assert other.call("PATCH", f"/applets/{item['id']}", {"enabled": True}).status_code == 200
        other.fire(query={"value1": '"'})
        assert len(other.activity()) == 2
        again = exported(other)
        assert sorted(map(json.dumps, map(own, again["applets"]))) == sorted(
            map(json.dumps, map(own, document["applets"]))
        )


def test_one_of_them(house: House) -> None:
    house.make_applet(name="One")
    wanted = house.make_applet(name="Two")
    assert [item["id"] for item in exported(house, applet=wanted["id"])["applets"]] == [wanted["id"]]
    assert house.call("GET", "/export", params={"applet": "nothing"}).status_code == 404


def test_secrets_are_not_in_a_file_and_are_asked_for(house: House) -> None:
    house.make_applet(trigger=PARTNER, enabled=False)
    document = exported(house)
    assert "hidden-key" not in json.dumps(document)
    assert document["applets"][0]["trigger"]["fields"]["service_key"] == MASK
    made = imported(house, document)
    assert made["notes"] == [
        {"field": "applets.0.trigger.fields.service_key", "message": "is not in the file: enter it"}
    ]
    assert house.table("SELECT definition FROM applets WHERE enabled = FALSE")
    stored = house.table(f"SELECT definition FROM applets WHERE applet_id = '{made['items'][0]['id']}'")
    assert json.loads(stored[0]["definition"])["trigger"]["fields"]["service_key"] == ""


def test_connections_are_found_by_id_then_by_name(house: House) -> None:
    connection = connect(house)
    house.make_applet(trigger=signed(connection))
    document = exported(house)
    assert document["connections"] == [{"id": connection, "service": "signed_webhooks", "name": "My hub"}]
    assert "s" * 20 not in json.dumps(document)
    assert imported(house, document)["items"][0]["trigger"]["connection"] == connection
    with make_house() as other:
        there = connect(other)
        connect(other, "Another")
        made = imported(other, document)
        assert (made["items"][0]["trigger"]["connection"], made["notes"]) == (there, [])


@pytest.mark.parametrize("named", [True, False])
def test_without_its_connection_an_applet_stays_off_until_one_is_chosen(house: House, *, named: bool) -> None:
    house.make_applet(trigger=signed(connect(house)))
    document = exported(house)
    if not named:
        document["connections"] = []
    with make_house() as other:
        made = imported(other, document)
        (note,) = made["notes"]
        assert note["field"] == "applets.0.trigger.connection"
        assert note["message"].startswith("there is no connection")
        assert ("“My hub”" in note["message"]) is named
        (item,) = made["items"]
        assert item["trigger"].get("connection") is None
        on = other.call("PATCH", f"/applets/{item['id']}", {"enabled": True})
        assert (on.status_code, on.json()["errors"][0]["field"]) == (422, "trigger.connection")
        chosen = signed(connect(other, "New"))
        on = other.call("PATCH", f"/applets/{item['id']}", {"enabled": True, "trigger": chosen})
        assert (on.status_code, on.json()["enabled"]) == (200, True)
        assert other.call("DELETE", f"/applets/{item['id']}").status_code == 204


def test_a_source_is_asked_when_an_applet_is_turned_on(listing: Listing) -> None:
    """Given an import, then nobody is asked, and once it is on what is there already does not fire."""
    house = listing.house
    listing.show("a")
    made = imported(house, {"whenthen": 1, "applets": [applet(trigger=listing.trigger())]})["items"][0]
    assert listing.fetches == 0
    assert house.table("SELECT host FROM checks") == [{"host": "127.0.0.1"}]
    assert house.call("PATCH", f"/applets/{made['id']}", {"enabled": True}).status_code == 200
    assert listing.fetches == 1
    listing.show("b", "a")
    assert house.call("POST", f"/applets/{made['id']}/check").json()["fired"] == 1


def test_anothers_connection_is_none(house: House) -> None:
    """Given a file that names a connection of somebody else, then it is not used."""
    connection = connect(house)
    house.make_applet(trigger=signed(connection))
    document = exported(house)
    house.database.execute("UPDATE connections SET owner_id = 'stranger'")
    made = imported(house, document)
    assert [note["field"] for note in made["notes"]] == ["applets.0.trigger.connection"]


def test_all_that_is_wrong_is_told_and_nothing_is_stored(house: House) -> None:
    bad = [
        applet(),
        applet(actions=[web_request("no url"), notification("{{ broken")]),
        applet(name=""),
        applet(trigger={"service": "nowhere", "trigger": "x", "fields": {}}),
        {"name": 7, "trigger": [], "actions": "none"},
        applet(filter="Value1 ==", surprise=1),
    ]
    answer = house.call("POST", "/import", {"whenthen": 1, "applets": bad})
    fields = [error["field"] for error in answer.json()["errors"]]
    assert answer.status_code == 422
    for field in (
        "applets.1.actions.0.fields.url",
        "applets.1.actions.1.fields.message",
        "applets.2.name",
        "applets.3.trigger.service",
        "applets.4.name",
        "applets.4.trigger",
        "applets.4.actions",
        "applets.5.filter",
        "applets.5.surprise",
    ):
        assert field in fields, fields
    assert not [field for field in fields if field.startswith("applets.0")]
    assert applets(house) == []
    assert house.table("SELECT * FROM triggers") == []


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({}, "whenthen"),
        ({"whenthen": 2, "applets": [applet()]}, "whenthen"),
        ({"whenthen": 1}, "applets"),
        ({"whenthen": 1, "applets": []}, "applets"),
        ({"whenthen": 1, "applets": [applet()] * 201}, "applets"),
        ({"whenthen": 1, "applets": ["x"]}, "applets.0"),
        ({"whenthen": 1, "applets": {"name": "x"}}, "applets"),
        ({"whenthen": 1, "applets": [applet()], "connections": [{"id": 1}]}, "connections.0.id"),
    ],
)
def test_what_is_no_file_is_refused(house: House, document: Any, field: str) -> None:
    answer = house.call("POST", "/import", document)
    assert answer.status_code == 422
    assert field in [error["field"] for error in answer.json()["errors"]]


def test_the_same_file_with_the_same_key_is_stored_once(house: House) -> None:
    document = {"whenthen": 1, "applets": [applet(name="A"), applet(name="B")]}
    first = imported(house, document, **{"Idempotency-Key": "k"})
    assert imported(house, document, **{"Idempotency-Key": "k"}) == first
    assert len(applets(house)) == 2
    house.call("DELETE", f"/applets/{first['items'][0]['id']}")
    again = imported(house, document, **{"Idempotency-Key": "k"})
    assert [item["name"] for item in again["items"]] == ["B"], "what was deleted since does not come back"
    other = copy.deepcopy(document)
    other["applets"][0]["name"] = "C"
    imported(house, other, **{"Idempotency-Key": "k"})
    imported(house, document)
    assert len(applets(house)) == 5


def test_an_answer_that_got_lost_stores_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    real, lost = house.database.execute, []

    def execute(sql: str, **options: Any) -> Any:
        rows = real(sql, **options)
        if sql.startswith("INSERT INTO applets") and not lost:
            lost.append(sql)
            raise OutcomeUnknown
        return rows

    monkeypatch.setattr(house.database, "execute", execute)
    made = imported(house, {"whenthen": 1, "applets": [applet(), applet()]})
    assert len(lost) == 1
    assert {item["id"] for item in applets(house)} == {item["id"] for item in made["items"]}


def test_two_hundred_large_applets_fit_or_are_refused_whole(house: House) -> None:
    """At the limit of a request to the API everything fits into one script; what does not is told."""
    some = [applet(name=f"A{n}", event=f"e{n}", actions=[notification("é\"'" * 250)]) for n in range(200)]
    assert len(json.dumps({"whenthen": 1, "applets": some}, ensure_ascii=False).encode()) < 512 * 1024
    assert len(imported(house, {"whenthen": 1, "applets": some})["items"]) == 200
    assert len(applets(house)) == 200
    document = {"whenthen": 1, "applets": [applet(actions=[notification("\x01" * 1500)] * 2) for _ in range(200)]}
    with pytest.raises(importing.TooLarge, match="fewer"):
        importing.import_applets(house.runtime.database, "owner", document)
    assert len(applets(house)) == 200
