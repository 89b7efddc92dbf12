"""The catalogue, how a statement is rendered, and how long a script may be."""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable
from uuid import uuid4

import alopex
import pytest
import sqlglot
from alopex import AlopexError  # type: ignore[attr-defined]  # exported, but not in its stubs
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.catalogue import CATALOGUE, PARTS, SCHEMA_STATEMENTS, SLOT, STATEMENTS, STORE, example
from whenthen.engine.arrivals import MAX_INGREDIENTS_BYTES
from whenthen.engine.listening import MAX_LISTENERS
from whenthen.engine.sweep import _CHUNK as CHUNK
from whenthen.engine.worker import BATCH
from whenthen.store.errors import InvalidText, ScriptTooLong
from whenthen.store.events import EventRow, reserve_event
from whenthen.store.executions import ExecutionRow, Outcome, State, mark_sending, record_outcome, wake_again
from whenthen.store.inbox import Message, insert_message
from whenthen.store.literals import SqlValue, literal
from whenthen.store.progress import Progress
from whenthen.store.reservations import COPIED_INGREDIENTS, reserve_execution
from whenthen.store.statements import (
    MAX_REQUEST_BYTES,
    MAX_SCRIPT_BYTES,
    MAX_SELECTS,
    Script,
    Statement,
    load,
    read_statements,
)
from whenthen.store.triggers import TriggerRow, guard

VALUE = st.one_of(
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    st.sampled_from([":other", "{slot}", "'", "\\", "';--", "?", ":value{slot}"]),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.none(),
)
NAMES = sorted(statement.name for statement in STATEMENTS)
ECHO = Statement("echo", "SELECT :value AS echo")
TOKEN = "0198f0d0-0000-7000-8000-000000000000"
LATE = 1_769_902_200_000


@settings(deadline=None)
@given(VALUE, VALUE)
def test_a_value_is_never_read_as_a_place(value: SqlValue, other: SqlValue) -> None:
    statement = Statement("s", "UPDATE t_{slot} SET a = :value, b = :other WHERE k = CAST(:value AS TEXT)")
    assert statement.render(slot="202601010000", value=value, other=other) == (
        f"UPDATE t_202601010000 SET a = {literal(value)}, b = {literal(other)} WHERE k = CAST({literal(value)} AS TEXT)"
    )


@settings(deadline=None)
@given(st.text())
def test_a_tables_part_is_four_to_fourteen_ascii_digits(part: str) -> None:
    statement = Statement("s", "SELECT a FROM t_{slot}")
    if re.fullmatch(r"[0-9]{4,14}", part) and part.isascii():
        assert statement.render(slot=part).endswith(part)
    else:
        with pytest.raises(ValueError, match="slot can't be part of a table's name"):
            statement.render(slot=part)


@pytest.mark.parametrize(
    "part", ["", "123", "1" * 15, "2026; DROP TABLE users", "2026\n", "٢٠٢٦", "-2026", 2026, None, True]
)
def test_hostile_table_parts(part: SqlValue) -> None:
    with pytest.raises(ValueError, match="can't be part"):
        Statement("s", "SELECT a FROM t_{slot}").render(slot=part)


@pytest.mark.parametrize("part", ["", "a b", "a; DROP TABLE users", "a, ", 'a"', "A", "1", "a.b", "а", None, 1])
@pytest.mark.parametrize("place", ["table", "key", "columns", "texts"])
def test_hostile_whole_names(place: str, part: SqlValue) -> None:
    with pytest.raises(ValueError, match="can't be part"):
        Statement("s", f"SELECT {{{place}}}").render(**{place: part})


def test_a_list_of_names_is_one_of_columns() -> None:
    assert Statement("s", "SELECT {columns}").render(columns="a, b_2") == "SELECT a, b_2"
    with pytest.raises(ValueError, match="can't be part"):
        Statement("s", "SELECT 1 FROM {table}").render(table="a, b_2")


def test_a_missing_value_is_told() -> None:
    with pytest.raises(KeyError, match="value"):
        ECHO.render()


def test_a_refused_text_is_told_by_its_place() -> None:
    with pytest.raises(InvalidText, match=r"^value holds a NUL"):
        ECHO.render(value="\x00")


def test_reading_a_file() -> None:
    text = "-- About the file.\n-- name: one\n-- Why.\nSELECT 1;\n\n-- name: two\nSELECT :a\n-- Why here.\nFROM t\n"
    assert [(s.name, s.text) for s in read_statements(text)] == [
        ("one", "SELECT 1"),
        ("two", "SELECT :a\nFROM t"),
    ]
    with pytest.raises(FileNotFoundError):
        load("no_such_table")


@pytest.mark.parametrize("statement", STATEMENTS + SCHEMA_STATEMENTS, ids=lambda statement: statement.name)
def test_every_statement_is_one_statement(statement: Statement) -> None:
    assert len(sqlglot.parse(example(statement), dialect="postgres")) == 1


def test_no_name_stands_twice() -> None:
    written = re.findall(
        r"^-- name: (\w+)$",
        "".join(path.read_text() for path in sorted((STORE / "sql" / "statements").glob("*.sql"))),
        re.MULTILINE,
    )
    assert [name for name, count in Counter(written).items() if count > 1] == []
    assert sorted(written) == NAMES


@pytest.mark.parametrize("file", CATALOGUE)
def test_every_statement_is_used(file: str) -> None:
    modules = [path.read_text() for path in STORE.glob("*.py") if f'load("{file}")' in path.read_text()]
    code = "".join(modules)
    named = set(re.findall(r'_S\["(\w+)"\]', code)) | set(re.findall(r'"(create_\w+)"', code))
    assert {statement.name for statement in CATALOGUE[file]} - named == set()


def test_a_script_is_its_statements_in_order() -> None:
    script = Script().add(ECHO, value=1).add(ECHO, value="a;b")
    assert script.sql == "SELECT 1 AS echo;\nSELECT 'a;b' AS echo"
    script.union([Script().add(ECHO, value=2), Script().add(ECHO, value=3)])
    assert script.sql.endswith(";\nSELECT 2 AS echo\nUNION ALL\nSELECT 3 AS echo")


@pytest.mark.parametrize(
    ("character", "limit"),
    [
        pytest.param("x", MAX_SCRIPT_BYTES, id="ascii"),
        pytest.param('"', MAX_SCRIPT_BYTES, id="quotes, twice as long in JSON"),
        pytest.param("\x01", MAX_REQUEST_BYTES // 6, id="controls, six times as long in JSON"),
        pytest.param("ش", MAX_REQUEST_BYTES // 6, id="two bytes and six of JSON"),
        pytest.param("🚪", MAX_REQUEST_BYTES // 12, id="four bytes and twelve of JSON"),
    ],
)
def test_the_longest_text(character: str, limit: int) -> None:
    longest = Script().add(ECHO, value=character * (limit - 2_000)).sql
    assert len(json.dumps({"sql": longest, "session_id": None, "streaming": False})) <= MAX_REQUEST_BYTES
    with pytest.raises(ScriptTooLong):
        _ = Script().add(ECHO, value=character * limit).sql


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_the_parser_takes_as_many_statements_as_a_script_does(statement: Statement) -> None:
    """Where tables are missing nothing runs, but a refusal for anything but size means a content parser."""
    places = re.findall(r"(?<![:\w]):([a-z_]+)", statement.text)
    values: dict[str, SqlValue] = {name: -1 if name.endswith("sending") else "'" * 9 for name in places}
    values |= {part: PARTS.get(part, "202601010000") for part in re.findall(r"{([a-z_]+)}", statement.text)}
    script = Script()
    refusal = longest = ""
    with contextlib.suppress(ScriptTooLong):
        while script.add(statement, **values).sql:
            longest = script.sql
    assert longest
    try:
        alopex.connect(":memory:").execute_sql(longest)
    except AlopexError as error:
        refusal = str(error)
    assert not re.search("MessagePack|SQL input", refusal)


@pytest.mark.parametrize("statement", [one for one in STATEMENTS if one.name.startswith("read_")], ids=lambda s: s.name)
def test_as_many_rows_as_a_union_takes_are_read_at_once(statement: Statement) -> None:
    """Given a row's key select as often as a union may have it, then it fits into one request."""
    values = dict.fromkeys(re.findall(r"(?<![:\w]):([a-z_]+)", statement.text), "x" * 80)
    parts = {part: PARTS.get(part, SLOT) for part in re.findall(r"\{([a-z_]+)\}", statement.text)}
    selects = [Script().add(statement, **values, **parts) for _ in range(MAX_SELECTS)]
    assert Script().union(selects).sql


def test_a_union_of_too_many_selects_never_leaves() -> None:
    """Given that it would kill the server, when one select is too many, then the script is refused here."""
    selects = [Script().add(ECHO, value=number) for number in range(MAX_SELECTS)]
    assert Script().union(selects).sql.count("UNION ALL") == MAX_SELECTS - 1
    with pytest.raises(ScriptTooLong):
        Script().union([*selects, *selects[:1]])


def rendered(add: Callable[[Script, str], None], count: int) -> str:
    """A script of that many changes, whose ids are as long as real ones."""
    script = Script()
    for number in range(count):
        add(script, f"202601010000.{number:032x}.{uuid4()}")
    return script.sql


def reserve(script: Script, execution_id: str, ingredients: str = "x" * (COPIED_INGREDIENTS + 1)) -> None:
    reserve_execution(
        script,
        execution_id=execution_id,
        applet_id=TOKEN,
        owner_id=TOKEN,
        occurred_at=LATE,
        now=LATE,
        wake_at=LATE,
        ingredients=ingredients,
    )


def reserve_copying(script: Script, execution_id: str) -> None:
    """With the longest ingredients that are copied, of characters that take the most room."""
    reserve(script, execution_id, "🚪" * COPIED_INGREDIENTS)


def record(script: Script, execution_id: str) -> None:
    """With an attempt that keeps 2 KiB and a message of the same size."""
    progress = Progress(
        step=9,
        tries=5,
        reason="r" * 100,
        attempts=({"body": "ö" * 1024, "answer": "ö" * 1024},),
        finished_at=LATE,
    )
    record_outcome(script, Outcome(execution_id, TOKEN, State.WAITING, progress, LATE, LATE))
    insert_message(script, Message(execution_id, TOKEN, TOKEN, execution_id, LATE, "t" * 100, "b" * 2048, ""))


def wake(script: Script, execution_id: str) -> None:
    row = ExecutionRow(execution_id, TOKEN, TOKEN, LATE, "queued", LATE, LATE, "", -1, "{}", Progress(), "202601010000")
    wake_again(script, row, LATE)


@pytest.mark.parametrize(
    ("add", "count"),
    [
        pytest.param(lambda s, i: mark_sending(s, i, claim=TOKEN, step=9), 10 * BATCH, id="mark_sending"),
        pytest.param(record, 4 * BATCH, id="record_outcome"),
        pytest.param(wake, 2 * CHUNK, id="wake_again"),
        pytest.param(reserve, 100, id="reserve_execution"),
        pytest.param(reserve_copying, 100, id="reserve_execution, with ingredients"),
    ],
)
def test_what_the_engine_sends_at_once_fits_with_room_to_spare(add: Callable[[Script, str], None], count: int) -> None:
    """For a batch's claims see the contract: they stand in one script with what they read."""
    assert rendered(add, count).count(";\n") >= count - 1
    with pytest.raises(ScriptTooLong):
        rendered(add, 2 * count)


def test_the_largest_event_for_the_most_listeners_fits() -> None:
    ids = tuple(f"202601010000.{number:064x}.{uuid4()}" for number in range(MAX_LISTENERS))
    script = Script()
    event = EventRow("e" * 64, "t" * 64, LATE, LATE, ids, "x" * MAX_INGREDIENTS_BYTES)
    reserve_event(script, event)
    for execution_id in ids:
        reserve(script, execution_id, event.ingredients)
    guard(script, TriggerRow(event.trigger_id, "", "", "", "", ids, 2**62))
    assert script.sql.count("x" * (COPIED_INGREDIENTS + 1)) == MAX_INGREDIENTS_BYTES // (COPIED_INGREDIENTS + 1)
