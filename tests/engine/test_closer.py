"""Old slots go into the log: all of it, once, and counted once, wherever the closer is stopped."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from tests.support.embedded import LEASE, House, fire_one, web_request
from tests.support.history import (
    HOUR,
    LATER,
    SLOT,
    T0,
    Crash,
    Crashed,
    close,
    counted,
    expected,
    fill,
    is_whole,
    logged,
)
from tests.support.sink import Reply, Sink
from whenthen.clock import Deadline
from whenthen.engine import worker as worker_module
from whenthen.engine.closer import close_slots
from whenthen.store import closing as store
from whenthen.store import loads, stat_parts
from whenthen.store.database import connect
from whenthen.store.errors import GuardFailed, MissingTable
from whenthen.store.executions import find_execution
from whenthen.store.history import History
from whenthen.store.migrations import migrate
from whenthen.store.slots import list_slots, open_slot


@pytest.fixture(params=["same server", "its own server"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[History]:
    """An empty history, in the same database and in another."""
    with closing(connect(":memory:")) as hot, closing(connect(":memory:")) as other:
        migrate(hot)
        migrate(other)
        yield History(hot, hot if request.param == "same server" else other, str(tmp_path / "load.parquet"))


def test_a_slot_is_closed_an_hour_after_its_end(history: History) -> None:
    made = fill(history.hot, count=40)
    end = T0 + HOUR // 2
    assert close_slots(history, end + HOUR - 1, Deadline(60)) == 0
    assert logged(history) == Counter()
    assert close_slots(history, end + HOUR, Deadline(60)) == 1
    is_whole(history, made)
    assert close_slots(history, end + HOUR, Deadline(60)) == 0


def test_the_log_has_what_is_known_of_an_execution(history: History) -> None:
    fill(history.hot, count=2, ends=("failed", "skipped"))
    close(history)
    failed, skipped = history.log.execute("SELECT * FROM execution_log_202601 ORDER BY execution_id")
    assert failed == {
        "execution_id": f"{SLOT}.e00000.a",
        "slot": int(SLOT),
        "owner_id": "owner",
        "applet_id": "a",
        "service": "webhooks",
        "trigger_service": "feed",
        "occurred_at": T0,
        "finished_at": T0,
        "state": "failed",
        "reason": "reason 0",
        "note": "",
        "attempts": 1,
        "duration": 0,
        "run": 0,
    }
    assert (skipped["service"], skipped["attempts"], skipped["finished_at"]) == ("feed", 0, T0 + 1)
    [detail] = history.log.execute(f"SELECT * FROM execution_details_20260131 WHERE execution_id = '{SLOT}.e00000.a'")
    assert detail["ingredients"] == '{"v":"x"}'
    assert '"body":"got"' in detail["progress"]


def test_rollups_hold_attempts_and_durations(history: History) -> None:
    fill(history.hot, count=10, applets=("a",), ends=("succeeded",))
    fill(history.hot, "202602010000", 5, at=T0 + HOUR // 2, prefix="f", applets=("a",), ends=("failed",))
    close(history, LATER + HOUR)
    january, february = (
        history.log.execute(f"SELECT * FROM daily_stats_2026{month} WHERE kind = 'applet'") for month in ("01", "02")
    )
    assert [(r["day"], r["hour"], r["succeeded"], r["attempts"], r["duration"], r["longest"]) for r in january] == [
        ("20260131", -1, 10, 10, 45, 9)
    ]
    assert [(r["day"], r["failed"], r["duration"], r["longest"]) for r in february] == [("20260201", 5, 10, 4)]
    hours = history.log.execute("SELECT * FROM daily_stats_202601 WHERE kind = 'service' ORDER BY subject")
    assert [(r["subject"], r["day"], r["hour"], r["succeeded"]) for r in hours] == [
        ("notifications", "20260131", 23, 5),
        ("webhooks", "20260131", 23, 5),
    ]


@pytest.mark.parametrize("done", [False, True], ids=["before it is done", "after it is done"])
def test_a_crash_at_any_request_loses_and_doubles_nothing(
    history: History, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    """Given a closer that ends at its n-th request, for every n, when others go on, then all is there once."""
    monkeypatch.setattr(loads, "PART_ROWS", 4)
    monkeypatch.setattr(stat_parts, "MAX_SUMS", 5)
    all_made = []
    crashed = True
    at = 0
    while crashed:
        at += 1
        slot, start = f"2026020{1 + at // 48}{at % 48 // 2:02}{at % 2 * 3}0", T0
        made = fill(history.hot, slot, 14, at=start, prefix=f"{at}x")
        all_made += made
        crash = Crash(at, done=done)
        crashed = False
        try:
            close_slots(crash.history(history), LATER + 96 * HOUR, Deadline(60))
        except Crashed:
            crashed = True
        close(history, LATER + 96 * HOUR, times=2)
        is_whole(history, all_made)
    assert at > 12, "the crashes did hit something"


def test_two_closers_at_once(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given that a second closer does everything right before each request of a first one, all is there once."""
    monkeypatch.setattr(loads, "PART_ROWS", 4)
    monkeypatch.setattr(stat_parts, "MAX_SUMS", 5)

    class Second(Crash):
        def execute(self, database: object, sql: str, timeout_seconds: float) -> object:  # type: ignore[override]
            self.requests += 1
            if self.requests == self._at:
                close_slots(history, LATER + 96 * HOUR, Deadline(60))
            return database.execute(sql, timeout_seconds=timeout_seconds)  # type: ignore[attr-defined]

    all_made = []
    for at in range(1, 28):
        all_made += fill(history.hot, f"202602{at:02}0000", 14, at=T0, prefix=f"{at}x")
        first = Second(at, done=True)
        close_slots(first.history(history), LATER + 30 * 24 * HOUR, Deadline(60))
        close(history, LATER + 30 * 24 * HOUR, times=1)
        is_whole(history, all_made)


def test_a_part_that_is_sent_twice_is_refused(history: History) -> None:
    made = fill(history.hot, count=12)
    row = list_slots(history.hot)[0]

    def place() -> str:
        return store.copy_rows(history.hot, history.log, SLOT, "") if history.is_apart else SLOT

    seen = loads.begin_load(history.log, row)
    found = loads.next_part(history.log, place(), row, seen, 12)
    assert found is not None
    loads.make_tables(history.log, found[0].day)
    loads.load_part(history, place(), seen, *found)
    with pytest.raises(GuardFailed):
        loads.load_part(history, place(), seen, *found)
    assert set(logged(history).values()) == {1}
    assert counted(history) == expected(made)


def test_a_slot_that_was_opened_again_is_loaded_too(history: History) -> None:
    """Given rows that a clock that was wrong puts into a slot that is gone, they go to the log like the first ones."""
    made = fill(history.hot, count=5)
    close(history)
    made += fill(history.hot, count=5, at=T0 + 1, prefix="a")
    close(history)
    is_whole(history, made)


def test_a_batch_of_the_same_minute_comes_again(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given a tick that is replayed for its minute, when more is final by then, then it is loaded too."""
    history = house.runtime.history
    instant = datetime(2026, 11, 30, 10, 13, tzinfo=UTC)
    clock.move_to(instant)
    made = []
    for number in range(3):
        made += fill(history.hot, f"2026112918{number}0", 2, at=T0, prefix=f"b{number}")
        history.hot.execute(f"INSERT INTO executions_waiting SELECT * FROM executions_2026112918{number}0")
        history.hot.execute(f"DROP TABLE executions_2026112918{number}0")
        history.hot.execute("DELETE FROM slots")
        close_slots(history, round(instant.timestamp() * 1000), Deadline(60))
        clock.shift(1)
    assert Counter(execution for execution, _ in logged(history)) == Counter(one.execution_id for one in made)


def test_a_row_that_comes_while_its_slot_is_closing(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a clock that was wrong, when a row is put in before any request of the closer, then it is not lost."""
    for at in range(1, 16):
        slot = f"202602{at:02}0000"
        made = fill(history.hot, slot, 6, at=T0, prefix="m")

        class Late(Crash):
            def execute(self, database: object, sql: str, timeout_seconds: float) -> object:  # type: ignore[override]
                self.requests += 1
                if self.requests == self._at:
                    with suppress(MissingTable):
                        history.hot.execute(
                            f"INSERT INTO executions_{slot} SELECT '{slot}.zlate.a', applet_id, owner_id, occurred_at, "  # noqa: B023
                            f"state, due_at, wake_at, claim, sending, ingredients, progress FROM executions_{slot} "  # noqa: B023
                            f"WHERE execution_id = CAST('{slot}.m00000.a' AS TEXT)"  # noqa: B023
                        )
                return database.execute(sql, timeout_seconds=timeout_seconds)  # type: ignore[attr-defined]

        late = Late(at, done=True)
        close_slots(late.history(history), LATER + 30 * 24 * HOUR, Deadline(60))
        close(history, LATER + 30 * 24 * HOUR)
        found = {execution for execution, _ in logged(history) if execution.startswith(slot)}
        left = history.hot.execute("SELECT slot FROM slots")
        if store.has_table(history.hot, slot):
            assert left, "a row that can't be loaded keeps its slot"
            history.hot.execute(f"DROP TABLE executions_{slot}")
            history.hot.execute("DELETE FROM slots")
        else:
            assert len(found) in (len(made), len(made) + 1)
    assert set(logged(history).values()) == {1}


def test_many_applets_in_one_slot(history: History) -> None:
    made = fill(history.hot, count=150, applets=[f"a{n}" for n in range(75)])
    close(history)
    is_whole(history, made)


def test_an_empty_slot_just_goes(history: History) -> None:
    open_slot(history.hot, SLOT, T0)
    close(history)
    assert list_slots(history.hot) == []


@pytest.mark.parametrize(("rows", "stays"), [(9, False), (21, True)])
def test_large_tables(history: History, monkeypatch: pytest.MonkeyPatch, rows: int, stays: bool) -> None:
    """Given a table that is too large to drop, it goes in chunks; a very large one stays, and nobody looks at it."""
    monkeypatch.setattr(store, "DROPPED_ROWS", 6)
    monkeypatch.setattr(store, "DELETED_ROWS", 20)
    chunk = store._S["find_chunk_end"]
    monkeypatch.setattr(chunk, "_tail", chunk._tail.replace("3999", "1"))
    fill(history.hot, count=rows)
    close(history)
    assert len(logged(history)) == rows
    assert list_slots(history.hot) == []
    assert store.has_table(history.hot, SLOT) is stays


def test_a_slot_that_fails_does_not_hold_up_the_others(history: History) -> None:
    broken = fill(history.hot, count=1)
    key = f"execution_id = CAST('{broken[0].execution_id}' AS TEXT)"
    history.hot.execute(f"UPDATE executions_{SLOT} SET progress = 'not JSON' WHERE {key}")
    made = fill(history.hot, "202602010000", 3, at=T0 + HOUR // 2, prefix="f")
    with suppress(Exception):
        close(history, LATER + HOUR)
    assert {execution for execution, _ in logged(history)} == {one.execution_id for one in made}
    assert [row.slot for row in list_slots(history.hot)] == [SLOT]


def test_what_waits_moves_and_ends_in_the_log(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """F14: given a retry after hours, when its slot has been closed, then it runs, once, and comes to the log."""
    sink.reply("/", [Reply(503, headers=(("Retry-After", "8000"),)), Reply(200)])
    execution = fire_one(house, url=sink.url)
    house.work()
    for _ in range(2):
        clock.shift(3600)
        house.tick()
    assert house.execution(execution)["state"] == "waiting"
    assert [row.place for row in [find_execution(house.database, execution, "waiting")] if row] == ["waiting"]
    assert [slot.slot for slot in list_slots(house.database) if slot.slot == "202611291800"] == []
    clock.shift(3600)
    assert house.tick().overdue == 1
    assert house.work() == 1
    assert house.execution(execution)["state"] == "succeeded"
    assert len(sink.requests) == 2
    clock.move_to((datetime.now(UTC) + timedelta(hours=1)).replace(minute=13))
    house.tick()
    house.tick()
    assert logged(house.runtime.history) == Counter({(execution, 0): 1})
    assert house.execution(execution)["state"] == "succeeded"
    assert [a["outcome"] for a in house.execution(execution)["attempts"]] == ["retry", "succeeded"]
    assert house.table("SELECT * FROM executions_waiting") == []
    assert house.tick().dead_rows is not None


def test_a_slot_waits_for_its_workers(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given a worker that holds an execution of an old slot, then the slot stays until the worker has let it go."""
    sink.reply("/", [Reply(503, headers=(("Retry-After", "5400"),)), Reply(200)])
    execution = fire_one(house, url=sink.url)
    house.work()
    # The retry is due when the slot is to be closed, and no tick has closed it yet.
    judge = worker_module.judge

    def closing_meanwhile(*args: object) -> object:
        clock.shift(40)
        house.tick()
        assert house.execution(execution)["state"] == "running"
        return judge(*args)  # type: ignore[arg-type]

    clock.move_to(str(house.execution(execution)["due_at"]))
    worker_module.judge = closing_meanwhile  # type: ignore[assignment]
    house.run(execution)
    worker_module.judge = judge
    assert house.execution(execution)["state"] == "succeeded"
    house.tick()
    assert logged(house.runtime.history) == Counter({(execution, 0): 1})
    assert len(sink.requests) == 2


def test_an_unknown_outcome_waits_for_its_answer(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given an answer that comes after the slot has begun to close, then the log has the answer."""
    sink.reply("/", [Reply(503, headers=(("Retry-After", "5400"),)), Reply(200)])
    execution = fire_one(house, url=sink.url)
    house.work()
    judge = worker_module.judge

    def late(*args: object) -> object:
        clock.shift(LEASE + 300)
        house.tick()
        assert house.execution(execution)["state"] == "unknown"
        house.tick()
        assert logged(house.runtime.history) == Counter()
        return judge(*args)  # type: ignore[arg-type]

    clock.move_to(str(house.execution(execution)["due_at"]))
    worker_module.judge = late  # type: ignore[assignment]
    house.run(execution)
    worker_module.judge = judge
    assert house.execution(execution)["state"] == "succeeded"
    house.tick()
    assert house.table("SELECT state FROM execution_log_202611") == [{"state": "succeeded"}]


def test_a_worker_whose_execution_has_moved_goes_no_further(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    """Given a worker that sleeps for hours after its first action, when another has gone on, then it does nothing."""
    house.make_applet(actions=[web_request(sink.url + "/one", repeatable=True), web_request(sink.url + "/two")])
    house.fire()
    [execution] = [item["execution_id"] for item in house.activity()]
    judge = worker_module.judge

    def asleep(*args: object) -> object:
        worker_module.judge = judge
        for _ in range(3):
            clock.shift(3600)
            house.tick()
        house.work()
        assert house.execution(execution)["state"] == "succeeded"
        return judge(*args)  # type: ignore[arg-type]

    worker_module.judge = asleep  # type: ignore[assignment]
    house.run(execution)
    assert Counter(request.path for request in sink.requests) == {"/one": 2, "/two": 1}
    assert house.execution(execution)["state"] == "succeeded"
