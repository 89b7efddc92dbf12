"""Applets that fail again and again are turned off."""

import time_machine

from tests.support.embedded import House, web_request
from tests.support.sink import Reply, Sink


def fire(house: House, times: int) -> None:
    for _ in range(times):
        house.fire()
        house.work()


def test_a_run_of_failures_turns_the_applet_off_and_tells_the_owner(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    sink.reply("/", [Reply(404)])
    made = house.make_applet(name="Door log", off_after_failures=3, actions=[web_request(sink.url + "/")])
    fire(house, 2)
    house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is True
    fire(house, 1)
    house.tick()
    house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is False
    (message,) = house.inbox()
    assert message["title"] == "“Door log” was turned off"
    assert "Its last 3 executions failed. The newest one: The target answered 404" in message["message"]
    assert message["applet_id"] == made["id"]
    fire(house, 1)
    assert len(house.activity()) == 3


def test_one_that_succeeds_in_between_breaks_the_run(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    made = house.make_applet(off_after_failures=3, actions=[web_request(sink.url + "/")])
    for replies in ([Reply(404)] * 2, [Reply()], [Reply(404)] * 2):
        sink.reply("/", replies[:1])
        for _ in replies:
            clock.shift(1)
            fire(house, 1)
        house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is True
    clock.shift(1)
    fire(house, 1)
    house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is False


def test_turned_on_again_it_has_all_its_tries(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/", [Reply(404)])
    made = house.make_applet(off_after_failures=2, actions=[web_request(sink.url + "/")])
    for enabled in (False, False):
        fire(house, 1)
        house.tick()
        assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is True
        fire(house, 1)
        house.tick()
        assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is enabled
        house.call("PATCH", f"/applets/{made['id']}", {"enabled": True})
    assert len(house.inbox()) == 2


def test_failures_of_many_days_are_found_in_the_history(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    sink.reply("/", [Reply(404)])
    made = house.make_applet(off_after_failures=4, actions=[web_request(sink.url + "/")])
    for _ in range(4):
        assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is True
        fire(house, 1)
        for _ in range(3):
            clock.shift(3600)
            house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is False


def test_never_when_the_owner_says_so(house: House, sink: Sink) -> None:
    sink.reply("/", [Reply(404)])
    made = house.make_applet(off_after_failures=None, actions=[web_request(sink.url + "/")])
    fire(house, 25)
    house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is True


def test_an_applet_that_can_not_be_read_stops_no_tick(house: House, sink: Sink) -> None:
    """Such as one of a newer version that was rolled back."""
    sink.reply("/", [Reply(404)])
    made = house.make_applet(off_after_failures=1, actions=[web_request(sink.url + "/")])
    fire(house, 2)
    key = f"applet_id = CAST('{made['id']}' AS TEXT)"
    house.table(f"UPDATE applets SET definition = '{{}}' WHERE {key}")
    house.tick()
    assert house.table("SELECT failures, reviewed FROM applet_runs") == [{"failures": 2, "reviewed": 2}]


def test_skipped_and_unknown_are_no_failures(house: House, sink: Sink) -> None:
    sink.reply("/", [Reply(close=True)])
    made = house.make_applet(off_after_failures=1, actions=[web_request(sink.url + "/")])
    other = house.make_applet(off_after_failures=1, filter="false")
    fire(house, 2)
    house.tick()
    for applet in (made, other):
        assert house.call("GET", f"/applets/{applet['id']}").json()["enabled"] is True


def test_an_edit_that_ends_what_waits_turns_nothing_off(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    action = web_request(sink.url + "/")
    made = house.make_applet(off_after_failures=2, actions=[{**action, "delay": {"seconds": 60}}])
    fire(house, 3)
    house.call("PATCH", f"/applets/{made['id']}", {"actions": [action]})
    clock.shift(300)
    house.tick()
    house.work()
    assert {item["state"] for item in house.activity()} == {"failed"}
    house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["enabled"] is True
