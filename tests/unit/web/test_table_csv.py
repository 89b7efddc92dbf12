"""Tables as CSV."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whenthen.store.sheets import SheetRow
from whenthen.web.table_csv import safe_cell, write_csv


def test_a_table_is_written_as_spreadsheets_read_it() -> None:
    """RFC 4180: CRLF, quotes doubled, a line break inside quotes; a byte order mark, so that Excel knows UTF-8."""
    rows = [
        SheetRow(1, 0, {"What": 'say "hi", you', "Price": "-5"}),
        SheetRow(2, 0, {"=Note": "=1+1", "What": "two\nlines"}),
    ]
    assert write_csv(["What", "Price", "=Note"], rows) == (
        '\ufeffWhat,Price,\'=Note\r\n"say ""hi"", you",-5,\r\n"two\nlines",,\'=1+1\r\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        "=HYPERLINK(\"http://example.org\")", "=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1:A9)", "\t=1", "\r=1",
        "\n=1", "＝1", "+33 6 12 34", "-", "+", "--5", "-5=", "- 5", "-٥",
    ],
)  # fmt: skip
def test_what_would_run_as_a_formula_does_not(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["-5", "+5", "-0.5", "-1,234.50", "+1e-7", "-12%", "", " =1", "a=b", "'=1", "5-3", "é"]
)
def test_numbers_and_texts_stay_as_they_are(text: str) -> None:
    assert safe_cell(text) == text


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), min_size=2, max_size=5))
def test_any_text_comes_back(cells: list[str]) -> None:
    columns = [f"c{number}" for number in range(len(cells))]
    text = write_csv(columns, [SheetRow(1, 0, dict(zip(columns, cells, strict=True)))])
    read = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert read == [columns, [safe_cell(cell) for cell in cells]]
