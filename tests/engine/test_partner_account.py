"""Partners with a connection in the whole product: checks that renew tokens, keys that stay hidden, notifications."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.authorizing import CLIENT, Vendor
from tests.support.embedded import House, Json, notification
from tests.support.sink import Reply, Sink

KEY = "partner-key"


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with Vendor() as running:
        yield running


def listen(house: House, *, connection: str | None = None, **fields: Any) -> Any:
    trigger = {"service": "partner", "trigger": "event", "fields": {"trigger": "new", **fields}}
    if connection is not None:
        trigger["connection"] = connection
    document = {"name": "P", "trigger": trigger, "actions": [notification("{{EventId}}")]}
    return house.call("POST", "/applets", document)


def show(sink: Sink, *ids: str) -> None:
    data = [{"meta": {"id": identity, "timestamp": 1_790_000_000 - number}} for number, identity in enumerate(ids)]
    sink.reply("/ifttt/v1/triggers/new", [Reply(body=json.dumps({"data": data}).encode())])


def with_key(house: House, sink: Sink) -> Json:
    fields = {"url": sink.url, "service_key": KEY}
    answer = house.call("POST", "/connections", {"service": "partner", "name": "Partner", "fields": fields})
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


def test_a_check_goes_on_with_new_tokens(house: House, vendor: Vendor) -> None:
    """PROTOCOLS.md B.6: after a 401 the token is refreshed, and the check is done again."""
    fields = {
        "url": vendor.url,
        "client_id": CLIENT[0],
        "client_secret": CLIENT[1],
        "authorize_url": f"{vendor.url}/authorize?prompt=consent",
        "token_url": f"{vendor.url}/token",
    }
    document = {"service": "partner", "name": "Partner", "fields": fields, "oauth": True}
    made = house.call("POST", "/connections", document).json()
    vendor.scope = "ifttt"
    assert house.api.get("/oauth/callback", params=vendor.consent(made["authorize_url"])).status_code == 200
    vendor.events = ["a"]
    assert listen(house, connection=made["id"]).status_code == 201
    vendor.expire()
    vendor.events = ["b", "a"]
    applet = house.call("GET", "/applets").json()["items"][0]
    assert house.call("POST", f"/applets/{applet['id']}/check").status_code == 200
    assert house.messages() == ["b"]
    assert vendor.calls == ["authorization_code", "refresh_token"]
    vendor.revoke()
    checked = house.call("POST", f"/applets/{applet['id']}/check").json()
    assert "refused" in json.dumps(checked) or "no token" in json.dumps(checked)
    assert house.call("GET", f"/connections/{made['id']}").json()["state"] == "broken"


def test_a_key_in_a_connection_is_not_in_the_applet(house: House, sink: Sink) -> None:
    show(sink)
    made = with_key(house, sink)
    answer = listen(house, connection=made["id"])
    assert answer.status_code == 201, answer.text
    assert KEY not in json.dumps(house.table("SELECT * FROM triggers") + house.table("SELECT * FROM applets"))
    assert answer.json()["trigger"]["connection"] == made["id"]
    assert sink.requests[-1].headers["ifttt-service-key"] == KEY


def test_events_that_repeat_the_key_do_not_show_it(house: House, sink: Sink) -> None:
    show(sink)
    made = with_key(house, sink)
    applet = listen(house, connection=made["id"]).json()
    show(sink, f"a {KEY}")
    house.call("POST", f"/applets/{applet['id']}/check")
    assert house.messages() == ["a •••"]
    assert KEY not in json.dumps(house.execution())


def test_a_key_in_the_fields_still_works_and_is_masked(house: House, sink: Sink) -> None:
    show(sink)
    answer = listen(house, url=sink.url, service_key=KEY)
    assert answer.status_code == 201, answer.text
    assert answer.json()["trigger"]["fields"]["service_key"] == "•••"
    assert KEY not in house.call("GET", "/applets").text
    assert house.call("PATCH", f"/applets/{answer.json()['id']}", {"name": "Other"}).status_code == 200
    show(sink, "a")
    house.call("POST", f"/applets/{answer.json()['id']}/check")
    assert house.messages() == ["a"]


def test_equal_fields_with_another_connection_are_another_trigger(house: House, sink: Sink) -> None:
    show(sink)
    made = [with_key(house, sink) for _ in range(2)]
    for connection in made:
        assert listen(house, connection=connection["id"]).status_code == 201
    assert len(house.table("SELECT trigger_id FROM triggers")) == 2


def test_a_notification_with_the_connections_key_is_taken(house: House, sink: Sink) -> None:
    show(sink)
    listen(house, connection=with_key(house, sink)["id"])
    (row,) = house.table("SELECT trigger_id FROM triggers")
    for key, status in (("wrong", 401), (KEY, 200)):
        answer = house.hooks.post(
            "/v1/notifications",
            headers={"IFTTT-Service-Key": key},
            json={"data": [{"trigger_identity": row["trigger_id"]}]},
        )
        assert answer.status_code == status


def test_a_broken_connection_is_told_by_the_check(house: House, sink: Sink) -> None:
    show(sink)
    made = with_key(house, sink)
    applet = listen(house, connection=made["id"]).json()
    sink.reply("/ifttt/v1/triggers/new", [Reply(status=401)])
    house.call("POST", f"/applets/{applet['id']}/check")
    assert house.call("GET", f"/connections/{made['id']}").json()["state"] == "broken"
    house.call("POST", f"/applets/{applet['id']}/check")
    shown = house.call("GET", f"/applets/{applet['id']}").json()["check"]
    assert (shown["state"], "is broken" in shown["message"]) == ("failing", True)
    assert len(house.inbox()) == 1
