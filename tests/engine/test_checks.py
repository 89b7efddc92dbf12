"""Triggers that are checked: what fires, how often the source is asked, what the owner sees."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.embedded import START, House, Json, notification
from tests.support.listing import Listing, names
from tests.support.sink import Reply
from whenthen.engine.checker import MAX_NEW_EVENTS
from whenthen.wiring import Runtime


def minutes_later(clock: time_machine.Traveller, minutes: float) -> None:
    clock.shift(timedelta(minutes=minutes))


def times(item: Json) -> tuple[datetime, datetime]:
    """When the last check was, without its seconds, and when the next one is."""
    last = datetime.fromisoformat(item["last_checked_at"]).replace(second=0, microsecond=0)
    return last, datetime.fromisoformat(item["next_check_at"])


def test_a16_what_is_there_already_does_not_fire(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.show(*names(10))
    listing.make()
    assert listing.fetches == 1  # B01: what the validation fetched is the first check
    for _ in range(3):
        minutes_later(clock, 5)
        listing.house.check()
    assert listing.house.messages() == []
    listing.show("new", *names(10))
    minutes_later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["List: new"]


def test_a15_each_item_is_an_execution_oldest_first(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("c", "b", "a")
    minutes_later(clock, 5)
    assert [report.fired for report in listing.house.check()] == [3]
    assert [item["note"] for item in listing.house.activity()] == ["about c", "about b", "about a"]
    assert sorted(listing.house.messages()) == ["List: a", "List: b", "List: c"]
    assert [item["note"] for item in listing.house.activity()] == ["about c", "about b", "about a"]
    minutes_later(clock, 5)
    listing.house.check()
    assert len(listing.house.messages()) == 3


def test_the_interval_is_five_minutes_unless_the_owner_says_otherwise(
    listing: Listing, clock: time_machine.Traveller
) -> None:
    applet = listing.make()
    before = listing.fetches
    for _ in range(15):
        minutes_later(clock, 1)
        listing.house.check()
    assert listing.fetches - before == 3
    listing.house.call("DELETE", f"/applets/{applet['id']}")
    listing.make(fields={"interval_minutes": 1})
    before = listing.fetches
    for _ in range(4):
        minutes_later(clock, 1)
        listing.house.check()
    assert listing.fetches - before == 4


@pytest.mark.parametrize("minutes", [0, -1, 1441, "x", 1.5])
def test_an_interval_that_is_none(listing: Listing, minutes: object) -> None:
    answer = listing.house.call(
        "POST",
        "/applets",
        {"name": "x", "trigger": listing.trigger(interval_minutes=minutes), "actions": [notification("x")]},
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "trigger.fields.interval_minutes"


def test_a_shared_trigger_is_checked_once_and_fanned_out(listing: Listing, clock: time_machine.Traveller) -> None:
    for name in ("one", "two", "three"):
        listing.make(name=name)
    before = listing.fetches
    listing.show("a")
    minutes_later(clock, 5)
    listing.house.check()
    assert listing.fetches == before + 1
    assert sorted(listing.house.messages()) == ["one: a", "three: a", "two: a"]


def test_who_joins_gets_what_comes_after(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given an item that was published before the second applet was made, then it is the first one's alone."""
    listing.make(name="one")
    listing.show("early")
    listing.make(name="two")
    assert listing.house.messages() == ["one: early"]
    listing.show("late", "early")
    minutes_later(clock, 5)
    listing.house.check()
    assert sorted(listing.house.messages()) == ["one: early", "one: late", "two: late"]


def test_c21_turning_on_starts_after_now(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    path = f"/applets/{applet['id']}"
    listing.house.call("PATCH", path, {"enabled": False})
    before = listing.fetches
    listing.show("while off")
    minutes_later(clock, 10)
    listing.house.check()
    assert listing.fetches == before  # A24: off means that nothing is asked
    assert listing.checked(applet)["state"] == "off"
    listing.house.call("PATCH", path, {"enabled": True})
    minutes_later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == []
    listing.show("after", "while off")
    minutes_later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["List: after"]


def test_a23_an_edit_keeps_the_position(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    listing.show("between")
    before = listing.fetches
    changes = {"name": "New name", "filter": "Name != 'x'", "actions": [notification("now {{Name}}")]}
    assert listing.house.call("PATCH", f"/applets/{applet['id']}", changes).status_code == 200
    assert listing.fetches == before
    minutes_later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["now between"]


def test_a_new_trigger_starts_anew(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    other = Listing(listing.house, listing.sink, "/other")
    other.show("old")
    listing.house.call("PATCH", f"/applets/{applet['id']}", {"trigger": other.trigger()})
    listing.show("nobody listens")
    other.show("new", "old")
    minutes_later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == ["List: new"]


def test_a12_deleting_one_applet_leaves_the_others_memory(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.show("a", "b")
    first = listing.make(name="one")
    other = Listing(listing.house, listing.sink, "/other")
    other.show("c", "d")
    other.make(name="two")
    listing.make(name="three")
    listing.house.call("DELETE", f"/applets/{first['id']}")
    minutes_later(clock, 5)
    listing.house.check()
    assert listing.house.messages() == []


def test_a13_a_new_process_changes_nothing(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("a")
    minutes_later(clock, 5)
    listing.house.check()
    house = listing.house
    house.runtime = Runtime(
        house.runtime.settings,
        database=house.database,
        wakeups=house.wakeups,
        arrivals=house.arrivals,
        check_orders=house.orders,
    )
    minutes_later(clock, 5)
    house.check()
    assert house.messages() == ["List: a"]


def test_a14_a_check_by_hand_shares_what_was_seen(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    listing.show("a")
    path = f"/applets/{applet['id']}/check"
    answer = listing.house.call("POST", path)
    assert (answer.status_code, answer.json()["fired"], answer.json()["failure"]) == (200, 1, "")
    assert answer.json()["check"]["state"] == "ok"
    assert listing.house.call("POST", path).json()["fired"] == 0
    minutes_later(clock, 6)
    listing.house.check()
    assert listing.house.messages() == ["List: a"]


def test_a_check_by_hand_of_what_is_not_checked(listing: Listing) -> None:
    webhook = listing.house.make_applet()
    answer = listing.house.call("POST", f"/applets/{webhook['id']}/check")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "trigger")
    assert webhook["check"] is None
    off = listing.make(enabled=False)
    assert listing.house.call("POST", f"/applets/{off['id']}/check").status_code == 409
    assert listing.house.call("POST", "/applets/none/check").status_code == 404


def test_a05_a17_many_at_once_come_in_bounded_batches(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given 3 seen and 5,000 new items, then the cap applies to the new ones alone and the rest follows in order."""
    listing.show(*names(3))
    listing.make()
    listing.show(*names(160))
    new = [f"about {name}" for name in reversed(names(157, 3))]
    for number in range(1, 5):
        minutes_later(clock, 5 if number == 1 else 1)
        fired = [report.fired for report in listing.house.check()]
        assert fired == [min(MAX_NEW_EVENTS, 157 - MAX_NEW_EVENTS * (number - 1))]
        notes = [item["note"] for item in listing.house.activity(limit="200")]
        assert sorted(notes) == new[: number * MAX_NEW_EVENTS]
    minutes_later(clock, 1)
    assert listing.house.check() == []


def test_a17_a_first_check_of_5000_items_is_one_script(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.show(*names(5000))
    listing.make()
    rows = listing.house.table("SELECT COUNT(*) AS n FROM trigger_events")
    assert rows[0]["n"] == 5000
    listing.show("new", *names(5000))
    minutes_later(clock, 5)
    assert [report.fired for report in listing.house.check()] == [1]
    assert listing.house.messages() == ["List: new"]


def test_a_source_that_shows_too_much(listing: Listing) -> None:
    listing.show(*names(10_001))
    answer = listing.house.call(
        "POST", "/applets", {"name": "x", "trigger": listing.trigger(), "actions": [notification("x")]}
    )
    assert answer.status_code == 422
    assert "more than 10000 items" in answer.json()["detail"]


def test_what_comes_back_is_not_new(listing: Listing, clock: time_machine.Traveller) -> None:
    """R2: given items that left the source long ago, when they come back, then the database still knows them."""
    listing.show(*names(60))
    listing.make()
    for start in (100, 200, 300):
        listing.show(*names(40, start))
        minutes_later(clock, 5)
        listing.house.check()
    assert len(listing.house.activity(limit="200")) == 120
    listing.show("new", *names(60))
    minutes_later(clock, 5)
    assert [report.fired for report in listing.house.check()] == [1]
    assert listing.house.messages()[0] == "List: new"


def test_an_empty_answer_forgets_nothing(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.show(*names(5))
    listing.make()
    for shown in ((), names(5), (), names(5)):
        listing.show(*shown)
        minutes_later(clock, 5)
        listing.house.check()
    assert listing.house.messages() == []


def test_a_name_twice_in_one_answer_is_one_event(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("a", "a", "b", "a")
    minutes_later(clock, 5)
    assert [report.fired for report in listing.house.check()] == [2]


def test_a25_every_check_is_on_the_record(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.show("a")
    applet = listing.make()
    assert applet["check"]["state"] == "ok"
    assert applet["check"]["message"] == "1 names"
    assert times(applet["check"]) == (START, START + timedelta(minutes=5))
    minutes_later(clock, 5)
    listing.house.check()
    checked = listing.checked(applet)
    assert times(checked) == (START + timedelta(minutes=5), START + timedelta(minutes=10))
    minutes_later(clock, 9)
    assert listing.checked(applet)["state"] == "ok"
    minutes_later(clock, 60 * 24)
    assert listing.checked(applet)["state"] == "overdue"
    listing.house.check()
    assert listing.checked(applet)["state"] == "ok"
    (listed,) = listing.house.call("GET", "/applets").json()["items"]
    assert listed["check"] == listing.checked(applet)


def test_unchanged_costs_the_checks_own_row(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.reply(
        Reply(body=b'["a"]', headers=(("ETag", '"1"'),)),
        Reply(status=304),
    )
    listing.make()
    minutes_later(clock, 4)
    listing.house.tick()
    minutes_later(clock, 1)
    database = listing.house.database
    database.sent.clear()
    listing.house.check()
    assert listing.sink.requests[-1].headers["if-none-match"] == '"1"'
    writing = [sql for sql in database.sent if "slots" not in sql and any(word in sql for word in ("INSERT", "UPDATE"))]
    assert len(writing) == 2, database.sent  # the claim and the record
    assert all("UPDATE checks" in sql and "positions SET" not in sql for sql in writing)


def test_a_replayed_tick_finds_what_was_due_by_then(house: House, listing: Listing) -> None:
    """Given the present, when a tick of tomorrow is replayed, then checks are made as of tomorrow."""
    applet = listing.make()
    listing.show("a")
    tomorrow = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(days=1)
    house.check(round(tomorrow.timestamp() * 1000))
    assert house.messages() == ["List: a"]
    assert times(listing.checked(applet)) == (tomorrow, tomorrow + timedelta(minutes=5))
