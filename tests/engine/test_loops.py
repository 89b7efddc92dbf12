"""The threads of the local run: they outlive what they did not foresee."""

from collections.abc import Callable

import pytest

from tests.support.embedded import House
from tests.support.processes import wait_for
from whenthen.local.loops import Loops


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
