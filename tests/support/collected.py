"""What the product counts, measures and logs in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from whenthen.metrics import Collector, Metric, collect_into


class Collected:
    """Everything since the test began, whoever asks."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._values: dict[Metric, list[float]] = {}

    def values(self, metric: Metric) -> list[float]:
        """Each value that was measured, or the sums of what was counted."""
        for taken in self._collector.take():
            self._values.setdefault(taken.metric, []).extend(taken.values)
        return self._values.get(metric, [])

    def total(self, metric: Metric) -> float:
        """The sum of what was counted."""
        return sum(self.values(metric))

    def told(self) -> set[Metric]:
        """The metrics that there is anything of."""
        return {metric for metric in Metric if self.values(metric)}


@contextmanager
def collecting() -> Iterator[Collected]:
    """Collect until the end."""
    collector = Collector()
    collect_into(collector)
    try:
        yield Collected(collector)
    finally:
        collect_into(None)


def lines(log: pytest.LogCaptureFixture, **carrying: str) -> list[str]:
    """The messages of lines that carry these values."""
    return [r.getMessage() for r in log.records if carrying.items() <= vars(r).items()]


def carried(log: pytest.LogCaptureFixture, message: str) -> dict[str, Any]:
    """What the one line with this message carries."""
    (record,) = [record for record in log.records if record.getMessage() == message]
    return vars(record)
