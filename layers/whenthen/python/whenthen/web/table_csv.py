"""Tables as CSV that spreadsheets open without harm."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

from whenthen.store.sheets import SheetRow

# What begins so is a formula to a spreadsheet, or becomes one (OWASP, "CSV Injection"; CWE-1236).
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?%?", re.ASCII)


def write_csv(columns: Sequence[str], rows: Iterable[SheetRow]) -> str:
    """Return a table as CSV (RFC 4180: CRLF, quotes where they are needed), its first line the columns' names.

    It begins with a byte order mark: without one Excel takes UTF-8 for the machine's own code page. A cell that a
    spreadsheet would run as a formula begins with an apostrophe; numbers such as -5 and +1.5 stay as they are.
    """
    out = io.StringIO(newline="")
    out.write("\ufeff")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe_cell(column) for column in columns])
    writer.writerows([safe_cell(row.values.get(column, "")) for column in columns] for row in rows)
    return out.getvalue()


def safe_cell(text: str) -> str:
    """Return text as a spreadsheet shows it and does not run it."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
