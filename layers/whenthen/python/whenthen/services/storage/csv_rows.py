"""Rows of CSV files."""

import csv
import io
import re
from collections.abc import Sequence

# OWASP, CSV Injection: these begin a formula. Some programs fold the full-width forms into them.
_FORMULA = re.compile(r"[\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|[.,]\d+)([eE][+-]?\d+)?%?", re.ASCII)


def csv_row(cells: Sequence[str]) -> str:
    """Return a row with its line break (RFC 4180, but LF).

    What comes from outside must not run: who opens the file in a spreadsheet would have a cell ``=HYPERLINK(…)`` fetch
    an address of a stranger's. An apostrophe before it makes it text for Excel, LibreOffice and Google Sheets. Numbers
    with a sign stay numbers.
    """
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerow([_harmless(cell) for cell in cells])
    return target.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell.strip()) else cell
