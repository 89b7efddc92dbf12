"""Two of everything: ticks, checks and changes at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from tests.support.embedded import House, notification
from tests.support.listing import Listing, names
from whenthen.clock import Deadline, now_ms
from whenthen.engine.checks import Checks
from whenthen.engine.orders import Order
from whenthen.errors import Unavailable
from whenthen.net import Answer, Request
from whenthen.queues.memory import MemoryQueue
from whenthen.store.errors import OutcomeUnknown


def later(clock: time_machine.Traveller, minutes: float) -> None:
    clock.shift(timedelta(minutes=minutes))


def orders(house: House) -> list[Order]:
    found = []
    while received := house.orders.receive(wait_seconds=0):
        found += [Order.read(item.body) for item in received]
        for item in received:
            house.orders.delete(item)
    return found


def during_fetch(house: House, work: Callable[[], object]) -> None:
    """Let `work` happen once, between the next fetch and what becomes of it."""
    sources = house.runtime.checks._checker.sources
    send = sources._client.send

    def sending(request: Request, *, timeout_seconds: float | None = None) -> Answer:
        answer = send(request, timeout_seconds=timeout_seconds)
        sources._client.send = send  # type: ignore[method-assign]
        work()
        return answer

    sources._client.send = sending  # type: ignore[method-assign]


def test_c17_two_ticks_at_once_check_each_trigger_once(house: House, listing: Listing) -> None:
    lists = [Listing(house, listing.sink, f"/l{number}") for number in range(30)]
    for number, item in enumerate(lists):
        item.make(name=str(number))
        item.show("a")
    instant = now_ms() + 10 * 60_000
    start = threading.Barrier(4)

    def tick(_number: int) -> int:
        start.wait(timeout=10)
        return house.runtime.checks.tick(instant, Deadline(30))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(tick, range(4))) == 30
    found = orders(house)
    assert len(found) == len({order.check_id for order in found}) == 30


def test_a_repeated_and_a_late_tick_do_no_harm(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("a")
    before = listing.fetches
    later(clock, 5)
    instant = now_ms()
    for now in (instant, instant, instant - 3_600_000, instant):
        listing.house.check(now)
    assert listing.fetches == before + 1
    assert listing.house.messages() == ["List: a"]


def test_an_order_that_comes_twice_and_one_that_comes_late(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("a")
    later(clock, 5)
    listing.house.tick()
    (order,) = orders(listing.house)
    run = listing.house.runtime.checks.run
    assert [report.fired for report in run([order, order], Deadline(30))] == [1]
    assert run([order], Deadline(30)) == []
    later(clock, 6)
    listing.house.tick()
    (second,) = orders(listing.house)
    assert run([order, second], Deadline(30))[0].fired == 0
    assert listing.house.messages() == ["List: a"]


def test_an_old_order_beside_the_valid_one(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given a redelivered order in the same batch, in either place, then the valid one is done."""
    listing.make()
    run = listing.house.runtime.checks.run
    for number, old_first in enumerate((True, False)):
        listing.show(*[f"n{n}" for n in range(number + 1)])
        later(clock, 5)
        listing.house.tick()
        (old,) = orders(listing.house)
        later(clock, 6)
        listing.house.tick()
        (new,) = orders(listing.house)
        reports = run([old, new] if old_first else [new, old], Deadline(30))
        assert [report.fired for report in reports] == [1]


def test_a_lost_order_is_made_again_when_its_claim_has_run_out(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("a")
    later(clock, 5)
    listing.house.tick()
    orders(listing.house)
    later(clock, 4)
    assert listing.house.check() == []
    later(clock, 1)
    assert [report.fired for report in listing.house.check()] == [1]


def test_a_check_whose_claim_was_taken_stores_nothing(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given a check that hangs until another has taken over, then each new name fires once."""
    applet = listing.make()
    listing.show("a")
    later(clock, 5)
    house = listing.house
    during_fetch(house, lambda: house.call("POST", f"/applets/{applet['id']}/check"))
    (report,) = house.check()
    assert "taken over" in report.failure
    assert house.messages() == ["List: a"]


def test_off_stops_at_once_also_in_the_middle_of_a_check(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    listing.show("a")
    later(clock, 5)
    house = listing.house
    during_fetch(house, lambda: house.call("PATCH", f"/applets/{applet['id']}", {"enabled": False}))
    house.check()
    assert house.activity() == []
    assert listing.checked(applet)["state"] == "off"


def test_off_and_on_in_the_middle_of_a_check_starts_after_now(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    path = f"/applets/{applet['id']}"
    listing.show("a")
    later(clock, 5)
    house = listing.house

    def toggle() -> None:
        house.call("PATCH", path, {"enabled": False})
        house.call("PATCH", path, {"enabled": True})

    during_fetch(house, toggle)
    house.check()
    assert house.activity() == []
    listing.show("b", "a")
    later(clock, 6)
    house.check()
    assert house.messages() == ["List: b"]


def test_who_joins_or_leaves_in_the_middle_of_a_check(listing: Listing, clock: time_machine.Traveller) -> None:
    stays = listing.make(name="stays")
    leaves = listing.make(name="leaves")
    listing.show("a")
    later(clock, 5)
    house = listing.house

    def change() -> None:
        house.call("DELETE", f"/applets/{leaves['id']}")
        listing.make(name="joins")

    during_fetch(house, change)
    house.check()
    assert [item["applet_id"] for item in house.activity()] == [stays["id"]]
    listing.show("b", "a")
    later(clock, 6)
    house.check()
    assert sorted(house.messages()) == ["joins: b", "stays: a", "stays: b"]


def test_who_joins_while_many_wait_gets_none_of_them(house: House, listing: Listing) -> None:
    """Given 120 new names, of which one check lets 50 fire, when a second applet joins, then all are the first's."""
    one = listing.make(name="one")
    listing.show(*names(120))
    listing.make(name="two")
    house.check(now_ms() + 6 * 60_000)
    found = house.activity(limit="200")
    assert [item["applet_id"] for item in found] == [one["id"]] * 120


def test_who_listened_leaves_while_another_joins(house: House, listing: Listing) -> None:
    """Given that the only listener is turned off in the middle, then the new one still begins at its making."""
    one = listing.make(name="one")
    listing.show("before")
    during_fetch(house, lambda: house.call("PATCH", f"/applets/{one['id']}", {"enabled": False}))
    two = listing.make(name="two")
    assert listing.checked(two)["state"] == "ok"
    listing.show("after", "before")
    house.check(now_ms() + 6 * 60_000)
    assert house.messages() == ["two: after"]


def test_two_made_at_once_of_which_one_is_first(house: House, listing: Listing) -> None:
    """Given a name between the two first looks, then it is news to the one that was made before it."""

    def another() -> None:
        listing.make(name="first")
        listing.show("between")

    during_fetch(house, another)
    listing.make(name="second")
    house.check(now_ms() + 6 * 60_000)
    assert house.messages() == ["first: between"]


def test_a_rename_in_the_middle_of_a_check_loses_nothing(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    listing.show("a")
    later(clock, 5)
    house = listing.house
    during_fetch(house, lambda: house.call("PATCH", f"/applets/{applet['id']}", {"name": "renamed"}))
    assert [report.fired for report in house.check()] == [1]
    assert house.messages() == ["List: a"]


def test_c18_a24_an_applet_replaced_while_its_check_waits(listing: Listing, clock: time_machine.Traveller) -> None:
    applet = listing.make()
    listing.show("a")
    later(clock, 5)
    house = listing.house
    house.tick()
    house.call("PATCH", f"/applets/{applet['id']}", {"actions": [notification("new {{Name}}")]})
    house.runtime.checks.run(orders(house), Deadline(30))
    assert house.messages() == ["new a"]


def test_eight_applets_made_at_once_begin_together(house: House, listing: Listing) -> None:
    listing.show(*names(20))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: listing.make(name=str(number)), range(8)))
    assert house.activity() == []
    listing.show("new", *names(20))
    house.check(now_ms() + 6 * 60_000)
    assert sorted(house.messages()) == [f"{number}: new" for number in range(8)]


def test_many_checks_of_one_trigger_at_once(house: House, listing: Listing) -> None:
    applet = listing.make()
    listing.show("a", "b")
    path = f"/applets/{applet['id']}/check"
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: house.call("POST", path).json(), range(6)))
    assert sum(answer["fired"] for answer in answers) == 2
    assert sorted(house.messages()) == ["List: a", "List: b"]


def test_an_unknown_outcome_neither_loses_nor_doubles(listing: Listing, clock: time_machine.Traveller) -> None:
    """Given that the commit's answer is lost, then the events are stored once, and the sweep wakes what was not."""
    listing.make()
    listing.show("a")
    later(clock, 5)
    house = listing.house
    execute = house.database._inner.execute
    lost: list[str] = []

    def losing(sql: str, **options: Any) -> Any:
        rows = execute(sql, **options)
        if "INSERT INTO trigger_events" in sql and not lost:
            lost.append(sql)
            raise OutcomeUnknown
        return rows

    house.database._inner.execute = losing  # type: ignore[method-assign]
    house.check()
    later(clock, 6)
    house.check()
    assert lost
    assert len(house.activity()) == 1
    assert house.messages() == ["List: a"]


class FullQueue(MemoryQueue):
    """A queue that takes nothing."""

    def send(self, bodies: Any, *, delay_seconds: int = 0) -> None:  # noqa: ARG002
        raise Unavailable


def test_orders_that_cant_be_sent_stay_due(listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    listing.show("a")
    house = listing.house
    later(clock, 5)
    checks = Checks(house.database, FullQueue, house.runtime.checks._checker)
    assert checks.tick(now_ms(), Deadline(30)) == 1
    later(clock, 1)
    assert [report.fired for report in house.check()] == [1]


def test_what_a_tick_has_no_time_for_is_next_in_line(house: House, listing: Listing) -> None:
    """Given 120 due triggers and time for one chunk a tick, then the oldest are first, and all come."""
    for number in range(120):
        Listing(house, listing.sink, f"/l{number}").make(name=str(number))
    rows = house.table("SELECT check_id, next_check_at FROM checks ORDER BY next_check_at, check_id")
    expected = [row["check_id"] for row in rows]
    instant = now_ms() + 10 * 60_000

    class Short(Deadline):
        """Has time for one chunk."""

        def __init__(self) -> None:
            super().__init__(60)
            self.asked = 0

        def left(self) -> float:
            self.asked += 1
            return 60.0 if self.asked == 1 else 0.0

    found: list[list[str]] = []
    for _ in range(3):
        house.runtime.checks.tick(instant, Short())
        found.append([order.check_id for order in orders(house)])
    assert found == [expected[:20], expected[20:40], expected[40:60]]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        '{"check_id": 1, "claim": "a", "now": 1}',
        '{"check_id": "a", "claim": "b", "now": true}',
    ],
)
def test_messages_that_are_no_orders(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        Order.read(body)


def test_an_order_goes_through_a_queue() -> None:
    order = Order("check", "claim", 1_795_975_500_000)
    assert Order.read(order.to_json()) == order
