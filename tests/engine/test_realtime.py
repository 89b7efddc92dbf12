"""Realtime notifications: a partner says that a trigger has news, and it is checked at once (PROTOCOLS.md B.5)."""

import json
from typing import Any

import pytest

from tests.support.embedded import House, Json, notification
from tests.support.listing import Listing
from tests.support.scenario import OWNER
from tests.support.sink import Reply, Sink
from whenthen.clock import Deadline, now_ms
from whenthen.engine import keys
from whenthen.engine.orders import Order
from whenthen.engine.realtime import MAX_ENTRIES
from whenthen.errors import Unavailable
from whenthen.store.keys import add_user

KEY = "partner-key"


def make(house: House, sink: Sink, path: str = "/p", *, service_key: str = KEY) -> Json:
    """An applet on a partner's trigger that shows nothing yet."""
    show(sink, path=path)
    return house.make_applet(
        trigger={
            "service": "partner",
            "trigger": "event",
            "fields": {"url": sink.url + path, "trigger": "new", "service_key": service_key},
        },
        actions=[notification("{{EventId}}")],
    )


def show(sink: Sink, *ids: str, path: str = "/p") -> None:
    """Let the partner show these events, the newest first."""
    data = [{"meta": {"id": identity, "timestamp": 1_790_000_000 - number}} for number, identity in enumerate(ids)]
    sink.reply(f"{path}/ifttt/v1/triggers/new", [Reply(body=json.dumps({"data": data}).encode())])


def notify(house: House, key: str, *entries: Any, header: str = "IFTTT-Service-Key", **options: Any) -> Any:
    """Send a notification."""
    return house.hooks.post("/v1/notifications", headers={header: key}, **(options or {"json": {"data": entries}}))


def identity(house: House, applet: Json) -> Json:
    """The notification's entry for an applet's trigger."""
    (row,) = house.table(f"SELECT trigger_id FROM applets WHERE applet_id = '{applet['id']}'")
    return {"trigger_identity": row["trigger_id"]}


def check(house: House) -> int:
    """Do the orders that wait; how many they were."""
    done = 0
    while received := house.orders.receive(wait_seconds=0):
        done += len(house.runtime.checks.run([Order.read(item.body) for item in received], Deadline(30)))
        for item in received:
            house.orders.delete(item)
    return done


@pytest.mark.parametrize("header", ["IFTTT-Service-Key", "IFTTT-Channel-Key"])
def test_h01_the_named_trigger_is_checked_at_once(house: House, sink: Sink, header: str) -> None:
    applet = make(house, sink)
    other = make(house, sink, "/q")
    show(sink, "a")
    show(sink, "b", path="/q")
    answer = notify(house, KEY, identity(house, applet), header=header)
    assert (answer.status_code, answer.json()) == (200, {})
    assert check(house) == 1
    assert house.messages() == ["a"]
    assert house.call("GET", f"/applets/{other['id']}").json()["check"]["state"] == "ok"


def test_h02_three_events_at_once_all_fire(house: House, sink: Sink) -> None:
    applet = make(house, sink)
    show(sink, "c", "b", "a")
    notify(house, KEY, identity(house, applet))
    check(house)
    assert sorted(house.messages()) == ["a", "b", "c"]
    notify(house, KEY, identity(house, applet))
    assert check(house) == 1
    assert len(house.messages()) == 3


def test_a_webhook_key_opens_all_of_its_owners_triggers(house: House, sink: Sink, listing: Listing) -> None:
    listed = listing.make()
    listing.show("x")
    make(house, sink)
    make(house, sink, "/q")
    assert notify(house, house.webhook_key, identity(house, listed)).status_code == 200
    assert check(house) == 1
    assert notify(house, house.webhook_key, {"user_id": "anybody"}).status_code == 200
    assert check(house) == 2


def test_keys_that_open_nothing(house: House, sink: Sink) -> None:
    applet = make(house, sink)
    named = identity(house, applet)
    show(sink, "a")
    add_user(house.database, "other", "Other")
    _, theirs = keys.create(house.database, "other", "webhook", "x")
    mine, revoked = keys.create(house.database, OWNER, "webhook", "y")
    keys.revoke(house.database, OWNER, mine.key_hash)
    for key in ("", "wrong", house.api_key, revoked):
        answer = notify(house, key, named, {"user_id": "u"})
        assert (answer.status_code, answer.json()) == (401, {"errors": [{"message": "You sent an invalid key."}]})
    # A key of another owner is a key, and names nothing here.
    assert notify(house, theirs, named, {"user_id": "u"}).status_code == 200
    assert check(house) == 0


def test_an_empty_service_key_opens_nothing(house: House, sink: Sink) -> None:
    applet = make(house, sink, service_key="")
    assert notify(house, "", identity(house, applet)).status_code == 401
    assert house.hooks.post("/v1/notifications", json={"data": [identity(house, applet)]}).status_code == 401


def test_what_is_not_there_or_off_is_passed_over(house: House, sink: Sink) -> None:
    applet = make(house, sink)
    named = identity(house, applet)
    webhook = identity(house, house.make_applet())
    house.call("PATCH", f"/applets/{applet['id']}", {"enabled": False})
    assert notify(house, KEY, named, {"trigger_identity": "nothing"}).status_code == 200
    assert notify(house, house.webhook_key, webhook).status_code == 200
    assert check(house) == 0


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"content": b"no JSON"}, "body"),
        ({"content": b"\xff"}, "body"),
        ({"content": b"[" * 100_000}, "body"),
        ({"json": []}, "data"),
        ({"json": {"data": {}}}, "data"),
        ({"json": {"data": [5]}}, "data.0"),
        ({"json": {"data": [{"user_id": "u"}, {}]}}, "data.1"),
        ({"json": {"data": [{"trigger_identity": 5, "user_id": None}]}}, "data.0"),
        ({"json": {"data": [{"user_id": "u"}] * (MAX_ENTRIES + 1)}}, "data"),
        ({"json": {"data": [{"trigger_identity": "nul\x00"}]}}, ""),
    ],
)
def test_bodies_that_are_none(house: House, options: Any, field: str) -> None:
    answer = notify(house, house.webhook_key, **options)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["message"].startswith(field)


def test_a_thousand_entries(house: House, sink: Sink) -> None:
    applets = [make(house, sink, f"/{number}") for number in range(70)]
    entries = [identity(house, applet) for applet in applets]
    entries += [{"trigger_identity": f"x{number}"} for number in range(MAX_ENTRIES - len(entries))]
    assert notify(house, KEY, *entries).status_code == 200
    assert check(house) == 70


def test_a_stranger_costs_little(house: House) -> None:
    """Given a thousand identities and a key that opens none of the first, then the rest is not read."""
    notify(house, "wrong")
    house.database.sent.clear()
    entries = [{"trigger_identity": f"x{number}"} for number in range(MAX_ENTRIES)]
    assert notify(house, "wrong", *entries).status_code == 401
    assert len(house.database.sent) <= 2


def test_a_notification_during_a_check_asks_for_another(house: House, sink: Sink) -> None:
    applet = make(house, sink)
    named = identity(house, applet)
    notify(house, KEY, named)
    show(sink, "a")
    # The order above is under way: these are one more check, and no more.
    assert {notify(house, KEY, named).status_code for _ in range(5)} == {200}
    assert check(house) == 1
    show(sink, "b", "a")
    assert len(house.check(now_ms())) == 1
    assert sorted(house.messages()) == ["a", "b"]
    assert house.check(now_ms()) == []


def test_a_queue_that_cant_be_reached_leaves_it_to_the_tick(
    house: House, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    applet = make(house, sink)
    show(sink, "a")

    def refuse(*_: object, **__: object) -> None:
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(house.orders, "send", refuse)
        assert notify(house, KEY, identity(house, applet)).status_code == 200
    house.check(now_ms())
    assert house.messages() == ["a"]
