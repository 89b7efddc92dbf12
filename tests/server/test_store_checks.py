"""What the store promises of checks, on every engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hostile import FRAGMENTS
from tests.support.stores import APPLET, PLACES, SLOT, T0, Place, at_once, id_of, open_place
from whenthen.store.checks import (
    MAX_CLAIMS,
    CheckRow,
    claim_due_checks,
    hold_host,
    insert_check,
    keep,
    list_due_checks,
    poke,
    read_checks,
    read_positions,
    record,
    release,
    start,
    stop,
    take_check,
    write_position,
)
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate, GuardFailed
from whenthen.store.events import EventRow, read_events, remember_events, reserve_events
from whenthen.store.executions import find_execution
from whenthen.store.profiles import find_zone, set_zone
from whenthen.store.reservations import NewExecution, reserve_executions
from whenthen.store.statements import Script

MINUTE = 60_000


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with open_place(request.param, request, tmp_path) as found:
        yield found


@pytest.fixture
def database(place: Place) -> Database:
    return place.database


def run(database: Database, script: Script) -> None:
    database.execute(script.sql)


def make(place: Place, *check_ids: str, at: int = T0, offline: bool = False, host: str = "a.example") -> None:
    """Checks that are due at `at`."""
    script = Script()
    for check_id in check_ids:
        insert_check(script, check_id, offline=offline, host=host)
        start(script, check_id, position="", next_check_at=at)
    run(place.database, script)
    place.boundary()


def fresh(**changes: object) -> CheckRow:
    """A check that nothing has happened to but these changes."""
    return CheckRow(**{  # type: ignore[arg-type]
        "check_id": "t", "offline": False, "host": "a.example", "next_check_at": T0, "claim": "", "lease_until": 0,
        "held_until": 0, "poked": False, "checked_at": None, "failures": 0, "result": "",
    } | changes)  # fmt: skip


def due(database: Database, now: int) -> tuple[list[str], list[str]]:
    """What is due, offline and not."""
    return list_due_checks(database, now, offline=True), list_due_checks(database, now, offline=False)


def row(database: Database, check_id: str = "t") -> CheckRow:
    return read_checks(database, [check_id])[check_id]


def claim(database: Database, *check_ids: str, name: str = "mine", now: int = T0) -> dict[str, CheckRow]:
    return claim_due_checks(database, check_ids, claim=name, now=now, lease_until=now + MINUTE)


def end(database: Database, *, name: str = "mine", now: int = T0, failures: int = 0) -> None:
    script = Script()
    record(script, "t", claim=name, now=now, next_check_at=now + 5 * MINUTE, failures=failures, result="fine")
    run(database, script)


def test_a_new_check_is_not_due_until_somebody_listens(place: Place) -> None:
    script = Script()
    insert_check(script, "t", offline=False, host="a.example")
    run(place.database, script)
    place.boundary()
    assert row(place.database) == fresh(next_check_at=None)
    assert read_positions(place.database, ["t"]) == {"t": ""}
    assert due(place.database, T0 * 2) == ([], [])
    assert claim(place.database, "t", now=T0 * 2) == {}
    assert take_check(place.database, "t", claim="mine", lease_until=T0) is None
    assert take_check(place.database, "nothing", claim="mine", lease_until=T0) is None
    # Once more changes nothing.
    make(place, "t")
    run(place.database, script)
    assert row(place.database).next_check_at == T0


def test_due_checks_come_oldest_first_and_offline_ones_before_all(place: Place) -> None:
    for check_id, at, offline in (("b", 2, False), ("a", 1, False), ("d", 3, True), ("c", 2, True), ("z", 9, True)):
        make(place, check_id, at=T0 + at, offline=offline)
    assert due(place.database, T0 + 3) == (["c", "d"], ["a", "b"])


def test_a_claim_holds_against_other_claims(place: Place) -> None:
    make(place, "t")
    make(place, "later", at=T0 + 1)
    assert claim(place.database, "t", "later", "nothing").keys() == {"t"}
    place.boundary()
    assert claim(place.database, "t", name="other") == {}
    assert row(place.database).claim == "mine"
    # Until it runs out.
    assert claim(place.database, "t", name="other", now=T0 + MINUTE).keys() == {"t"}
    with pytest.raises(GuardFailed) as refused:
        end(place.database)
    assert refused.value.column == "claim"
    end(place.database, name="other")


def test_of_many_claims_at_once_one_holds(place: Place) -> None:
    ids = [f"t{number}" for number in range(MAX_CLAIMS)]
    make(place, *ids)
    found = at_once(8, lambda number: claim(place.database, *ids, name=f"c{number}"))
    assert sorted(check_id for rows in found for check_id in rows) == sorted(ids)


def test_the_end_of_a_check(place: Place) -> None:
    make(place, "t")
    claim(place.database, "t")
    place.boundary()
    end(place.database, now=T0 + 1, failures=2)
    assert row(place.database) == fresh(next_check_at=T0 + 1 + 5 * MINUTE, checked_at=T0 + 1, failures=2, result="fine")
    with pytest.raises(GuardFailed):
        end(place.database)


def test_a_lost_claim_refuses_the_whole_script(place: Place) -> None:
    make(place, "t")
    claim(place.database, "t", name="other")
    script = Script()
    write_position(script, "t", "late")
    remember_events(script, "t", {"e": T0}, T0)
    keep(script, "t", claim="mine")
    with pytest.raises(GuardFailed) as refused:
        run(place.database, script)
    assert refused.value.column == "claim"
    assert read_positions(place.database, ["t"]) == {"t": ""}
    assert read_events(place.database, ["e"], timeout_seconds=10) == {}
    script = Script()
    keep(script, "t", claim="other")
    run(place.database, script)
    assert row(place.database).claim == "other"


def test_taking_a_check(place: Place) -> None:
    make(place, "t", at=T0 + 100 * MINUTE)
    place.boundary()
    taken = take_check(place.database, "t", claim="mine", lease_until=T0 + MINUTE)
    assert taken is not None
    assert (taken.claim, taken.lease_until) == ("mine", T0 + MINUTE)
    assert take_check(place.database, "t", claim="other", lease_until=T0 + MINUTE) is not None
    with pytest.raises(GuardFailed):
        end(place.database)


def test_giving_back(place: Place) -> None:
    make(place, "t")
    claim(place.database, "t")
    release(place.database, ["t"], claim="other")
    assert row(place.database).claim == "mine"
    release(place.database, ["t"], claim="mine")
    assert row(place.database) == fresh()


def test_a_poke_makes_it_due(place: Place) -> None:
    make(place, "t", at=T0 + 100 * MINUTE)
    make(place, "off")
    script = Script()
    stop(script, "off")
    poke(script, "t", T0)
    poke(script, "off", T0)
    run(place.database, script)
    place.boundary()
    assert due(place.database, T0) == ([], ["t"])
    assert row(place.database, "off").next_check_at is None


def test_a_poke_during_a_check_asks_for_another(place: Place) -> None:
    make(place, "t")
    claim(place.database, "t")
    script = Script()
    poke(script, "t", T0)
    run(place.database, script)
    place.boundary()
    assert row(place.database).poked
    assert claim(place.database, "t", name="other") == {}
    end(place.database, now=T0 + 1)
    found = row(place.database)
    assert (found.next_check_at, found.poked) == (T0 + 1, False)


def test_starting_and_stopping_ends_what_is_under_way(place: Place) -> None:
    make(place, "t")
    claim(place.database, "t")
    script = Script()
    start(script, "t", position="{}", next_check_at=T0 + 1, checked_at=T0, result="began")
    run(place.database, script)
    place.boundary()
    assert row(place.database) == fresh(next_check_at=T0 + 1, checked_at=T0, result="began")
    assert read_positions(place.database, ["t"]) == {"t": "{}"}
    with pytest.raises(GuardFailed):
        end(place.database)
    script = Script()
    stop(script, "t")
    run(place.database, script)
    assert due(place.database, T0 * 2) == ([], [])


def test_a_host_is_held(place: Place) -> None:
    make(place, "soon", "claimed")
    make(place, "late", at=T0 + 100 * MINUTE)
    make(place, "off")
    make(place, "elsewhere", host="b.example")
    claim(place.database, "claimed")
    script = Script()
    stop(script, "off")
    hold_host(script, "a.example", T0 + 50 * MINUTE)
    run(place.database, script)
    place.boundary()
    ids = ("soon", "late", "off", "elsewhere")
    assert {check_id: row(place.database, check_id).next_check_at for check_id in ids} == {
        "soon": T0 + 50 * MINUTE,
        "late": T0 + 100 * MINUTE,
        "off": None,
        "elsewhere": T0,
    }
    assert row(place.database, "claimed").claim == "mine"


def test_what_is_under_way_ends_with_the_hold_of_its_host(place: Place) -> None:
    make(place, "t")
    claim(place.database, "t")
    script = Script()
    hold_host(script, "a.example", T0 + 50 * MINUTE)
    poke(script, "t", T0)
    run(place.database, script)
    place.boundary()
    end(place.database, now=T0 + 1)
    assert row(place.database).next_check_at == T0 + 50 * MINUTE
    script = Script()
    poke(script, "t", T0 + 49 * MINUTE)
    run(place.database, script)
    assert row(place.database).next_check_at == T0 + 50 * MINUTE
    script = Script()
    hold_host(script, "a.example", T0 + 40 * MINUTE)
    run(place.database, script)
    assert row(place.database).held_until == T0 + 50 * MINUTE


def test_what_a_wrong_clock_has_put_off_is_due_again(place: Place) -> None:
    """Given a check that is not due for a year, which no interval allows, then it is due, unless it is a schedule."""
    year = 365 * 24 * 60 * MINUTE
    make(place, "polled", at=T0 + year)
    make(place, "schedule", at=T0 + year, offline=True)
    make(place, "tomorrow", at=T0 + 24 * 60 * MINUTE)
    assert due(place.database, T0) == ([], ["polled"])
    assert claim(place.database, "polled", "schedule", "tomorrow").keys() == {"polled"}
    assert due(place.database, T0) == ([], [])


def test_many_rows_keep_their_texts(place: Place) -> None:
    """Texts go through JSON inside SQL inside JSON, and come back as they were."""
    texts = [*FRAGMENTS, '{"a":"b\\\\"}', "\x01\x7f\u2028", "null", "[1,2]", "7", ""]
    events = [
        EventRow(f"e{number}", "t", T0 + number, T0 + 1, (id_of(f"e{number}"),), text)
        for number, text in enumerate(texts)
    ]
    script = Script()
    reserve_events(script, events)
    new = [NewExecution(event.execution_ids[0], APPLET, T0, event.ingredients, event.ingredients) for event in events]
    reserve_executions(script, new, owner_id="owner", now=T0 + 3, wake_at=T0 + 4)
    run(place.database, script)
    place.boundary()
    found = read_events(place.database, [event.event_id for event in events], timeout_seconds=10)
    assert found == {event.event_id: event for event in events}
    for text, event in zip(texts, events, strict=True):
        stored = find_execution(place.database, event.execution_ids[0])
        assert stored is not None
        assert (stored.state, stored.due_at, stored.wake_at, stored.owner_id) == ("queued", T0 + 3, T0 + 4, "owner")
        assert (stored.ingredients, stored.progress.note, stored.sending, stored.claim) == (text, text, -1, "")


def test_an_event_that_is_there_refuses_all(place: Place) -> None:
    script = Script()
    remember_events(script, "t", {f"e{number}": T0 for number in range(2500)}, T0)
    run(place.database, script)
    place.boundary()
    script = Script()
    reserve_events(script, [EventRow(name, "t", T0, T0, (), "{}") for name in ("new", "e2499")])
    reserve_executions(script, [NewExecution(id_of("new"), APPLET, T0, "{}")], owner_id="o", now=T0, wake_at=T0)
    with pytest.raises(Duplicate) as refused:
        run(place.database, script)
    assert refused.value.columns == ("event_id",)
    assert read_events(place.database, ["new"], timeout_seconds=10) == {}
    assert find_execution(place.database, id_of("new")) is None


def test_remembering_changes_nothing_that_is_there(place: Place) -> None:
    script = Script()
    reserve_events(script, [EventRow("e", "t", T0, T0, (f"{SLOT}.x.y",), '{"a":"b"}')])
    run(place.database, script)
    place.boundary()
    script = Script()
    remember_events(script, "t", {"e": 1, "f": 2}, 3)
    run(place.database, script)
    found = read_events(place.database, ["e", "f"], timeout_seconds=10)
    assert found["e"].execution_ids == (f"{SLOT}.x.y",)
    assert found["f"] == EventRow("f", "t", 2, 3, (), "{}")


def test_an_owners_zone(place: Place) -> None:
    assert find_zone(place.database, "ann") is None
    for zone in ("Europe/Paris", "Asia/Tokyo"):
        set_zone(place.database, "ann", zone)
        place.boundary()
        assert find_zone(place.database, "ann") == zone
    assert find_zone(place.database, "bob") is None
