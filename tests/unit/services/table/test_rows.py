"""What may stand in a table, and what the action and the query of the table service ask for."""

from typing import Any

import pytest
from pydantic import ValidationError

from whenthen.errors import FieldError
from whenthen.services.registry import find_action, find_query
from whenthen.services.table.rows import MAX_CELL_CHARACTERS, MAX_COLUMNS, row_of
from whenthen.services.work import AddRow, FindRows, Task


def added(**fields: Any) -> AddRow:
    """The work of the action, without rendering."""
    action = find_action("table", "add_row")
    assert action is not None
    work = action.prepare(Task(action.fields.model_validate({"table": "T", "values": {"A": "1"}, **fields}), "key"))
    assert isinstance(work, AddRow)
    return work


def found(**fields: Any) -> FindRows:
    query = find_query("table", "find_rows")
    assert query is not None
    work = query.prepare(Task(query.fields.model_validate({"table": "T", **fields}), "key"))
    assert isinstance(work, FindRows)
    return work


def test_names_lose_the_spaces_around_them() -> None:
    assert added(table=" T ", values={" A ": " x ", "B c": ""}) == AddRow("T", {"A": " x ", "B c": ""})
    assert found(table=" T ", column=" A ", value=" x ") == FindRows("T", "A", " x ", 10)
    assert found() == FindRows("T", "", "", 10)


@pytest.mark.parametrize("name", ["", " ", ".", "..", "a/b", "a\nb", "a\x00b", "x" * 101, "a\u2028b"])
def test_what_can_t_be_a_table_s_name_is_told(name: str) -> None:
    for make in (added, found):
        with pytest.raises(ValidationError) as refused:
            make(table=name)
        assert refused.value.errors()[0]["loc"] == ("table",)
    with pytest.raises(FieldError, match=r"^table: "):
        row_of(name, {"A": "1"})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "1 to 50 columns"),
        ({f"c{number}": "" for number in range(MAX_COLUMNS + 1)}, "1 to 50 columns"),
        ({"": "x"}, "1 to 64 characters"),
        ({"x" * 65: "x"}, "1 to 64 characters"),
        ({"a\tb": "x"}, "control characters"),
        ({"A": "1", " A": "2"}, "stands twice"),
        ({"RowNumber": "1"}, "by itself"),
        ({"A": "a\x00b"}, "NUL"),
    ],
)
def test_what_can_t_be_a_row_is_told(values: dict[str, str], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        added(values=values)
    with pytest.raises(FieldError, match=rf"^values: .*{words}"):
        row_of("T", values)


def test_a_name_that_is_a_template_is_checked_when_it_is_rendered() -> None:
    """Given a template that a stranger's value fills, then what comes of it must still be a name."""
    assert added(table="{{EventName}}").table == "{{EventName}}"
    with pytest.raises(FieldError, match=r"^table: .*slash"):
        row_of("a/b", {"A": "1"})


def test_a_long_cell_is_cut() -> None:
    """Given more text than a cell of a spreadsheet holds, then a person gets as much of it as fits."""
    longest = "é" * MAX_CELL_CHARACTERS
    assert added(values={"A": longest}).values["A"] == longest
    cut = added(values={"A": longest + "x"}).values["A"]
    assert (len(cut), cut[-2:]) == (MAX_CELL_CHARACTERS, "é…")
