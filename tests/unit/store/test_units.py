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
    assert run_unit(Unit(error, error), deadline=Deadline(5), repeatable=repeatable) == 3


@pytest.mark.parametrize("error", UNKNOWN, ids=named)
def test_an_unknown_outcome_is_run_again_only_if_repeatable(error: Exception) -> None:
    assert run_unit(Unit(error), deadline=Deadline(5), repeatable=True) == 2

    unit = Unit(error)
    with pytest.raises(OutcomeUnknown):
        run_unit(unit, deadline=Deadline(5), repeatable=False)
    assert unit.runs == 1


@pytest.mark.parametrize("repeatable", [False, True])
@pytest.mark.parametrize("error", HOPELESS, ids=named)
def test_nothing_else_is_run_again(error: Exception, repeatable: bool) -> None:
    unit = Unit(error)
    with pytest.raises(type(error)) as raised:
        run_unit(unit, deadline=Deadline(5), repeatable=repeatable)
    assert (raised.value, unit.runs) == (error, 1)


def test_a_later_hopeless_error_ends_it() -> None:
    unit = Unit(Conflict(), Duplicate(("event_id",)), Conflict())
    with pytest.raises(Duplicate):
        run_unit(unit, deadline=Deadline(5), repeatable=True)
    assert unit.runs == 2


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


def test_without_time_it_runs_once() -> None:
    starts: list[float] = []
    with pytest.raises(Backpressure):
        run_unit(always(Backpressure(), starts), deadline=Deadline(0), repeatable=True)
    assert len(starts) == 1


def test_waits_grow_and_differ() -> None:
    """Given clients that collide, when they run again, then not in step."""
    starts: list[list[float]] = [[], []]
    for one in starts:
        with pytest.raises(Conflict):
            run_unit(always(Conflict(), one), deadline=Deadline(0.5), repeatable=False)
    first, second = ([b - a for a, b in pairwise(one)] for one in starts)
    assert first[-1] > 0.1
    assert any(abs(a - b) > 0.0005 for a, b in zip(first, second, strict=False))
