"""Tables of owners and phones, in every kind of database."""

import json

import pytest

from tests.support.stores import Place, at_once
from whenthen.clock import Deadline
from whenthen.engine import phones, sheets
from whenthen.services.location.owntracks import Report
from whenthen.services.table.rows import row_of
from whenthen.services.work import FindRows, Meaning
from whenthen.store import sheets as store
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate, GuardFailed
from whenthen.store.sheets import Sheet
from whenthen.store.statements import Script

OWNER = "owner"


def add(database: Database, key: str, **values: str) -> Meaning:
    return sheets.add_row(database, OWNER, key, row_of("T", values), Deadline(60)).meaning


def sheet_of(database: Database) -> Sheet:
    return sheets.find_sheet(database, OWNER, "T")


def script_of(sheet: Sheet, key: str) -> Script:
    """What adds a row to the sheet as it was read."""
    script = Script()
    store.add_row(script, sheet, ("A",), key=key, now=1, values=json.dumps({"A": key}), size=9)
    return script


def test_rows_come_once_and_in_order(place: Place) -> None:
    texts = ["it's", '"\\n', "🚪\u0001", "", "x" * 30_000]
    for number, text in enumerate(texts):
        add(place.database, f"k{number}", A=text, **{f"C{number}": "1"})
    place.boundary()
    assert add(place.database, "k1", A="again") is Meaning.SUCCEEDED
    sheet = sheet_of(place.database)
    assert (sheet.rows, sheet.columns) == (5, ("A", *(f"C{number}" for number in range(5))))
    assert [row.values["A"] for row in store.read_all_rows(place.database, sheet)] == texts
    assert [row.number for row in store.read_rows(place.database, sheet, [5, 2, 9])] == [5, 2]
    found = sheets.find_rows(place.database, OWNER, FindRows("T", "A", "it's", 3))
    assert [row["RowNumber"] for row in found] == ["1"]


def test_a_row_that_comes_too_late_is_refused_whole(place: Place) -> None:
    """Given a sheet that has changed since it was read, then nothing of the script is written."""
    add(place.database, "k1", A="1")
    place.boundary()
    old = sheet_of(place.database)
    place.database.execute(script_of(old, "k2").sql)
    with pytest.raises(Duplicate) as refused:
        place.database.execute(script_of(old, "k3").sql)
    assert refused.value.columns == ("row_id",)
    with pytest.raises(Duplicate) as refused:
        place.database.execute(script_of(sheet_of(place.database), "k2").sql)
    assert refused.value.columns == ("row_key",), "a row that comes again is told as such"
    with pytest.raises(GuardFailed):
        store.empty_sheet(place.database, old)
    seen = sheet_of(place.database)
    store.blank_rows(place.database, seen)
    store.empty_sheet(place.database, seen)
    with pytest.raises(GuardFailed):
        place.database.execute(script_of(seen, "k4").sql)
    assert store.list_sheets(place.database, OWNER) == []
    place.database.execute(script_of(store.find_sheet(place.database, seen.sheet_id) or seen, "k5").sql)
    assert [row.values for row in store.read_all_rows(place.database, sheet_of(place.database))] == [{"A": "k5"}]


def test_sheets_are_apart(place: Place) -> None:
    """Rows are next to each other by the sheet's id: a walk ends where the sheet does."""
    for owner in ("a", "b", "c"):
        for number in range(3):
            work = row_of("T", {"A": f"{owner}{number}"})
            sheets.add_row(place.database, owner, f"{owner}{number}", work, Deadline(60))
    place.boundary()
    for owner in ("a", "b", "c"):
        sheet = sheets.find_sheet(place.database, owner, "T")
        rows = store.read_all_rows(place.database, sheet)
        assert [row.values["A"] for row in rows] == [f"{owner}{number}" for number in range(3)]
        assert [found.sheet_id for found in store.list_sheets(place.database, owner)] == [sheet.sheet_id]


def test_rows_that_come_at_once(place: Place) -> None:
    meanings = at_once(8, lambda number: add(place.database, f"k{number // 2}", **{f"C{number // 2}": "1"}))
    assert set(meanings) == {Meaning.SUCCEEDED}
    place.boundary()
    sheet = sheet_of(place.database)
    assert (sheet.rows, sorted(sheet.columns)) == (4, ["C0", "C1", "C2", "C3"])
    assert len(store.read_all_rows(place.database, sheet)) == 4


def test_a_phone_s_fixes(place: Place) -> None:
    def take(number: int) -> None:
        device = f"phone {number % 2}"
        phones.take(place.database, OWNER, Report(device, 1000 + number // 2, 48.85837, -0.1, 12.5), Deadline(60))

    at_once(8, take)
    place.boundary()
    at_once(8, take)
    found = phones.read_all(place.database, OWNER)
    assert sorted(phone.device for phone in found) == ["phone 0", "phone 1"]
    for phone in found:
        assert [fix.number for fix in phone.fixes] == [1, 2, 3, 4]
        assert {(fix.at, fix.latitude, fix.longitude, fix.accuracy) for fix in phone.fixes} == {
            (1000 + number, 48.85837, -0.1, 12.5) for number in range(4)
        }
