"""Undoing a delete, and copies of applets."""

import pytest
import time_machine

from tests.support.embedded import House, applet
from tests.support.listing import Listing
from whenthen.engine import keys
from whenthen.engine.applets import RESTORABLE_DAYS
from whenthen.store.keys import add_user

DAY = 24 * 3600


def stranger(house: House) -> dict[str, str]:
    """Headers of somebody else."""
    add_user(house.runtime.database, "stranger", "Stranger")
    return {"Authorization": f"Bearer {keys.create(house.runtime.database, 'stranger', 'api', 'x')[1]}"}


def test_a_deleted_applet_comes_back_as_it_was(house: House) -> None:
    made = house.make_applet(name="Door")
    house.call("DELETE", f"/applets/{made['id']}")
    restored = house.call("POST", f"/applets/{made['id']}/restore")
    assert restored.status_code == 200
    assert {**restored.json(), "updated_at": made["updated_at"]} == {**made, "enabled": False, "version": 3}
    assert [item["id"] for item in house.call("GET", "/applets").json()["items"]] == [made["id"]]
    house.fire()
    assert house.activity() == [], "off is off"
    again = house.call("POST", f"/applets/{made['id']}/restore")
    assert (again.status_code, again.json()["detail"]) == (409, "The applet is not deleted.")


def test_it_can_come_back_on(house: House) -> None:
    made = house.make_applet()
    house.call("DELETE", f"/applets/{made['id']}")
    house.fire()
    assert house.call("POST", f"/applets/{made['id']}/restore", {"enabled": True}).json()["enabled"] is True
    house.fire()
    assert len(house.activity()) == 1, "what came while it was deleted does not fire"
    assert house.call("POST", f"/applets/{made['id']}/restore", {"enabled": "yes"}).status_code == 422


def test_a_checked_trigger_begins_after_now(listing: Listing) -> None:
    """Given items that came while the applet was deleted, when that is undone, then they do not fire."""
    house = listing.house
    made = listing.make()
    listing.show("one")
    house.check()
    house.call("DELETE", f"/applets/{made['id']}")
    listing.show("two", "one")
    assert house.call("POST", f"/applets/{made['id']}/restore", {"enabled": True}).status_code == 200
    before = len(house.activity())
    listing.show("three", "two", "one")
    house.call("POST", f"/applets/{made['id']}/check")
    assert len(house.activity()) == before + 1


def test_for_a_week(house: House, clock: time_machine.Traveller) -> None:
    made = house.make_applet()
    house.call("DELETE", f"/applets/{made['id']}")
    clock.shift(RESTORABLE_DAYS * DAY + 1)
    late = house.call("POST", f"/applets/{made['id']}/restore")
    assert (late.status_code, late.json()["detail"]) == (409, "The applet was deleted more than 7 days ago.")


def test_a_connection_that_is_gone_is_told(house: House) -> None:
    """Given an applet whose connection was deleted after it, then it comes back off alone."""
    connection = house.call(
        "POST",
        "/connections",
        {"service": "signed_webhooks", "name": "Mine", "fields": {"scheme": "github", "secret": "s" * 20}},
    ).json()["id"]
    trigger = {"service": "signed_webhooks", "trigger": "received", "fields": {}, "connection": connection}
    made = house.make_applet(trigger=trigger)
    house.call("DELETE", f"/applets/{made['id']}")
    assert house.call("DELETE", f"/connections/{connection}").status_code == 204
    on = house.call("POST", f"/applets/{made['id']}/restore", {"enabled": True})
    assert (on.status_code, on.json()["errors"][0]["field"]) == (422, "trigger.connection")
    assert house.call("POST", f"/applets/{made['id']}/restore").status_code == 200
    on = house.call("PATCH", f"/applets/{made['id']}", {"enabled": True})
    assert (on.status_code, on.json()["errors"][0]["field"]) == (422, "trigger.connection")


def test_a_copy_is_off_and_has_another_name(house: House) -> None:
    made = house.make_applet(name="Door", filter="Value1 == 'open'")
    answer = house.call("POST", f"/applets/{made['id']}/duplicate")
    copy = answer.json()
    assert answer.status_code == 201
    assert copy["id"] != made["id"]
    times = {"created_at": copy["created_at"], "updated_at": copy["updated_at"]}
    assert copy == {**made, "id": copy["id"], "name": "Door (copy)", "enabled": False, **times}
    house.fire(query={"value1": "open"})
    assert len(house.activity()) == 1
    assert house.call("PATCH", f"/applets/{copy['id']}", {"enabled": True}).status_code == 200
    house.fire(query={"value1": "open"})
    assert len(house.activity()) == 3


@pytest.mark.parametrize("name", ["x" * 200, "é" * 194, "x" * 193 + " " + "y" * 6])
def test_a_long_name_stays_within_its_length(house: House, name: str) -> None:
    made = house.make_applet(name=name)
    copy = house.call("POST", f"/applets/{made['id']}/duplicate").json()
    assert len(copy["name"]) <= 200
    assert copy["name"].endswith(" (copy)")
    assert house.call("PATCH", f"/applets/{copy['id']}", {"enabled": True}).status_code == 200


@pytest.mark.parametrize("path", ["restore", "duplicate"])
def test_others_and_unknown_ones_are_not_found(house: House, path: str) -> None:
    made = house.call("POST", "/applets", applet()).json()
    if path == "restore":
        house.call("DELETE", f"/applets/{made['id']}")
    assert house.call("POST", f"/applets/{made['id']}/{path}", headers=stranger(house)).status_code == 404
    assert house.call("POST", f"/applets/nothing/{path}").status_code == 404
    if path == "duplicate":
        house.call("DELETE", f"/applets/{made['id']}")
        assert house.call("POST", f"/applets/{made['id']}/{path}").status_code == 404
