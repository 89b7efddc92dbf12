"""How one applet's executions have ended, wherever they are by now."""

from collections import Counter

import pytest

from tests.support.embedded import House
from tests.support.history import HOUR, close, fill
from tests.support.scenario import OWNER
from whenthen.clock import now_ms
from whenthen.engine.applet_numbers import read_numbers
from whenthen.store.slots import slot_at

DAY = 24 * HOUR


@pytest.mark.parametrize("closed", [False, True])
def test_numbers_of_days(house: House, closed: bool) -> None:
    """Given runs of today, of last week and of last month, then each counts once, before and after its slot closes."""
    now = now_ms()
    expected = {7: Counter[str](), 30: Counter[str]()}
    for days in (0, 6, 7, 29, 30):
        at = now - days * DAY
        made = fill(house.database, slot_at(at), 7, at=at, applets=("a", "b"), owners=(OWNER,))
        if closed or days:
            close(house.runtime.history, now=at + 3 * HOUR)
        for within, counts in expected.items():
            if days < within:
                counts.update(one.state for one in made if one.applet_id == "a")
    found = read_numbers(house.runtime.history, OWNER, "a", days=(7, 30), now=now)
    for within, numbers in found.items():
        assert {state: getattr(numbers, state) for state in expected[within]} == expected[within]
        assert numbers.runs == sum(expected[within].values())
    assert read_numbers(house.runtime.history, "another", "a", days=(7,), now=now)[7].runs == 0
