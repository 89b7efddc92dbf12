"""The retry policy of a unit of work: what is run again, and until when."""

import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from whenthen.clock import Deadline
from whenthen.store.errors import (
    Backpressure,
    Conflict,
    Duplicate,
    GuardFailed,
    InvalidText,
    LogFull,
    MissingTable,
    NotReady,
    OutcomeUnknown,
    ScriptTooLong,
    StatementTimeout,
    StoreError,
    Unauthorized,
    Unreachable,
)
from whenthen.store.units import run_unit

NOTHING_WRITTEN: list[Exception] = [Conflict(), Backpressure(), Unreachable(), GuardFailed("revision")]
UNKNOWN: list[Exception] = [OutcomeUnknown(), StatementTimeout()]
HOPELESS: list[Exception] = [
    Duplicate(("event_id",)),
    MissingTable("t"),
    Unauthorized(),
    LogFull(),
    InvalidText(),
    ScriptTooLong(),
    NotReady(),
    StoreError(),
    ValueError("a bug"),
]


class Unit:
    """Fails with each of `errors` in turn, then answers how often it was run."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.runs = 0

    def __call__(self) -> int:
        self.runs += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.runs


def named(error: Exception) -> str:
    return type(error).__name__


@pytest.mark.parametrize("repeatable", [False, True])
@pytest.mark.parametrize("error", NOTHING_WRITTEN, ids=named)
def test_runs_again_when_nothing_was_written(error: Exception, repeatable: bool) -> None:
    assert run_unit(Unit(error), deadline=Deadline(5), repeatable=repeatable) == 2
    assert run_unit(Unit(error, error, error), deadline=Deadline(5), repeatable=repeatable) == 4


@pytest.mark.parametrize("error", UNKNOWN, ids=named)
def test_an_unknown_outcome_is_run_again_only_if_repeatable(error: Exception) -> None:
    """Whether it is the first run that ends so, or a later one."""
    assert run_unit(Unit(error, error, Conflict(), error), deadline=Deadline(5), repeatable=True) == 5

    for earlier in ([], [Conflict()], [Conflict(), Backpressure()]):
        unit = Unit(*earlier, error)
        with pytest.raises(OutcomeUnknown) as raised:
            run_unit(unit, deadline=Deadline(5), repeatable=False)
        assert (raised.value, unit.runs) == (error, len(earlier) + 1)


@pytest.mark.parametrize("repeatable", [False, True])
@pytest.mark.parametrize("error", HOPELESS, ids=named)
def test_nothing_else_is_run_again(error: Exception, repeatable: bool) -> None:
    """Whether it is the first run that ends so, or a later one."""
    for earlier in ([], [Conflict()], [Conflict(), Unreachable()]):
        unit = Unit(*earlier, error, Conflict())
        with pytest.raises(type(error)) as raised:
            run_unit(unit, deadline=Deadline(5), repeatable=repeatable)
        assert (raised.value, unit.runs) == (error, len(earlier) + 1)


def test_the_last_error_is_told() -> None:
    last = Backpressure()
    errors: list[Exception] = [Conflict(), Unreachable()]

    def unit() -> None:
        raise errors.pop(0) if errors else last

    with pytest.raises(Backpressure) as raised:
        run_unit(unit, deadline=Deadline(0.5), repeatable=False)
    assert raised.value is last


def always(error: Exception, starts: list[float]) -> Callable[[], None]:
    def unit() -> None:
        starts.append(time.monotonic())
        raise error

    return unit


@pytest.mark.parametrize("seconds", [0.4, 1.0])
def test_no_run_begins_after_the_deadline(seconds: float) -> None:
    starts: list[float] = []
    began = time.monotonic()
    with pytest.raises(Conflict):
        run_unit(always(Conflict(), starts), deadline=Deadline(seconds), repeatable=False)
    # A sleep may end some milliseconds late on a busy machine.
    assert max(starts) - began < seconds + 0.1
    assert time.monotonic() - began < seconds + 0.2
    assert len(starts) >= 3


@pytest.mark.parametrize("seconds", [0, 0.03])
def test_without_time_for_another_run_it_runs_once(seconds: float) -> None:
    starts: list[float] = []
    with pytest.raises(Backpressure):
        run_unit(always(Backpressure(), starts), deadline=Deadline(seconds), repeatable=True)
    assert len(starts) == 1


def test_waits_grow_and_differ() -> None:
    """Given clients that collide, when they run again, then not in step."""
    starts: list[list[float]] = [[], []]
    for one in starts:
        with pytest.raises(Conflict):
            run_unit(always(Conflict(), one), deadline=Deadline(0.5), repeatable=False)
    first, second = ([b - a for a, b in pairwise(one)] for one in starts)
    assert len(first) >= 4
    assert first[-1] > 0.1
    assert any(abs(a - b) > 0.0005 for a, b in zip(first, second, strict=False))


def test_the_first_wait_is_short_and_differs_too() -> None:
    """Given clients that collide once, which is the rule, then they soon come again, and not in step."""
    waits = []
    for _ in range(6):
        starts: list[float] = []
        unit = Unit(Conflict())

        def once(unit: Unit = unit, starts: list[float] = starts) -> int:
            starts.append(time.monotonic())
            return unit()

        assert run_unit(once, deadline=Deadline(5), repeatable=False) == 2
        waits.append(starts[1] - starts[0])
    assert sorted(waits)[3] < 0.1
    assert max(waits) - min(waits) > 0.001
