"""Test calls: what arrives while somebody waits for it, and nothing else, is shown."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from tests.support.embedded import House, Json, notification
from whenthen.engine import keys
from whenthen.engine.arrived import MAX_ARRIVED_BYTES
from whenthen.engine.erasure import erase_owners, request_erasure
from whenthen.engine.test_calls import WAIT_MS
from whenthen.store.errors import Unreachable
from whenthen.store.keys import add_user

DOOR = {"service": "webhooks", "trigger": "event", "fields": {"event": "door"}}
JSON_DOOR = {**DOOR, "trigger": "json_event"}
BIG = '{"id": 9223372036854775807, "pi": 3.14159265358979323846, "html": "</script><b>{{Value1}}"}'
SECONDS = WAIT_MS / 1000


def wait(house: House, trigger: Json = DOOR) -> Any:
    """Ask, and return what has arrived."""
    answer = house.call("POST", "/test-calls", {"trigger": trigger})
    assert answer.status_code == 202, answer.text
    return answer.json()["arrived"]


def stored(house: House) -> int:
    return len(house.table("SELECT awaited_trigger_id FROM test_calls WHERE arrived <> ''"))


def test_what_arrives_while_one_waits_is_shown(house: House, clock: time_machine.Traveller) -> None:
    assert wait(house) is None
    clock.shift(5)
    assert house.fire(query={"value1": "9223372036854775807"}).status_code == 200
    clock.shift(5)
    arrived = wait(house)
    assert arrived["at"].startswith("2026-11-29T18:05:05")
    assert arrived["ingredients"] == {
        "EventName": "door", "Value1": "9223372036854775807", "Value2": "", "Value3": "",
        "OccurredAt": "November 29, 2026 at 06:05PM",
    }  # fmt: skip
    assert arrived["shortened"] == []
    house.fire(query={"value1": "again"})
    assert wait(house)["ingredients"]["Value1"] == "again"
    assert house.activity() == []
    assert house.table("SELECT event_id FROM trigger_events") == []


def test_values_are_shown_exactly(house: House) -> None:
    wait(house, JSON_DOOR)
    house.hooks.post(f"/trigger/door/json/with/key/{house.webhook_key}", content=BIG)
    assert wait(house, JSON_DOOR)["ingredients"]["JsonPayload"] == BIG


@pytest.mark.parametrize("big", ["x", "\x01", "🚪", "é'\\\""])
def test_what_is_too_long_is_cut_and_named(house: House, big: str) -> None:
    wait(house)
    value = (big * 40_000)[:40_000]
    house.fire(method="POST", json={"value1": "short", "value2": value, "value3": "y" * 5_000})
    arrived = wait(house)
    assert arrived["shortened"] == ["Value2"]
    values = arrived["ingredients"]
    assert (values["Value1"], values["Value3"]) == ("short", "y" * 5_000)
    assert MAX_ARRIVED_BYTES // 2 < len(json.dumps(values, ensure_ascii=False).encode()) < MAX_ARRIVED_BYTES + 200
    assert value.startswith(values["Value2"])


def test_nothing_is_stored_for_nobody(house: House, clock: time_machine.Traveller) -> None:
    house.fire()
    assert house.table("SELECT awaited_trigger_id FROM test_calls") == []
    assert wait(house) is None
    # Another event, another form, a wrong key.
    house.fire("gate")
    house.hooks.get(f"/trigger/door/json/with/key/{house.webhook_key}")
    assert house.hooks.get("/trigger/door/with/key/wrong").status_code == 401
    assert wait(house) is None
    clock.shift(SECONDS)
    house.fire()
    assert stored(house) == 0
    assert wait(house) is None


def test_asking_again_goes_on_waiting(house: House, clock: time_machine.Traveller) -> None:
    wait(house)
    house.fire()
    for _ in range(3):
        clock.shift(SECONDS - 30)
        assert wait(house) is not None
    clock.shift(SECONDS)
    # It was over: what came before is of before.
    assert wait(house) is None


def test_asking_often_writes_seldom(house: House, clock: time_machine.Traveller) -> None:
    wait(house)
    house.database.sent.clear()
    for _ in range(10):
        clock.shift(5)
        wait(house)
    assert not [sql for sql in house.database.sent if not sql.startswith("SELECT")]


def test_an_arrival_that_is_listened_to_costs_nothing_more(house: House) -> None:
    house.make_applet()
    wait(house)
    house.fire()
    house.database.sent.clear()
    house.fire()
    assert len(house.database.sent) == 1
    assert stored(house) == 0


def test_the_newest_event_of_a_trigger_that_an_applet_has_counts(house: House, clock: time_machine.Traveller) -> None:
    made = house.make_applet(actions=[notification("a")])
    house.fire(query={"value1": "before"})
    clock.shift(60)
    assert wait(house) is None
    clock.shift(60)
    house.fire(query={"value1": "first"})
    clock.shift(60)
    house.fire(method="POST", json={"value1": "x" * 50_000})
    assert wait(house)["ingredients"]["Value1"].startswith("xxx")
    # In the slot before this one.
    for _ in range(3):
        clock.shift(SECONDS - 30)
        arrived = wait(house)
    assert (arrived["at"][:19], arrived["shortened"]) == ("2026-11-29T18:08:00", ["Value1"])
    # A warm process still knows the listener that is gone.
    house.call("PATCH", f"/applets/{made['id']}", {"enabled": False})
    house.fire(query={"value1": "off"})
    assert wait(house)["ingredients"]["Value1"] == "off"


def test_nobody_sees_what_is_anothers(house: House) -> None:
    add_user(house.runtime.database, "other", "Other")
    _, other = keys.create(house.runtime.database, "other", "api", "test")
    body = {"trigger": DOOR}
    headers = {"Authorization": f"Bearer {other}"}
    assert house.api.post("/api/test-calls", json=body, headers=headers).status_code == 202
    wait(house)
    house.fire()
    assert wait(house) is not None
    assert house.api.post("/api/test-calls", json=body, headers=headers).json()["arrived"] is None


def test_triggers_that_find_events_themselves_have_no_calls(house: House) -> None:
    trigger = {"service": "date_time", "trigger": "every_minutes", "fields": {"minutes": 5}}
    answer = house.call("POST", "/test-calls", {"trigger": trigger})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "trigger.trigger")


def test_what_waited_in_the_queue_is_shown_when_it_is_drained(house: House) -> None:
    wait(house)
    house.database.error = Unreachable()
    assert house.fire(query={"value1": "queued"}).status_code == 200
    house.database.error = None
    assert wait(house) is None
    house.tick()
    assert wait(house)["ingredients"]["Value1"] == "queued"


def test_what_arrived_goes_when_the_waiting_is_over(house: House, clock: time_machine.Traveller) -> None:
    clock.move_to(datetime(2026, 11, 29, 18, 58, tzinfo=UTC))
    wait(house)
    house.fire()
    clock.shift(7 * 60)
    wait(house, JSON_DOOR)
    assert len(house.table("SELECT arrived FROM test_calls")) == 2
    # Once an hour.
    clock.shift(8 * 60)
    house.tick()
    assert [row["arrived"] for row in house.table("SELECT arrived FROM test_calls")] == [""]
    house.fire()
    assert (stored(house), wait(house)) == (0, None)


def test_an_erased_owner_leaves_no_calls(house: House) -> None:
    wait(house)
    house.fire()
    request_erasure(house.runtime.database, "owner")
    erase_owners(house.runtime.history)
    assert house.table("SELECT awaited_trigger_id FROM test_calls") == []
