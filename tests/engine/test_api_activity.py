"""Pages of activity and inbox: nothing twice, nothing left out."""

import base64
import json
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.embedded import House, notification
from whenthen.engine import activity
from whenthen.store.progress import Progress
from whenthen.store.slots import open_slot

MINUTE = 60_000
T0 = 1_795_975_200_000  # a slot's start, 2026-11-29T18:00Z
SLOTS = ("202611291730", "202611291800", "202611291830")


def pages(house: House, path: str, limit: int, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    before = None
    for _ in range(1000):
        params = {"limit": str(limit), **query, **({"before": before} if before else {})}
        page = house.call("GET", path, params=params).json()
        assert len(page["items"]) <= limit
        found += page["items"]
        if (before := page["next"]) is None:
            return found
    raise AssertionError("the pages have no end")


def row(slot: str, identifier: str, occurred_at: int, state: str = "succeeded", applet: str = "a") -> str:
    """A final execution as an SQL row."""
    progress = Progress(finished_at=1).to_json()
    return (
        f"('{slot}.{identifier}.{applet}', '{applet}', 'owner', {occurred_at}, '{state}', "
        f"NULL, NULL, '', -1, '{{}}', '{progress}')"
    )


def insert_many(house: House, table: str, rows: list[str]) -> None:
    for start in range(0, len(rows), 50):
        house.database.execute(f"INSERT INTO {table} VALUES {', '.join(rows[start : start + 50])}")


def open_slots(house: House) -> None:
    for slot in SLOTS:
        open_slot(house.database, slot, T0)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 100), st.integers(0, 5), st.booleans()), max_size=40),
    st.integers(1, 12),
)
def test_pages_cover_everything_once(house: House, rows: list[tuple[int, int, int, bool]], limit: int) -> None:
    """Also executions that occurred slots before they were stored, and many at the same instant."""
    open_slots(house)
    house.database.execute(";".join(f"DELETE FROM executions_{slot}" for slot in SLOTS))
    for number, (slot, age, tick, failed) in enumerate(rows):
        occurred_at = T0 + slot * 30 * MINUTE - 1 - age * MINUTE - tick
        state = "failed" if failed else "succeeded"
        insert_many(
            house, f"executions_{SLOTS[slot]}", [row(SLOTS[slot], f"{number:03}", occurred_at, state, f"a{tick}")]
        )
    found = pages(house, "/activity", limit)
    identifiers = [item["execution_id"] for item in found]
    assert len(identifiers) == len(set(identifiers)) == len(rows)
    order = [(item["execution_id"][:12], item["occurred_at"], item["execution_id"]) for item in found]
    assert order == sorted(order, reverse=True)
    refused = pages(house, "/activity", limit, state="failed")
    assert [item["execution_id"] for item in refused] == [i["execution_id"] for i in found if i["state"] == "failed"]
    of_applet = pages(house, "/activity", limit, applet="a1")
    assert [i["execution_id"] for i in of_applet] == [i["execution_id"] for i in found if i["applet_id"] == "a1"]


def test_a_page_reads_for_a_bounded_time(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more slots than a page has time to read, pages are short or empty, and together they cover everything."""
    open_slots(house)
    for slot in SLOTS:
        insert_many(house, f"executions_{slot}", [row(slot, f"{n:03}", T0) for n in range(3)])
    monkeypatch.setattr(activity, "SECONDS", 0)
    first = house.call("GET", "/activity", params={"limit": "50"}).json()
    assert (len(first["items"]), first["next"] is None) == (3, False)
    nothing = house.call("GET", "/activity", params={"state": "unknown"}).json()
    assert (nothing["items"], nothing["next"] is None) == ([], False)
    assert len({item["execution_id"] for item in pages(house, "/activity", 50)}) == 9
    assert len({item["execution_id"] for item in pages(house, "/activity", 2)}) == 9


@pytest.mark.parametrize("limit", [7, 199, 200])
def test_more_in_a_slot_than_the_store_reads_at_once(house: House, limit: int) -> None:
    open_slots(house)
    for slot, count in zip(SLOTS, (30, 430, 0), strict=True):
        insert_many(house, f"executions_{slot}", [row(slot, f"{n:04}", T0) for n in range(count)])
    found = [item["execution_id"] for item in pages(house, "/activity", limit)]
    assert len(found) == len(set(found)) == 460


def test_executions_of_real_events_over_two_slots(house: House) -> None:
    house.make_applet()
    house.make_applet()
    with time_machine.travel((T0 - MINUTE) / 1000) as traveller:
        for _ in range(6):
            house.fire()
            traveller.shift(20)
        house.work()
        found = pages(house, "/activity", 5)
    assert len({item["execution_id"] for item in found}) == 12
    assert {item["execution_id"][:12] for item in found} == {"202611291730", "202611291800"}
    assert all(item["state"] == "succeeded" and item["applet_name"] == "Door" for item in found)


@pytest.mark.parametrize("limit", [50, 200])
def test_pages_of_the_inbox(house: House, limit: int) -> None:
    insert_many(house, "inbox", [f"('m{n:03}', 'owner', 'a', 'e', {n // 3}, 't', 'b', '')" for n in range(430)])
    found = [item["id"] for item in pages(house, "/inbox", limit)]
    assert found == [f"m{n:03}" for n in reversed(range(430))]


@pytest.mark.parametrize("path", ["/activity", "/inbox"])
def test_bad_pages(house: House, path: str) -> None:
    open_slots(house)
    for limit in ("0", "-1", "201", "x", "", "1.5", "0000001009", "9" * 5000, "٣", "+5"):
        answer = house.call("GET", path, params={"limit": limit})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "limit"), limit

    def cursor(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()

    bad = ["x", "!!", "é", "\x00", cursor({}), cursor([1]), cursor([1, 2]), cursor(["a", "b"]), cursor([2.5, "a"])]
    bad += [cursor([10**30, ""]), cursor([-(10**30), ""]), cursor([True, ""]), cursor(None)]
    bad += [base64.urlsafe_b64encode(b"[" * 20_000).decode(), cursor([1, "a\x00b"]), cursor([1, "\ud800"])]
    for before in bad:
        answer = house.call("GET", path, params={"before": before})
        assert answer.status_code == 422, before
    foreign = {"/activity": 422, "/inbox": 200}[path]
    assert house.call("GET", path, params={"before": cursor([2**62, "x" * 500])}).status_code == foreign
    assert house.call("GET", path, params={"before": cursor([2**62, f"{SLOTS[0]}." + "x" * 500])}).status_code == 200
    assert house.call("GET", path, params={"before": cursor([1, "٣" * 12 + ".x"])}).status_code == foreign


def test_filters_of_the_activity(house: House) -> None:
    open_slots(house)
    assert house.call("GET", "/activity", params={"state": "perhaps"}).json()["errors"][0]["field"] == "state"
    assert house.call("GET", "/activity", params={"applet": "'; --"}).json()["items"] == []
    assert house.call("GET", "/activity", params={"applet": "\x00"}).status_code == 422


def test_a_deleted_applet_keeps_its_name_and_activity(house: House) -> None:
    made = house.make_applet(name="Gone", actions=[notification(title="T", link="https://example.org/{{Value1}}")])
    house.fire(query={"value1": "a b"})
    house.work()
    house.call("DELETE", f"/applets/{made['id']}")
    (item,) = house.activity()
    assert (item["applet_name"], item["state"], item["attempts"]) == ("Gone", "succeeded", 1)
    assert house.execution()["applet_name"] == "Gone"
    (message,) = house.inbox()
    assert (message["title"], message["link"]) == ("T", "https://example.org/a%20b")
