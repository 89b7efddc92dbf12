"""The threads of the local run: they outlive what they did not foresee."""

from collections.abc import Callable

import pytest

from tests.support.embedded import House, Json
from tests.support.listing import Listing
from tests.support.processes import wait_for
from whenthen.clock import now_ms
from whenthen.engine.orders import new_claim, send_orders
from whenthen.local.loops import Loops
from whenthen.store.checks import take_check
from whenthen.store.errors import Unreachable


@pytest.fixture
def running(house: House) -> Callable[[], Loops]:
    def start() -> Loops:
        loops = Loops(house.runtime)
        loops.start()
        return loops

    return start


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, OverflowError])
def test_a_bug_does_not_end_the_threads(
    house: House, running: Callable[[], Loops], monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    house.make_applet()
    run = house.runtime.worker.run
    failures: list[int] = []

    def fail_first(*arguments: object) -> set[str]:
        if len(failures) < 4:
            failures.append(1)
            raise error("a bug")
        return run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(house.runtime.worker, "run", fail_first)
    loops = running()
    try:
        for _ in range(4):
            house.fire()
            assert wait_for(lambda: not house.wakeups._heap)
        assert wait_for(lambda: len(failures) == 4)
        house.fire(query={"value1": "after"})
        assert wait_for(lambda: bool(house.inbox()))
    finally:
        loops.stop()
    assert house.inbox()[0]["message"] == "door: after"


def test_they_stop_soon(running: Callable[[], Loops]) -> None:
    running().stop()


def test_they_tick_check_and_work(house: House, listing: Listing, running: Callable[[], Loops]) -> None:
    """Given a check that is due, then the first tick, a checker and a worker bring it to the inbox."""
    listing.make()
    listing.show("a")
    house.table("UPDATE checks SET next_check_at = 1")
    loops = running()
    try:
        assert wait_for(lambda: bool(house.inbox()))
    finally:
        loops.stop()
    assert house.inbox()[0]["message"] == "List: a"


@pytest.mark.parametrize("error", [RuntimeError("a bug"), Unreachable()])
def test_a_checker_outlives_what_it_did_not_foresee(
    house: House,
    listing: Listing,
    running: Callable[[], Loops],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    applet = listing.make()
    listing.show("a")
    run = house.runtime.checks.run
    failures: list[int] = []

    def fail_first(*arguments: object) -> object:
        if len(failures) < 3:
            failures.append(1)
            raise error
        return run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(house.runtime.checks, "run", fail_first)
    loops = running()
    try:
        for _ in range(4):
            notify(house, applet)
            assert wait_for(lambda: not house.orders._heap)
        assert wait_for(lambda: bool(house.inbox()))
    finally:
        loops.stop()
    assert len(failures) == 3


def notify(house: House, applet: Json) -> None:
    """Make the applet's check due and pass it on, whatever has become of the last one."""
    (row,) = house.table(f"SELECT trigger_id FROM applets WHERE applet_id = '{applet['id']}'")
    now = now_ms()
    # Not due for the loops' own tick: it would claim it, too.
    house.table("UPDATE checks SET lease_until = 0, claim = ''")
    taken = take_check(house.database, row["trigger_id"], claim=new_claim(), lease_until=now + 60_000)
    assert taken is not None
    send_orders(house.database, house.orders, {row["trigger_id"]: taken}, now)
