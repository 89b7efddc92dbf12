"""Connections in the store, in every kind of database: who may get new tokens, and what is written about it."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from tests.support.stores import Place
from whenthen.store.connections import (
    ConnectionRow,
    ConnectionState,
    claim_connection,
    find_connection,
    has_sealed,
    insert_connection,
    list_connections,
    mark_failing,
    mark_working,
    release_connection,
    update_connection,
)
from whenthen.store.errors import GuardFailed
from whenthen.store.statements import Script

ROW = ConnectionRow(
    "c" * 32, "owner", "vendor", "It's", "@ada", "{}", "v1.x", ConnectionState.WORKING, None, "", 1, "", 0, 5, 5, None
)


@pytest.fixture
def stored(place: Place) -> ConnectionRow:
    """A connection that was written before the boundary."""
    script = Script()
    insert_connection(script, ROW)
    place.database.execute(script.sql)
    place.boundary()
    return ROW


def now(place: Place) -> ConnectionRow:
    found = find_connection(place.database, ROW.connection_id)
    assert found is not None
    return found


def claim(place: Place, row: ConnectionRow, name: str, *, at: int = 10, until: int = 20) -> str:
    held = claim_connection(place.database, row, claim=name, now=at, lease_until=until, timeout_seconds=10)
    assert held is not None
    return held.claim


def test_a_row_comes_back_as_it_was(place: Place, stored: ConnectionRow) -> None:
    assert now(place) == stored
    assert list_connections(place.database, "owner") == [stored]
    assert list_connections(place.database, "other") == []
    assert has_sealed(place.database)


def test_one_of_many_gets_the_claim_until_it_runs_out(place: Place, stored: ConnectionRow) -> None:
    barrier = Barrier(8)

    def take(number: int) -> str:
        barrier.wait()
        return claim(place, stored, f"c{number}")

    with ThreadPoolExecutor(8) as pool:
        (held,) = set(pool.map(take, range(8)))
    assert claim(place, stored, "late", at=19) == held
    assert claim(place, stored, "later", at=20, until=40) == "later"


def test_a_claim_on_an_older_version_gets_nothing(place: Place, stored: ConnectionRow) -> None:
    script = Script()
    update_connection(script, replace(stored, sealed="v1.y"), seen_version=1)
    place.database.execute(script.sql)
    assert claim(place, stored, "stale") == ""
    with pytest.raises(GuardFailed):
        place.database.execute(script.sql)
    assert (now(place).version, now(place).sealed) == (2, "v1.y")


def test_states_are_written_about_the_version_that_was_read(place: Place, stored: ConnectionRow) -> None:
    claim(place, stored, "mine")
    script = Script()
    mark_failing(script, stored, message="503", now=7)
    release_connection(script, stored.connection_id, claim="another")
    place.database.execute(script.sql)
    failing = now(place)
    assert (failing.state, failing.failing_since, failing.message) == (ConnectionState.FAILING, 7, "503")
    assert (failing.claim, failing.version) == ("mine", 1)
    script = Script()
    mark_failing(script, failing, message="504", now=9)
    mark_working(script, failing.connection_id, version=2)
    release_connection(script, stored.connection_id, claim="mine")
    place.database.execute(script.sql)
    still = now(place)
    assert (still.state, still.failing_since, still.message, still.claim) == (ConnectionState.FAILING, 7, "504", "")
    script = Script()
    mark_working(script, failing.connection_id, version=1)
    place.database.execute(script.sql)
    assert (now(place).state, now(place).failing_since, now(place).message) == (ConnectionState.WORKING, None, "")


def test_what_is_broken_stays_so(place: Place, stored: ConnectionRow) -> None:
    script = Script()
    update_connection(script, replace(stored, state=ConnectionState.BROKEN, message="no"), seen_version=1)
    mark_failing(script, replace(stored, version=2), message="x", now=1)
    mark_working(script, stored.connection_id, version=2)
    place.database.execute(script.sql)
    assert (now(place).state, now(place).message) == (ConnectionState.BROKEN, "no")


def test_a_deleted_row_takes_no_change(place: Place, stored: ConnectionRow) -> None:
    script = Script()
    update_connection(script, replace(stored, sealed="", deleted_at=9), seen_version=1)
    place.database.execute(script.sql)
    script = Script()
    update_connection(script, stored, seen_version=2)
    with pytest.raises(GuardFailed):
        place.database.execute(script.sql)
    assert not has_sealed(place.database)
    assert list_connections(place.database, "owner") == []
