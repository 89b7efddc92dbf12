"""What pages read of executions, rollups and checks, on every engine and in both storage regimes."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.history import HOUR, close, fill
from tests.support.stores import SLOT, T0, Place, executions_in, reserve
from whenthen.clock import Deadline
from whenthen.engine.closer import merge_stats
from whenthen.store.applets import (
    AppletRow,
    find_applet,
    insert_applet,
    insert_applets,
    list_applets,
    restore_applet,
    update_applet,
)
from whenthen.store.checks import insert_check, list_troubled, start
from whenthen.store.errors import Duplicate, GuardFailed, MissingTable
from whenthen.store.executions import WAITING
from whenthen.store.history import History
from whenthen.store.slots import find_slots, open_slot
from whenthen.store.statements import Script
from whenthen.store.stats import STATES, sum_stats
from whenthen.store.stream import Counted, Wanted, count_places, read_places

NEXT = "202602010000"
NEWEST = ("999912312330", 2**62, "")
HOSTILE = "'; -- \"\\ \u2028 é 😀 \t{}"
NUMBER = 2**63 - 1


def test_some_places_at_one_instant(place: Place) -> None:
    database = place.database
    ids = [reserve(database, str(number), now=T0 + number) for number in range(3)]
    open_slot(database, NEXT, T0)
    fill(database, NEXT, 3, at=T0 + HOUR // 2)
    database.execute(f"INSERT INTO executions_waiting SELECT * FROM executions_{NEXT}")
    place.boundary()
    found = read_places(database, [Wanted(SLOT), Wanted(NEXT, "b"), Wanted(WAITING, rows=2)], "owner", before=NEWEST)
    assert found.open == (NEXT, SLOT)
    assert [row.execution_id for row in found.rows[SLOT]] == ids[::-1]
    assert {row.applet_id for row in found.rows[NEXT]} == {"b"}
    assert len(found.rows[WAITING]) == 2
    assert {row.place for rows in found.rows.values() for row in rows} == {SLOT, NEXT, WAITING}
    assert found.rows[SLOT] == executions_in(database)
    earlier = read_places(database, [Wanted(SLOT), Wanted(WAITING)], "owner", before=(SLOT, T0 + 1, ids[1]))
    assert [row.execution_id for row in earlier.rows[SLOT]] == ids[:1]
    assert earlier.rows[WAITING] == [], "it comes from a newer slot"
    assert read_places(database, [Wanted(SLOT)], "stranger", before=NEWEST).rows == {SLOT: []}
    with pytest.raises(MissingTable) as missing:
        read_places(database, [Wanted(SLOT), Wanted("202602010030")], "owner", before=NEWEST)
    assert missing.value.table == "executions_202602010030"


def test_what_is_not_in_the_log_is_counted(place: Place) -> None:
    database = place.database
    reserve(database, "new", now=T0 + 9)
    fill(database, NEXT, 4, at=T0, applets=["a"], ends=["failed", "skipped"])
    place.boundary()
    found = count_places(database, [SLOT, NEXT, WAITING], "owner")
    assert sorted(found, key=lambda one: one.state) == [
        Counted("a", "failed", "webhooks", NEXT[:10], 2, T0 + 2, T0 + 2, T0, None),
        Counted("applet", "queued", "", SLOT[:10], 1, 0, T0 + 9, T0 + 9, T0 + 9),
        Counted("a", "skipped", "feed", NEXT[:10], 2, T0 + 3, T0 + 3, T0 + 1, None),
    ]
    assert count_places(database, [SLOT], "stranger") == []


def test_sums_of_rollups(place: Place, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Given numbers that stand apart, and months without any, then sums are those of all executions."""
    folder = request.getfixturevalue("server").copy_dir if place.name.startswith("server") else tmp_path
    history = History(place.database, place.database, str(folder / "load.parquet"))
    applets = [f"a{number:02}" for number in range(40)]
    # The last half hour of January, and the first two of February.
    made = fill(place.database, SLOT, 80, at=T0, applets=applets)
    made += fill(place.database, NEXT, 80, at=T0 + HOUR // 2, applets=applets)
    made += fill(place.database, "202602010030", 8, at=T0 + HOUR, applets=["a00", "x"])
    close(history, T0 + 4 * HOUR)
    place.boundary()
    apart = sum_stats(place.database, "owner", "20251201", "20260301")
    assert merge_stats(place.database, T0 + 4 * HOUR, Deadline(60)) == 1
    place.boundary()
    assert sum_stats(place.database, "owner", "20251201", "20260301") == apart
    sums = sum_stats(place.database, "owner", "20251201", "20260301")
    for state in STATES:
        assert sum(getattr(numbers, state) for numbers in sums.applets.values()) == 42
    assert sums.applets["a00"].runs == sum(one.applet_id == "a00" for one in made)
    assert (sums.last_days["a00"], sums.last_days["a01"]) == ("20260201", "20260201")
    hours = {hour: numbers.runs for hour, numbers in sums.services["webhooks"].items()}
    assert sum(hours.values()) == sum(one.service == "webhooks" for one in made)
    assert set(hours) == {SLOT[:10], NEXT[:10]}
    bounded = sum_stats(place.database, "owner", "20260131", "20260201", applets_from="20260201")
    assert sum(numbers.runs for numbers in bounded.applets.values()) == 88
    assert bounded.services == sums.services
    assert sum_stats(place.database, "owner", "20260101", "20260130").applets == {}
    assert sum_stats(place.database, "stranger", "20260101", "20260228").applets == {}
    assert sum_stats(place.database, "owner", "20240101", "20240228").applets == {}


def test_slots_are_found_by_name(place: Place) -> None:
    place.boundary()
    assert [row.slot for row in find_slots(place.database, [NEXT, SLOT, "200001010000"])] == [SLOT]


def test_checks_that_are_late_or_failing(place: Place) -> None:
    for name, due, failures in (("late", 5, 0), ("edge", 10, 0), ("failing", 99, 2), ("well", 99, 0), ("off", None, 3)):
        script = Script()
        insert_check(script, name, offline=False, host="")
        if due is not None:
            start(script, name, position="", next_check_at=due, failures=failures)
        place.database.execute(script.sql)
        if due is None:
            place.database.execute("UPDATE checks SET failures = 3 WHERE check_id = CAST('off' AS TEXT)")
    place.boundary()
    assert {row.check_id for row in list_troubled(place.database, 10)} == {"late", "edge", "failing"}


def applet(name: str, **changes: object) -> AppletRow:
    row = AppletRow(name, "owner", HOSTILE, f'{{"n":{NUMBER},"t":"{HOSTILE}"}}', False, 1, NUMBER, NUMBER, None)
    return replace(row, **changes)  # type: ignore[arg-type]


def test_many_applets_are_stored_at_once_or_none(place: Place) -> None:
    database = place.database
    rows = [applet(f"a{number}") for number in range(200)]
    script = Script()
    insert_applets(script, "owner", rows)
    database.execute(script.sql)
    place.boundary()
    assert sorted(list_applets(database, "owner"), key=lambda row: int(row.applet_id[1:])) == rows
    script = Script()
    insert_applets(script, "owner", [applet("new"), applet("a7")])
    with pytest.raises(Duplicate) as known:
        database.execute(script.sql)
    assert known.value.columns == ("applet_id",)
    assert find_applet(database, "new") is None


def test_only_a_deleted_applet_of_that_version_is_restored(place: Place) -> None:
    database = place.database
    row = applet("a", created_at=1, updated_at=1)
    script = Script()
    insert_applet(script, row)
    database.execute(script.sql)

    def change(write: object, version: int, **changes: object) -> None:
        script = Script()
        write(script, applet("a", **changes), seen_version=version)  # type: ignore[operator]
        database.execute(script.sql)

    place.boundary()
    with pytest.raises(GuardFailed):
        change(restore_applet, 1, enabled=True)
    change(update_applet, 1, updated_at=2, deleted_at=2)
    place.boundary()
    with pytest.raises(GuardFailed):
        change(restore_applet, 1, enabled=True)
    with pytest.raises(GuardFailed):
        change(update_applet, 2)
    change(restore_applet, 2, enabled=True, updated_at=3)
    assert find_applet(database, "a") == applet("a", created_at=1, updated_at=3, enabled=True, version=3)
