"""Every error that the server, its front, the engine or the client is known to give, told apart."""

import pytest
from alopex import AlopexError  # type: ignore[attr-defined]  # exported, but not in its stubs

from whenthen.store.database import translate
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

E999 = "sql error: error[ALOPEX-E999]: "
PLAN = f"{E999}invalid operation: async_plan_for_routing - "
SENT = "POST /sql failed against http://127.0.0.1:8080 after the request was sent; it was not retried"
HTML = "server returned HTTP {} without the documented {{'error': {{'code'}}}} body: '<h1>HTTP 503 wanted</h1>'"


def error(code: str, message: str, status: int | None = None) -> AlopexError:
    """As the client builds it: a status only where there was an answer."""
    made = AlopexError(message)
    made.code = code
    if status is not None:
        made.http_status = status
    return made


@pytest.mark.parametrize(
    ("code", "message", "status", "expected"),
    [
        ("ALOPEX-S001", "transaction conflict", 409, Conflict),
        ("ALOPEX-PY104", "transaction conflict", None, Conflict),
        ("SERVER_BACKPRESSURE", "queue is full", 503, Backpressure),
        ("QUERY_TIMEOUT", "query timeout", 408, StatementTimeout),
        ("SOMETHING_NEW", "took too long", 408, StatementTimeout),
        ("UNAUTHORIZED", "invalid api key", 401, Unauthorized),
        ("ALOPEX-PY201", "could not connect to http://127.0.0.1:1: refused", None, Unreachable),
        ("ALOPEX-PY201", SENT, None, OutcomeUnknown),
        ("ALOPEX-PY202", "connecting to http://127.0.0.1:1 timed out after 1s", None, Unreachable),
        ("ALOPEX-PY202", "POST /sql timed out after 1s (server http://…)", None, OutcomeUnknown),
        ("FRONT_NOT_SENT", "the database server did not answer", 502, Unreachable),
        ("FRONT_NOT_SENT", "the database server did not answer in time", 504, Unreachable),
        ("FRONT_OUTCOME_UNKNOWN", "the database server did not answer", 502, OutcomeUnknown),
        ("FRONT_OUTCOME_UNKNOWN", "the database server did not answer in time", 504, OutcomeUnknown),
        ("FRONT_BODY_TOO_LARGE", "request body over 2 MiB", 413, ScriptTooLong),
        ("ALOPEX-PY203", HTML.format(502), None, OutcomeUnknown),
        ("ALOPEX-PY203", HTML.format(503), None, Unreachable),
        ("ALOPEX-PY203", HTML.format(504), None, OutcomeUnknown),
        ("ALOPEX-S999", "io error: WAL buffer is full", 400, LogFull),
        ("ALOPEX-E999", f"{PLAN}error[ALOPEX-P001]: expected SQL input at most 1048576", 400, ScriptTooLong),
        ("ALOPEX-P001", "expected bounded MessagePack AST matching docs", None, ScriptTooLong),
    ],
)
def test_kinds(code: str, message: str, status: int | None, expected: type[StoreError]) -> None:
    assert type(translate(error(code, message, status))) is expected


@pytest.mark.parametrize("prefix", [f"{E999}constraint violation: ", "constraint violation: "])
def test_duplicates_name_their_columns(prefix: str) -> None:
    value = ', value: Some("[Text(\\"WAL buffer is full\\")]")'
    primary = f'{prefix}PRIMARY KEY constraint violated on columns: ["event_id"]{value}'
    unique = f'{prefix}UNIQUE constraint violated on index: __uq_a_0, columns: ["a", "b"]{value}'
    for message, columns in ((primary, ("event_id",)), (unique, ("a", "b"))):
        told = translate(error("ALOPEX-E999", message, 400))
        assert isinstance(told, Duplicate)
        assert told.columns == columns
        assert ", ".join(columns) in str(told)


def test_a_failed_guard_names_its_column() -> None:
    message = f"{E999}constraint violation: NOT NULL constraint violated on column: revision"
    told = translate(error("ALOPEX-E999", message, 400))
    assert isinstance(told, GuardFailed)
    assert told.column == "revision"


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (f"{E999}evaluation error: division by zero", 400),
        ("error[ALOPEX-E999]: evaluation error: division by zero", None),
    ],
)
def test_a_division_by_zero_is_the_guard_of_a_revision(message: str, status: int | None) -> None:
    told = translate(error("ALOPEX-E999", message, status))
    assert isinstance(told, GuardFailed)
    assert told.column == "revision"


def test_a_text_about_a_division_is_not_one() -> None:
    """Given a key's own text in the message, then the refusal is the key's."""
    message = f'{E999}constraint violation: PRIMARY KEY constraint violated on columns: ["event_id"], value: '
    told = translate(error("ALOPEX-E999", f'{message}Some("[Text(\\"division by zero\\")]")', 400))
    assert isinstance(told, Duplicate)


@pytest.mark.parametrize(("code", "prefix"), [("ALOPEX-E999", PLAN), ("ALOPEX-C001", "")])
def test_a_missing_table_is_named(code: str, prefix: str) -> None:
    message = f"{prefix}error[ALOPEX-C001]: table 'executions_202601010000' not found at line 1, column 15"
    told = translate(error(code, message, 400))
    assert isinstance(told, MissingTable)
    assert told.table == "executions_202601010000"


@pytest.mark.parametrize(
    "unknown",
    [
        error("ALOPEX-E999", "null constraint violation for column 'v' at line 1", 400),
        error("ALOPEX-C002", "table 'a' already exists"),
        error("FRONT_NOT_FOUND", "the front lets only POST /sql through", 404),
        error("ALOPEX-PY203", "unknown SqlValue tag: 'Json'"),
        AlopexError("no code at all"),
    ],
    ids=str,
)
def test_anything_else_keeps_its_words(unknown: AlopexError) -> None:
    told = translate(unknown)
    assert type(told) is StoreError
    assert str(unknown) in str(told)
