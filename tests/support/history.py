"""Slots to be closed, and what has come of them: short words for tests of the history."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.scenario import OWNER
from whenthen.clock import Deadline
from whenthen.engine.closer import close_slots
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database, Rows
from whenthen.store.errors import MissingTable
from whenthen.store.executions import State
from whenthen.store.history import History
from whenthen.store.log import list_months
from whenthen.store.progress import Progress
from whenthen.store.slots import list_slots, open_slot
from whenthen.store.stat_parts import list_part_days
from whenthen.store.statements import Statement

SLOT = "202601312330"
T0 = 1_769_902_200_000
HOUR = 3_600_000
LATER = T0 + 2 * HOUR
"""When `SLOT` is to be closed."""

ENDS = (State.SUCCEEDED, State.FAILED, State.SKIPPED, State.UNKNOWN)

_INSERT = Statement(
    "test",
    "INSERT INTO executions_{place} (execution_id, applet_id, owner_id, occurred_at, state, due_at, wake_at, claim, "
    "ingredients, progress) SELECT json_extract(value,'$[0]'), json_extract(value,'$[1]'), json_extract(value,'$[2]'), "
    "CAST(json_extract(value,'$[3]') AS BIGINT), json_extract(value,'$[4]'), NULL, "
    "CAST(json_extract(value,'$[5]') AS BIGINT), 'test', json_extract(value,'$[6]'), json_extract(value,'$[7]') "
    "FROM json_each(:rows)",
)


@dataclass(frozen=True)
class Made:
    """An execution that a test has put somewhere."""

    execution_id: str
    applet_id: str
    owner_id: str
    state: str
    occurred_at: int
    service: str


def attempt(service: str, started_at: int, duration: int) -> dict[str, Any]:
    """An attempt as the worker keeps it."""
    return {
        "action": 0, "service": service, "name": "a", "number": 1, "started_at": started_at,
        "finished_at": started_at + duration, "outcome": "succeeded", "reason": "", "notes": [],
        "request": {"body": "sent"}, "answer": {"body": "got"},
    }  # fmt: skip


def fill(
    database: Database,
    slot: str = SLOT,
    count: int = 10,
    *,
    at: int = T0,
    prefix: str = "e",
    applets: Sequence[str] = ("a", "b", "c"),
    owners: Sequence[str] = (OWNER,),
    ends: Sequence[str] = ENDS,
) -> list[Made]:
    """Open a slot and put final executions into it; number `n` took `n` milliseconds."""
    open_slot(database, slot, at)
    made, rows = [], []
    for number in range(count):
        applet, owner, state = applets[number % len(applets)], owners[number % len(owners)], ends[number % len(ends)]
        service = ("webhooks", "notifications")[number % 2] if state != State.SKIPPED else "feed"
        one = Made(f"{slot}.{prefix}{number:05}.{applet}", applet, owner, state, at + number % 7, service)
        tried = () if state == State.SKIPPED else (attempt(service, at, number),)
        progress = Progress(
            reason=f"reason {number}", attempts=tried, finished_at=at + number, note="", trigger_service="feed"
        )
        values = [one.execution_id, applet, owner, one.occurred_at, state, None, '{"v":"x"}', progress.to_json()]
        made.append(one)
        rows.append(values)
    for start in range(0, count, 500):
        text = json.dumps(rows[start : start + 500])
        database.execute(_INSERT.render(place=slot, rows=text), timeout_seconds=60)
    return made


def close(history: History, now: int = LATER, *, times: int = 3) -> None:
    """Let closers run until nothing is left to do."""
    for _ in range(times):
        close_slots(history, now, Deadline(60))


def logged(history: History) -> Counter[tuple[str, int]]:
    """How often each run of each execution is in the log, by id and run."""
    found: Counter[tuple[str, int]] = Counter()
    for month in list_months(history.log):
        for row in history.log.execute(f"SELECT execution_id, run FROM execution_log_{month}", timeout_seconds=60):
            found[row["execution_id"], row["run"]] += 1
    return found


def detailed(history: History) -> Counter[str]:
    """How often each execution has a payload."""
    found: Counter[str] = Counter()
    for row in history.log.execute("SELECT detail_day FROM detail_days"):
        try:
            rows = history.log.execute(f"SELECT execution_id FROM execution_details_{row['detail_day']}")
        except MissingTable:
            continue
        found.update(item["execution_id"] for item in rows)
    return found


def counted(history: History) -> Counter[tuple[str, str, str]]:
    """The rollups, also those that are not merged: executions by kind, subject and state."""
    found: Counter[tuple[str, str, str]] = Counter()
    tables = [f"daily_stats_{month}" for month in list_months(history.log)]
    for table in (*tables, *(f"stat_parts_{day}" for day in list_part_days(history.log))):
        for row in history.log.execute(f"SELECT * FROM {table}"):
            for state in ENDS:
                found[row["kind"], row["subject"], state] += row[state]
    return +found


def expected(made: Sequence[Made]) -> Counter[tuple[str, str, str]]:
    """What `counted` has to say of these."""
    found: Counter[tuple[str, str, str]] = Counter()
    for one in made:
        found["applet", one.applet_id, one.state] += 1
        found["service", one.service, one.state] += 1
    return found


def is_whole(history: History, made: Sequence[Made]) -> None:
    """All of these are in the log, once, with their payload and counted; and their slots are gone."""
    ids = {one.execution_id for one in made}
    log = logged(history)
    assert {execution_id for execution_id, _ in log} == ids, "a row is lost, or there is one too many"
    assert set(log.values()) == {1}, "a row was loaded twice"
    assert detailed(history) == Counter(ids)
    assert counted(history) == expected(made), "something was counted twice, or not"
    places = {one.execution_id[:12] for one in made}
    assert not places & {row.slot for row in list_slots(history.hot)}
    for place in places:
        try:
            left = history.hot.execute(f"SELECT COUNT(*) AS n FROM executions_{place}")
        except MissingTable:
            continue
        raise AssertionError(f"the table of {place} is still there, with {left} rows")


class Crashed(BaseException):
    """The process has ended."""


class Crash:
    """A process that ends at one of its requests, before or after the database has done it.

    Args:
        at: number of the request, from 1.
        done: whether the database has done it.

    Attributes:
        requests: how many there were.
    """

    def __init__(self, at: int, *, done: bool) -> None:
        self.requests = 0
        self._at = at
        self._done = done

    def history(self, real: History) -> History:
        """The history as that process has it."""
        hot = _Crashing(real.hot, self)
        return History(hot, _Crashing(real.log, self) if real.is_apart else hot, real.copy_file)

    def execute(self, database: Database, sql: str, timeout_seconds: float) -> Rows:
        self.requests += 1
        if self.requests != self._at:
            return database.execute(sql, timeout_seconds=timeout_seconds)
        if self._done:
            database.execute(sql, timeout_seconds=timeout_seconds)
        raise Crashed


class _Crashing:
    embedded = True

    def __init__(self, inner: Database, crash: Crash) -> None:
        self._inner = inner
        self._crash = crash

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        return self._crash.execute(self._inner, sql, timeout_seconds)

    def close(self) -> None:
        """The inner one is its owner's."""
