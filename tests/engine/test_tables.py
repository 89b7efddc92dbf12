"""Tables: rows are added once, found again, exported, and set applets off."""

import csv
import io
from typing import Any

import pytest

from tests.support.embedded import House, Json, notification
from tests.support.stores import at_once
from whenthen.clock import Deadline, now_ms
from whenthen.engine import keys, sheets
from whenthen.engine.erasure import erase_owners, request_erasure
from whenthen.services.table.rows import MAX_COLUMNS, row_of
from whenthen.services.work import FindRows, Meaning
from whenthen.store.errors import Unreachable
from whenthen.store.keys import add_user

OWNER = "owner"


def add(house: House, key: str, table: str = "T", **values: str) -> tuple[Meaning, str]:
    reading = sheets.add_row(house.database, OWNER, key, row_of(table, values), Deadline(20))
    return reading.meaning, reading.reason


def rows(house: House, table: str = "T", **query: Any) -> list[Json]:
    answer = house.call("GET", f"/tables/{table}/rows", params=query)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()["items"]
    return found


def post(house: House, values: Json, *, table: str = "T", key: str = "") -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return house.call("POST", f"/tables/{table}/rows", {"values": values}, headers=headers)


def tables(house: House) -> list[Json]:
    items: list[Json] = house.call("GET", "/tables").json()["items"]
    return items


def row_applet(**changes: Any) -> Json:
    action = {
        "service": "table",
        "action": "add_row",
        "fields": {"table": "Doors", "values": {"Door": "{{Value1}}", "When": "{{OccurredAt}}"}},
    }
    return {"actions": [action], **changes}


def test_an_applet_adds_a_row(house: House) -> None:
    house.make_applet(**row_applet())
    house.fire(query={"value1": "front {{Value2}}"})
    house.work()
    assert house.activity()[0]["state"] == "succeeded"
    (row,) = rows(house, "Doors")
    assert (row["row_number"], row["values"]["Door"]) == (1, "front {{Value2}}")
    assert row["values"]["When"]


def test_the_same_key_adds_one_row(house: House) -> None:
    """R5: whatever comes again, also when the table is full, emptied or has got other columns since."""
    assert add(house, "k", A="1") == add(house, "k", A="1") == add(house, "k", B="2") == (Meaning.SUCCEEDED, "")
    assert [row["values"] for row in rows(house)] == [{"A": "1"}]
    house.call("DELETE", "/tables/T")
    assert add(house, "k", A="1") == (Meaning.SUCCEEDED, "")
    assert tables(house) == []


def test_an_unknown_outcome_is_tried_again(house: House) -> None:
    """Given a database that is away, then the error goes to the worker, which waits; afterwards there is one row."""
    house.database.error = Unreachable()
    with pytest.raises(Unreachable):
        sheets.add_row(house.database, OWNER, "k", row_of("T", {"A": "1"}), Deadline(0.2))
    house.database.error = None
    add(house, "k", A="1")
    assert len(rows(house)) == 1


def test_new_columns_are_appended(house: House) -> None:
    for number, values in enumerate(({"B": "1", "A": "2"}, {"C": "3", "A": "4"}, {"a": ""})):
        add(house, f"k{number}", **values)
    (table,) = tables(house)
    assert (table["name"], table["rows"], table["columns"]) == ("T", 3, ["B", "A", "C", "a"])
    assert [row["values"] for row in rows(house)] == [{"a": ""}, {"C": "3", "A": "4"}, {"B": "1", "A": "2"}]


def test_rows_that_come_together_make_one_table_and_lose_no_column(house: House) -> None:
    results = at_once(8, lambda number: add(house, f"k{number}", **{f"C{number}": str(number)}))
    assert set(results) == {(Meaning.SUCCEEDED, "")}
    (table,) = tables(house)
    assert (table["rows"], sorted(table["columns"])) == (8, [f"C{number}" for number in range(8)])
    assert [row["row_number"] for row in rows(house)] == list(range(8, 0, -1))
    assert set(at_once(8, lambda _: add(house, "same", A="1"))) == {(Meaning.SUCCEEDED, "")}
    assert tables(house)[0]["rows"] == 9


def test_limits_are_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    add(house, "k0", **{f"C{number}": "" for number in range(MAX_COLUMNS - 1)})
    assert add(house, "k1", A="1", B="2") == (
        Meaning.FAILED, "values: would give T more than 50 columns, which is the most"
    )  # fmt: skip
    assert add(house, "k2", A="x" * 32_767, B="y" * 32_767, table="W")[0] is Meaning.SUCCEEDED
    wide = {f"C{number}": "é" * 32_767 for number in range(3)}
    assert add(house, "k3", table="W", **wide) == (Meaning.FAILED, "values: are too long: a row holds 128 KiB")
    assert add(house, "k4", A="\ud800")[0] is Meaning.FAILED
    monkeypatch.setattr(sheets, "MAX_SHEETS", 2)
    assert "one more than the 2 tables" in add(house, "k5", table="X", A="1")[1]
    monkeypatch.setattr(sheets, "MAX_ROWS", 1)
    full = "table: T is full: a table holds 1 rows or 4 MiB. Export it and delete it, or write to another one."
    assert add(house, "k6", A="1") == (Meaning.FAILED, full)
    assert add(house, "k0", A="1") == (Meaning.SUCCEEDED, ""), "what was added is added"
    monkeypatch.undo()
    monkeypatch.setattr(sheets, "MAX_BYTES", 100)
    assert "is full" in add(house, "k7", A="1")[1]
    answer = post(house, {"A": "1"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "table")


def test_a_row_by_hand(house: House) -> None:
    answer = post(house, {"What": "Tea", "Price": "2"}, table="My%20list", key="once")
    assert answer.status_code == 201
    assert (answer.json()["row_number"], answer.json()["values"]) == (1, {"What": "Tea", "Price": "2"})
    assert post(house, {"What": "Coffee"}, table="My%20list", key="once").json() == answer.json()
    assert post(house, {"What": "Coffee"}, key="once").json()["values"] == {"What": "Coffee"}, "another table"
    assert [post(house, {"What": "Tea"}, table="My%20list").json()["row_number"] for _ in range(2)] == [2, 3]
    assert [table["name"] for table in tables(house)] == ["My list", "T"]
    for body, field in (
        ({}, "values"),
        ({"values": {}}, "values"),
        ({"values": {"A": 1}}, "values.A"),
        ({"values": {"RowNumber": "1"}}, "values"),
        ({"values": {"A": "1"}, "x": 1}, "x"),
    ):
        refused = house.call("POST", "/tables/T/rows", body)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    assert post(house, {"A": "1"}, table="x" * 101).json()["errors"][0]["field"] == "table"


@pytest.mark.parametrize("limit", [1, 3, 7, 200])
def test_pages_have_every_row_once(house: House, limit: int) -> None:
    for number in range(7):
        add(house, f"k{number}", N=str(number))
    found: list[str] = []
    query: dict[str, Any] = {"limit": limit}
    for _ in range(10):
        page = house.call("GET", "/tables/T/rows", params=query).json()
        found += [row["values"]["N"] for row in page["items"]]
        if page["next"] is None:
            break
        query["before"] = page["next"]
        add(house, f"new{len(found)}", N="new")
    assert found == [str(number) for number in range(6, -1, -1)]
    assert house.call("GET", "/tables/T/rows", params={"before": "x"}).json()["errors"][0]["field"] == "before"


def test_a_table_as_csv(house: House) -> None:
    for number, values in enumerate(({"Naïve": "=1+1", "N": "-5"}, {"N": 'a "b"\n,c'})):
        add(house, f"k{number}", "Été 1", **values)
    answer = house.call("GET", "/tables/Été 1.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].endswith("filename*=UTF-8''%C3%89t%C3%A9%201.csv")
    read = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))
    assert read == [["Naïve", "N"], ["'=1+1", "-5"], ["", 'a "b"\n,c']]


def test_a_table_is_deleted_and_begins_again(house: House) -> None:
    """Given a table that is deleted, then nothing of its rows is left, and a new one has its own rows and numbers."""
    for number in range(150):
        add(house, f"k{number}", Private=f"secret {number}")
    assert house.call("DELETE", "/tables/T").status_code == 204
    for method, path in (("DELETE", "/tables/T"), ("GET", "/tables/T/rows"), ("GET", "/tables/T.csv")):
        assert house.call(method, path).status_code == 404
    assert tables(house) == []
    everything = str(house.table("SELECT * FROM sheet_rows")) + str(house.table("SELECT * FROM sheets"))
    assert "secret" not in everything
    assert "Private" not in everything
    add(house, "again", A="new")
    assert [(row["row_number"], row["values"]) for row in rows(house)] == [(1, {"A": "new"})]
    assert (tables(house)[0]["columns"], tables(house)[0]["rows"]) == (["A"], 1)
    assert house.call("GET", "/tables/T.csv").text == "\ufeffA\r\nnew\r\n"
    assert sheets.find_rows(house.database, OWNER, FindRows("T", "A", "new", 5))[0]["RowNumber"] == "1"


@pytest.mark.parametrize("count", [5, 130])
def test_rows_are_looked_up(house: House, count: int) -> None:
    for number in range(count):
        add(house, f"k{number}", Name=f"n{number % 5}", N=str(number))
    found = sheets.find_rows(house.database, OWNER, FindRows("T", "Name", "n3", 2))
    newest = (count - 1) - (count - 1 - 3) % 5
    assert [row["N"] for row in found] == [str(newest), str(newest - 5)][: (1 if count == 5 else 2)]
    assert found[0].keys() == {"Name", "N", "RowNumber", "AddedAt"}
    assert found[0]["RowNumber"] == str(newest + 1)
    last = sheets.find_rows(house.database, OWNER, FindRows("T", "", "", 3))
    assert [row["N"] for row in last] == [str(count - 1), str(count - 2), str(count - 3)]
    for work in (FindRows("T", "Name", "N3", 5), FindRows("T", "No", "", 5), FindRows("Nothing", "Name", "n3", 5)):
        assert sheets.find_rows(house.database, OWNER, work) == []


def test_another_owner_sees_nothing(house: House) -> None:
    add(house, "k", A="1")
    add_user(house.database, "other", "Other")
    _, api_key = keys.create(house.database, "other", "api", "other")
    other = {"headers": {"Authorization": f"Bearer {api_key}"}}
    assert house.call("GET", "/tables", **other).json() == {"items": [], "next": None}
    for method, path in (("GET", "/tables/T/rows"), ("GET", "/tables/T.csv"), ("DELETE", "/tables/T")):
        assert house.call(method, path, **other).status_code == 404
    assert house.call("POST", "/tables/T/rows", {"values": {"A": "2"}}, **other).json()["row_number"] == 1
    assert sheets.find_rows(house.database, "other", FindRows("T", "A", "1", 5)) == []
    assert [row["values"] for row in rows(house)] == [{"A": "1"}]


def listening(house: House, table: str = "T") -> Json:
    return house.make_applet(
        trigger={"service": "table", "trigger": "new_row", "fields": {"table": table}},
        actions=[notification("{{RowNumber}}: {{ (RowJson|fromjson).A }}")],
    )


def test_a_new_row_fires_with_the_next_tick(house: House) -> None:
    """Given rows of before, then they fire nothing; each later one does once, also when ticks come often."""
    add(house, "before", A="old")
    listening(house)
    house.tick()
    assert house.messages() == []
    soon = now_ms() + 61_000
    house.tick(soon)
    add(house, "k1", A="first")
    add(house, "k1", A="first")
    post(house, {"A": "second"})
    house.tick()
    house.tick()
    assert sorted(house.messages()) == ["2: first", "3: second"]
    house.tick(soon + 3_700_000)
    assert len(house.messages()) == 2


def test_a_row_makes_only_its_own_table_s_trigger_due(house: House) -> None:
    listening(house)
    other = listening(house, "Other")
    later = now_ms() + 61_000
    house.tick(later)
    due = house.call("GET", f"/applets/{other['id']}").json()["check"]["next_check_at"]
    add(house, "k", A="1")
    assert house.call("GET", f"/applets/{other['id']}").json()["check"]["next_check_at"] == due
    house.tick()
    assert house.messages() == ["1: 1"]


def test_a_row_added_while_the_applet_is_off_is_not_news(house: House) -> None:
    applet = listening(house)
    house.call("PATCH", f"/applets/{applet['id']}", {"enabled": False})
    add(house, "k", A="1")
    house.call("PATCH", f"/applets/{applet['id']}", {"enabled": True})
    house.tick(now_ms() + 61_000)
    assert house.messages() == []


def test_rows_that_can_t_be_read_now_are_read_by_the_next_tick(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a database that is away in the middle of a tick, then that is no failure of the trigger."""
    made = listening(house)
    add(house, "k", A="1")

    def away(*_: object, **__: object) -> None:
        raise Unreachable

    monkeypatch.setattr("whenthen.store.sheets.find_sheet", away)
    house.tick()
    assert house.call("GET", f"/applets/{made['id']}").json()["check"]["failures"] == 0
    document = {"service": "table", "trigger": "new_row", "fields": {"table": "Other"}}
    answer = house.call("POST", "/applets", {"name": "x", "trigger": document, "actions": [notification("x")]})
    assert answer.status_code == 503
    monkeypatch.undo()
    house.tick(now_ms() + 60_000)
    assert house.messages() == ["1: 1"]


def test_an_owner_s_tables_are_erased(house: House) -> None:
    add_user(house.database, "other", "Other")
    sheets.add_row(house.database, "other", "o", row_of("T", {"A": "kept"}), Deadline(20))
    add(house, "k", "Secret table", Hidden="very private")
    request_erasure(house.database, OWNER)
    assert erase_owners(house.runtime.history) == [OWNER]
    everything = "".join(str(house.table(f"SELECT * FROM {name}")) for name in ("sheets", "sheet_rows"))
    for word in ("Secret", "Hidden", "private"):
        assert word not in everything
    assert "kept" in everything
