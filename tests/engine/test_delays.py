"""Waiting before an action, for a time or until an instant."""

from datetime import timedelta

import pytest
import time_machine

from tests.support.embedded import START, House, Json, notification, web_request
from tests.support.sink import Sink
from whenthen.clock import from_datetime
from whenthen.engine import judging
from whenthen.engine.delays import read_instant
from whenthen.engine.erasure import erase_owners, request_erasure

NOW = from_datetime(START)


def delayed(action: Json, **delay: object) -> Json:
    return {**action, "delay": delay}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-29T19:05:00Z", 3600),
        ("2026-11-29T19:05:00+01:00", 0),
        ("2026-11-29T19:05", 0),
        ("2026-11-29 20:05:30", 3630),
        ("November 29, 2026 at 08:05PM", 3600),
        ("Sun, 29 Nov 2026 19:05:00 GMT", 3600),
        (str(NOW // 1000 + 60), 60),
        (str(NOW + 60_000), 60),
    ],
)
def test_instants_in_many_forms(text: str, seconds: int) -> None:
    """One without a zone is in the owner's."""
    assert read_instant(text, "Europe/Paris") == NOW + seconds * 1000


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "12", "9" * 14, "18:00"])
def test_what_is_no_instant(text: str) -> None:
    assert read_instant(text, "UTC") is None


def test_done_actions_are_not_repeated_after_a_delay(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """F14, F15: it goes on at its time with the next action."""
    house.make_applet(actions=[web_request(sink.url + "/one"), delayed(web_request(sink.url + "/two"), seconds=3600)])
    house.fire()
    house.work()
    item = house.execution()
    assert (item["state"], item["due_at"][:19]) == ("waiting", "2026-11-29T19:05:00")
    assert item["reason"] == "It waits until 2026-11-29 19:05:00 with action 2."
    # Nobody may be early, and a wake-up too many does no harm.
    house.run(item["execution_id"])
    clock.shift(3540)
    house.run(item["execution_id"])
    assert [request.path for request in sink.requests] == ["/one"]
    clock.shift(61)
    house.run(item["execution_id"])
    house.run(item["execution_id"])
    assert [request.path for request in sink.requests] == ["/one", "/two"]
    item = house.execution()
    assert (item["state"], [a["notes"] for a in item["attempts"]]) == ("succeeded", [[], []])


def test_a_long_delay_outlives_its_slot_and_a_late_one_says_so(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    """F14: overdue runs late, and is flagged."""
    house.make_applet(actions=[delayed(web_request(sink.url), seconds=30 * 3600)])
    house.fire()
    house.work()
    for _ in range(3):
        clock.shift(3600)
        house.tick()
    assert house.table("SELECT COUNT(*) AS n FROM executions_waiting") == [{"n": 1}]
    assert house.work() == 0
    clock.shift(29 * 3600)
    house.tick()
    house.work()
    item = house.execution()
    assert item["state"] == "succeeded"
    assert item["attempts"][0]["notes"] == ["delay: it was over at 2026-12-01 00:05:00, this is late"]
    assert len(sink.requests) == 1


def test_until_an_instant_of_the_event(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    house.call("PATCH", "/me", {"zone": "Europe/Paris"})
    house.make_applet(actions=[delayed(notification("now"), until="{{Value1}}")])
    house.fire(query={"value1": "2026-11-29T20:00"})
    house.work()
    item = house.execution()
    assert item["due_at"] == "2026-11-29T19:00:00.000Z"
    assert "20:00:00" in item["reason"]


def test_an_applet_shows_the_delays_that_it_was_given(house: House) -> None:
    actions = [delayed(notification(), seconds=5), delayed(notification(), until="{{Value1}}"), notification()]
    shown = house.make_applet(actions=actions)["actions"]
    assert [action.get("delay") for action in shown] == [{"seconds": 5}, {"until": "{{Value1}}"}, None]


@pytest.mark.parametrize("value", ["2026-11-29", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_an_instant_that_has_passed_is_not_waited_for(house: House, clock: time_machine.Traveller, value: str) -> None:
    """Many sources write the year 1 for no date at all; it has none in zones west of Greenwich."""
    house.call("PATCH", "/me", {"zone": "America/New_York"})
    house.make_applet(actions=[delayed(notification("now"), until="{{Value1}}")])
    house.fire(query={"value1": value})
    assert house.messages() == ["now"]
    assert "has passed already" in house.execution()["attempts"][0]["notes"][0]


def test_a_delay_that_fails_unforeseen_does_not_harm_its_neighbours(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> int:
        raise RuntimeError

    monkeypatch.setattr(judging, "ends_at", fail)
    house.make_applet(actions=[delayed(notification("never"), seconds=60), notification("next")])
    house.make_applet(actions=[notification("neighbour")])
    house.fire()
    assert sorted(house.messages()) == ["neighbour", "next"]
    assert sorted(item["state"] for item in house.activity()) == ["failed", "succeeded"]


@pytest.mark.parametrize(("value", "words"), [("soon", "is no date"), ("2036-01-01", "more than a year")])
def test_an_instant_that_can_not_be_waited_for_fails_the_action(house: House, value: str, words: str) -> None:
    house.make_applet(actions=[delayed(notification("now"), until="{{Value1}}"), notification("next")])
    house.fire(query={"value1": value})
    assert house.messages() == ["next"]
    item = house.execution()
    assert item["state"] == "failed"
    assert "delay.until" in item["reason"]
    assert words in item["reason"]


def test_the_applet_counts_as_it_is_when_the_delay_is_over(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    made = house.make_applet(actions=[delayed(web_request(sink.url), seconds=60)])
    house.fire()
    house.work()
    house.call("PATCH", f"/applets/{made['id']}", {"enabled": False})
    clock.shift(61)
    house.run(house.execution()["execution_id"])
    assert (house.execution()["state"], sink.requests) == ("skipped", [])


def test_a_query_that_was_removed_meanwhile_does_not_stop_what_is_left(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    query = {"service": "webhooks", "query": "web_request", "fields": {"url": sink.url}}
    actions = [delayed(notification("one"), seconds=60), delayed(notification("{{Value1}}"), until="{{Value1}}")]
    made = house.make_applet(queries=[query], actions=actions)
    house.fire(query={"value1": "2026-11-29"})
    house.work()
    assert house.call("PATCH", f"/applets/{made['id']}", {"queries": []}).status_code == 200
    clock.shift(61)
    house.run(house.execution()["execution_id"])
    assert house.messages() == ["2026-11-29", "one"]


def test_erasing_an_owner_does_not_wait_for_a_delay(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    house.make_applet(actions=[delayed(web_request(sink.url), seconds=300 * 24 * 3600)])
    house.fire()
    house.work()
    request_erasure(house.database, "owner")
    for hours in range(5):
        clock.move_to(START + timedelta(hours=hours, minutes=8))
        erase_owners(house.runtime.history)
        house.tick()
        house.work()
    assert house.table("SELECT erased_at FROM erasures")[0]["erased_at"] is not None
    assert sink.requests == []


@pytest.mark.parametrize(
    ("delay", "field"),
    [
        ({}, "actions.0.delay"),
        ({"seconds": 0}, "actions.0.delay.seconds"),
        ({"seconds": 1.5}, "actions.0.delay.seconds"),
        ({"seconds": 366 * 24 * 3600 + 1}, "actions.0.delay.seconds"),
        ({"seconds": 5, "until": "2026-12-01"}, "actions.0.delay"),
        ({"until": "tomorrow"}, "actions.0.delay.until"),
        ({"until": "{{"}, "actions.0.delay.until"),
        ({"minutes": 5}, "actions.0.delay.minutes"),
    ],
)
def test_bad_delays_are_named(house: House, delay: Json, field: str) -> None:
    answer = house.call("POST", "/applets", {**DOOR, "actions": [delayed(notification(), **delay)]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


DOOR = {"name": "Door", "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "door"}}}
