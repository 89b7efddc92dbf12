"""Calls of the database that fail are counted by what they say of it; an answer to what was asked is none."""

import json
from collections.abc import Iterator

import pytest

from tests.support.collected import Collected, collecting
from tests.support.processes import free_port
from tests.support.sink import Reply, Sink
from whenthen.metrics import Metric
from whenthen.store.database import connect
from whenthen.store.errors import (
    Backpressure,
    Conflict,
    Duplicate,
    GuardFailed,
    LogFull,
    MissingTable,
    OutcomeUnknown,
    ScriptTooLong,
    StatementTimeout,
    StoreError,
    Unauthorized,
    Unreachable,
)


@pytest.fixture
def collected() -> Iterator[Collected]:
    with collecting() as found:
        yield found


def refusal(status: int, code: str, message: str = "no") -> Reply:
    """An answer as the server and its front give it."""
    body = json.dumps({"error": {"code": code, "message": message, "correlation_id": "c"}})
    return Reply(status, (("content-type", "application/json"),), body.encode())


@pytest.mark.parametrize(
    ("reply", "error", "metric"),
    [
        (refusal(409, "ALOPEX-S001"), Conflict, Metric.CONFLICTS),
        (refusal(503, "SERVER_BACKPRESSURE"), Backpressure, Metric.BACKPRESSURE),
        (refusal(502, "FRONT_NOT_SENT"), Unreachable, Metric.UNREACHABLE),
        (refusal(502, "FRONT_OUTCOME_UNKNOWN"), OutcomeUnknown, Metric.DATABASE_ERRORS),
        (refusal(408, "QUERY_TIMEOUT"), StatementTimeout, Metric.DATABASE_ERRORS),
        (refusal(401, "UNAUTHORIZED"), Unauthorized, Metric.DATABASE_ERRORS),
        (refusal(400, "ALOPEX-S999", "io error: WAL buffer is full"), LogFull, Metric.DATABASE_ERRORS),
        (refusal(500, "SOMETHING_NEW"), StoreError, Metric.DATABASE_ERRORS),
        (Reply(close=True), OutcomeUnknown, Metric.DATABASE_ERRORS),
    ],
)
def test_a_failure_is_counted_once(collected: Collected, reply: Reply, error: type[StoreError], metric: Metric) -> None:
    with Sink() as server:
        server.reply("/sql", [reply])
        database = connect(server.url)
        with pytest.raises(error):
            database.execute("SELECT 1", timeout_seconds=5)
        database.close()
    assert collected.told() == {metric}
    assert collected.total(metric) == 1


def test_a_database_that_is_not_there(collected: Collected) -> None:
    database = connect(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(Unreachable):
        database.execute("SELECT 1", timeout_seconds=5)
    database.close()
    assert collected.told() == {Metric.UNREACHABLE}


def test_answers_are_not_counted(collected: Collected) -> None:
    database = connect(":memory:")
    database.execute("CREATE TABLE t (id TEXT PRIMARY KEY, v BIGINT NOT NULL)")
    database.execute("INSERT INTO t VALUES ('a', 1)")
    for sql, error in {
        "INSERT INTO t VALUES ('a', 2)": Duplicate,
        "UPDATE t SET v = CASE WHEN v = 9 THEN v END WHERE id = CAST('a' AS TEXT)": GuardFailed,
        "SELECT * FROM missing": MissingTable,
        f"SELECT '{'x' * 2_000_000}'": ScriptTooLong,
    }.items():
        with pytest.raises(error):
            database.execute(sql)
    database.close()
    assert collected.told() == set()
