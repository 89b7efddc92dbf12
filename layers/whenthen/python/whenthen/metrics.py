"""Numbers to watch: what happens is counted and measured here, for a collector that somebody reads.

Without a collector nothing is kept. In Lambda `observability` reads one after each invocation; the local run has none.
"""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, Self

_COUNT = "Count"
_MILLISECONDS = "Milliseconds"
_SECONDS = "Seconds"
_BYTES = "Bytes"


class Metric(StrEnum):
    """What can be counted or measured, by its name in CloudWatch. docs/aws.md says what each one means."""

    unit: str

    def __new__(cls, name: str, unit: str = _COUNT) -> Self:
        """Make a member with a unit of CloudWatch's."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.unit = unit
        return member

    # Events.
    ACCEPTED = "Accepted"
    DUPLICATE = "Duplicate"
    SENT_TO_INTAKE_QUEUE = "SentToIntakeQueue"
    DRAINED = "Drained"
    LOST_WRITES = "LostWrites"

    # Checks of triggers.
    CHECKS_CLAIMED = "ChecksClaimed"
    CHECK_DURATION = "CheckDuration", _MILLISECONDS
    CHECK_FAILED = "CheckFailed"
    FOUND = "Found"
    TRIGGERS_OVERDUE = "TriggersOverdue"

    # Executions.
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    SKIPPED = "Skipped"
    UNKNOWN = "Unknown"
    RETRIED = "Retried"
    EVENT_TO_ACTION = "EventToAction", _MILLISECONDS
    OVERDUE = "Overdue"
    OLDEST_DUE = "OldestDueSeconds", _SECONDS

    # Calls of the database that failed.
    CONFLICTS = "Conflicts"
    BACKPRESSURE = "Backpressure"
    UNREACHABLE = "Unreachable"
    DATABASE_ERRORS = "DatabaseErrors"

    # What is in the database, and how its host is.
    SLOTS_OPEN = "SlotsOpen"
    SLOTS_STUCK = "SlotsStuck"
    SEEN_EVENTS = "SeenEvents"
    DEAD_ROWS = "DeadRows"
    LOG_USED = "LogUsedBytes", _BYTES
    TABLE_FILE_BYTES = "TableFileBytes", _BYTES
    TABLE_FILES = "TableFiles"
    HOST_REPORT_AGE = "HostReportAgeSeconds", _SECONDS


EXECUTED: Mapping[str, Metric] = MappingProxyType(
    {
        "succeeded": Metric.SUCCEEDED,
        "failed": Metric.FAILED,
        "skipped": Metric.SKIPPED,
        "unknown": Metric.UNKNOWN,
    }
)
"""The metric of each state in which an execution can end."""


class Taken(NamedTuple):
    """What was collected: a metric's sum, if it is one that is counted, or else each value that was measured."""

    metric: Metric
    values: list[float]


class Collector:
    """Keeps what is counted and measured until it is taken. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: dict[Metric, float] = {}
        self._values: dict[Metric, list[float]] = {}

    def count(self, metric: Metric, number: int) -> None:
        """See `count`."""
        with self._lock:
            self._sums[metric] = self._sums.get(metric, 0) + number

    def measure(self, metric: Metric, value: float) -> None:
        """See `measure`."""
        with self._lock:
            self._values.setdefault(metric, []).append(value)

    def take(self) -> list[Taken]:
        """Return what has been collected since the last time."""
        with self._lock:
            sums, values = self._sums, self._values
            self._sums, self._values = {}, {}
        return [
            *(Taken(metric, [total]) for metric, total in sums.items()),
            *(Taken(metric, measured) for metric, measured in values.items()),
        ]


_collector: Collector | None = None


def collect_into(collector: Collector | None) -> None:
    """Let everything in this process be counted and measured by `collector`, or by nobody."""
    global _collector
    _collector = collector


def count(metric: Metric, number: int = 1) -> None:
    """Add `number` to the metric; 0 changes nothing."""
    if _collector is not None and number:
        _collector.count(metric, number)


def measure(metric: Metric, value: float) -> None:
    """Note a value of the metric, in its unit."""
    if _collector is not None:
        _collector.measure(metric, value)


@contextmanager
def timing(metric: Metric) -> Iterator[None]:
    """Measure how long something takes, in milliseconds, however it ends. Also decorates a function."""
    started = time.perf_counter()
    try:
        yield
    finally:
        measure(metric, (time.perf_counter() - started) * 1000)
