"""Numbers that stand apart are merged when their day is over: all of them, once, and readable throughout."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import time_machine

from tests.support.embedded import House
from tests.support.history import HOUR, SLOT, T0, Crash, Crashed, Made, close, counted, expected, fill, is_whole
from whenthen.clock import Deadline
from whenthen.engine.closer import merge_stats
from whenthen.store import stat_parts
from whenthen.store.database import Database, Rows, connect
from whenthen.store.history import History
from whenthen.store.migrations import migrate
from whenthen.store.stats import Numbers, list_stats, sum_stats

OVER = T0 + HOUR // 2 + 2 * HOUR
"""When the day of `SLOT`, which is its last one, is to be merged."""
EARLIER = "202601312300"
APPLETS = tuple(f"a{number}" for number in range(8))


@pytest.fixture(autouse=True)
def _few_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stat_parts, "MAX_SUMS", 5)


@pytest.fixture(params=["same server", "its own server"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[History]:
    """An empty history, in the same database and in another."""
    with closing(connect(":memory:")) as hot, closing(connect(":memory:")) as other:
        migrate(hot)
        migrate(other)
        yield History(hot, hot if request.param == "same server" else other, str(tmp_path / "load.parquet"))


def merge(history: History, now: int = OVER) -> int:
    return merge_stats(history.log, now, Deadline(60))


def tables(history: History) -> list[str]:
    """The tables of numbers that stand apart."""
    names = [row["table_name"] for row in history.log.execute("SHOW TABLES")]
    return [name for name in names if name.startswith("stat_parts_")]


def make(history: History, *slots: str, prefix: str = "e") -> list[Made]:
    """Executions of more applets than fit one request, in the log."""
    made = []
    for number, slot in enumerate(slots):
        made += fill(history.hot, slot, 16, at=T0, prefix=f"{prefix}{number}x", applets=APPLETS)
    close(history, T0 + 96 * HOUR)
    return made


def rows_of(history: History, applet: str) -> list[tuple[int, int, int]]:
    """Runs, attempts and the longest duration of each rollup of an applet."""
    found = history.log.execute(f"SELECT * FROM daily_stats_202601 WHERE subject = '{applet}' ORDER BY attempts")
    return [
        (sum(row[end] for end in ("succeeded", "failed", "skipped", "unknown")), row["attempts"], row["longest"])
        for row in found
    ]


def test_a_day_is_merged_two_hours_after_its_end(history: History) -> None:
    """Given two parts with rows of their own, then an applet has one row, and their table is gone."""
    made = make(history, EARLIER, SLOT)
    assert tables(history) == ["stat_parts_20260131"]
    assert rows_of(history, "a0") == []
    assert merge(history, OVER - 1) == 0
    assert merge(history) == 1
    assert tables(history) == []
    is_whole(history, made)
    assert rows_of(history, "a0") == [(4, 4, 8)]
    assert merge(history) == 0


def test_a_few_numbers_need_no_table_of_their_own(history: History) -> None:
    fill(history.hot, SLOT, 16, at=T0, applets=APPLETS[:2])
    close(history)
    assert tables(history) == []
    assert history.log.execute("SELECT * FROM stat_months") == []


def test_what_comes_after_the_merging_is_merged_again(history: History) -> None:
    made = make(history, SLOT)
    merge(history)
    made += make(history, EARLIER, prefix="late")
    assert counted(history) == expected(made)
    assert merge(history) == 1
    is_whole(history, made)
    assert [runs for runs, _, _ in rows_of(history, "a0")] == [2, 2]


def test_sums_are_the_same_before_and_after(history: History) -> None:
    """Given days and months with and without numbers apart, then all of them are read, and only those asked for."""
    made = make(history, EARLIER, SLOT, "202602010000", "202602020000")

    def seen() -> tuple[object, ...]:
        sums = sum_stats(history.log, "owner", "20260131", "20260201", applets_from="20260201")
        totals: dict[tuple[str, str, str, int | None], Numbers] = {}
        for row in list_stats(history.log, "owner", "20260101", "20260228"):
            totals.setdefault((row.kind, row.subject, row.day, row.hour), Numbers()).add_all(row.numbers)
        return sums.applets, sums.last_days, sums.services, totals

    apart = seen()
    assert merge(history) == 1
    one_merged = seen()
    assert merge(history, T0 + 96 * HOUR) == 2
    assert apart == one_merged == seen()
    assert apart[0]["a0"].runs == 2  # type: ignore[index]
    total = sum_stats(history.log, "owner", "20260101", "20260228")
    assert sum(numbers.runs for numbers in total.applets.values()) == len(made)
    assert total.last_days == dict.fromkeys(APPLETS, "20260202")
    assert sum_stats(history.log, "stranger", "20260101", "20260228").applets == {}


class _Meanwhile:
    """A database where something is done before one of its requests, or before each when `at` is 0."""

    embedded = True

    def __init__(self, inner: Database, do: Callable[[], object], *, at: int = 0) -> None:
        self.requests = 0
        self._inner = inner
        self._do = do
        self._at = at

    def execute(self, sql: str, *, timeout_seconds: float = 30.0) -> Rows:
        self.requests += 1
        if self._at in (0, self.requests):
            self._do()
        return self._inner.execute(sql, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        """The inner one is its owner's."""


def test_a_merging_between_two_statements_of_a_reader(history: History) -> None:
    made = make(history, SLOT)
    reader = _Meanwhile(history.log, lambda: merge(history), at=2)
    sums = sum_stats(reader, "owner", "20260131", "20260131")
    assert sum(numbers.runs for numbers in sums.applets.values()) == len(made)
    assert tables(history) == []


@pytest.mark.parametrize("done", [False, True], ids=["before it is done", "after it is done"])
def test_a_crash_at_any_request_loses_and_doubles_nothing(history: History, done: bool) -> None:
    made: list[Made] = []
    crashed = True
    at = 0
    while crashed:
        at += 1
        made += make(history, f"20260131{at:02}00")
        crashed = False
        try:
            merge(Crash(at, done=done).history(history))
        except Crashed:
            crashed = True
        assert counted(history) == expected(made)
        merge(history)
        is_whole(history, made)
        assert tables(history) == []
    assert at > 2


@pytest.mark.parametrize("at", [1, 2])
def test_another_merges_and_more_comes_meanwhile(history: History, at: int) -> None:
    """Given a second poller that merges and closes a slot of the day before a request of the first, nothing is lost."""
    made = make(history, SLOT)

    def meanwhile() -> None:
        merge(history)
        made.extend(make(history, EARLIER, prefix="m"))

    log = _Meanwhile(history.log, meanwhile, at=at)
    merge_stats(log, OVER, Deadline(60))
    assert counted(history) == expected(made)
    merge(history)
    is_whole(history, made)


def test_a_merging_before_each_request_of_a_closer(history: History) -> None:
    """Given a table that goes again and again while a slot of its day is closed, then nothing is lost or doubled."""
    made = make(history, SLOT)
    log = _Meanwhile(history.log, lambda: merge(history))
    made += fill(history.hot, EARLIER, 16, at=T0, prefix="b", applets=APPLETS)
    close(History(log if not history.is_apart else history.hot, log, history.copy_file), OVER)
    assert log.requests > 0
    close(history, OVER)
    merge(history)
    is_whole(history, made)


def test_the_poller_merges_once_an_hour(house: House, clock: time_machine.Traveller) -> None:
    """Given six applets that run in one slot, then a tick of the next day merges their numbers."""
    for number in range(6):
        house.make_applet(name=str(number))
    house.fire()
    house.work()
    history = house.runtime.history
    clock.move_to("2026-11-29T20:12:00Z")
    house.tick()
    assert tables(history) == ["stat_parts_20261129"]
    clock.move_to("2026-11-30T02:12:00Z")
    house.tick()
    assert tables(history) == ["stat_parts_20261129"]
    clock.shift(60)
    house.tick()
    assert tables(history) == []
    runs = house.table("SELECT subject, succeeded FROM daily_stats_202611 WHERE kind = 'applet'")
    assert sorted(row["succeeded"] for row in runs) == [1] * 6
