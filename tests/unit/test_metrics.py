"""Metrics: counted and measured for one collector, by many threads, or for nobody."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest

from tests.support.collected import collecting
from tests.support.processes import ROOT
from whenthen.engine.tick import TickReport
from whenthen.engine.watching import GAUGES
from whenthen.metrics import EXECUTED, Collector, Metric, collect_into, count, measure, timing
from whenthen.store.executions import State

UNITS = {"Count", "Milliseconds", "Seconds", "Bytes"}
"""Those of CloudWatch's that are used."""


def test_counts_are_summed_and_measures_are_kept_apart() -> None:
    with collecting() as collected:
        count(Metric.ACCEPTED)
        count(Metric.ACCEPTED, 2)
        count(Metric.DUPLICATE, 0)
        measure(Metric.CHECK_DURATION, 1.5)
        measure(Metric.CHECK_DURATION, 0)
        assert collected.values(Metric.ACCEPTED) == [3]
        assert collected.values(Metric.CHECK_DURATION) == [1.5, 0]
        assert collected.told() == {Metric.ACCEPTED, Metric.CHECK_DURATION}


def test_what_is_taken_is_gone() -> None:
    collector = Collector()
    collector.count(Metric.ACCEPTED, 1)
    collector.measure(Metric.OVERDUE, 0)
    assert [(taken.metric, taken.values) for taken in collector.take()] == [
        (Metric.ACCEPTED, [1]),
        (Metric.OVERDUE, [0]),
    ]
    assert collector.take() == []


def test_without_a_collector_nothing_is_kept() -> None:
    count(Metric.ACCEPTED)
    measure(Metric.OVERDUE, 1)
    collector = Collector()
    collect_into(collector)
    collect_into(None)
    count(Metric.ACCEPTED)
    with timing(Metric.CHECK_DURATION):
        pass
    assert collector.take() == []


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
def test_threads_lose_nothing() -> None:
    """Some count while another takes."""
    collector = Collector()
    total = 0.0

    def work(_: int) -> None:
        for _ in range(2000):
            collector.count(Metric.ACCEPTED, 1)
            collector.measure(Metric.EVENT_TO_ACTION, 1)

    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(work, number) for number in range(8)]
        while not all(job.done() for job in jobs):
            total += sum(sum(taken.values) for taken in collector.take())
    total += sum(sum(taken.values) for taken in collector.take())
    assert total == 8 * 2000 * 2


def test_timing_measures_also_what_fails() -> None:
    @timing(Metric.CHECK_DURATION)
    def fail(fails: bool) -> str:
        if fails:
            raise LookupError
        return "done"

    with collecting() as collected:
        assert fail(fails=False) == "done"
        with pytest.raises(LookupError):
            fail(fails=True)
        assert len(collected.values(Metric.CHECK_DURATION)) == 2


def test_names_and_units_are_cloudwatchs() -> None:
    assert {metric.unit for metric in Metric} == UNITS
    assert all(re.fullmatch("[A-Z][A-Za-z]+", metric) for metric in Metric)


def test_every_metric_is_told_by_the_product() -> None:
    """The dashboard must show each one (tests/deployment); one that nothing tells would be an empty graph."""
    sources = (ROOT / "layers" / "whenthen" / "python" / "whenthen").rglob("*.py")
    text = "".join(path.read_text() for path in sources if path.name != "metrics.py")
    told = {Metric[name] for name in re.findall(r"Metric\.([A-Z_]+)", text)} | set(EXECUTED.values())
    assert told == set(Metric)


def test_every_number_of_a_tick_has_a_metric_of_its_own() -> None:
    assert GAUGES.keys() == {field.name for field in fields(TickReport)}
    assert len(set(GAUGES.values())) == len(GAUGES)


def test_every_state_that_is_final_has_a_metric() -> None:
    assert EXECUTED.keys() == set(State) - {State.QUEUED, State.RUNNING, State.WAITING}
