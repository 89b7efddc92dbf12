"""Executions change by compare-and-set alone: one worker has one, and who comes late changes nothing."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from tests.support.stores import PLACES, SLOT, T0, Place, at_once, open_place, reserve
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed
from whenthen.store.executions import (
    ExecutionRow,
    Outcome,
    State,
    claim,
    find_execution,
    list_activity,
    list_due,
    mark_sending,
    read_records,
    record_outcome,
    release,
    requeue,
    wake_again,
)
from whenthen.store.slots import count_open, list_slots, open_slot, set_settled
from whenthen.store.statements import Script

LEASE = T0 + 30_000
ALWAYS = (2**63 - 1, "")


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with open_place(request.param, request, tmp_path) as found:
        yield found


def run(database: Database, *changes: Callable[[Script], None]) -> None:
    script = Script()
    for change in changes:
        change(script)
    database.execute(script.sql)


def try_claim(database: Database, execution_ids: list[str], token: str, now: int = T0) -> list[str]:
    """The ids that are `token`'s now."""
    script = Script()
    for execution_id in execution_ids:
        claim(script, execution_id, claim=token, now=now, lease_until=now + 30_000)
    records = read_records(database, script, execution_ids=execution_ids, timeout_seconds=30)
    return [record.id for record in records if record.claim == token]


def read(database: Database, execution_id: str) -> ExecutionRow:
    row = find_execution(database, execution_id)
    assert row is not None
    return row


def outcome(execution_id: str, token: str, state: State = State.SUCCEEDED, **changes: object) -> Outcome:
    made = Outcome(execution_id, token, state, "so", T0, None, 1, 2, -1, '["attempt"]', T0 + 5)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_sixteen_claim_one_and_one_has_it(place: Place) -> None:
    execution_id = reserve(place.database, "one")
    place.boundary()
    winners = at_once(16, lambda worker: try_claim(place.database, [execution_id], f"w{worker}"))
    assert [*chain(*winners)] == [execution_id]
    row = read(place.database, execution_id)
    assert (row.state, row.wake_at) == (State.RUNNING, LEASE)
    assert winners[int(row.claim[1:])] == [execution_id]


def test_none_is_dropped_and_none_is_taken_twice(place: Place) -> None:
    """Given many executions and many workers, when all claim all in batches, then each has exactly one (F16)."""
    ids = [reserve(place.database, str(number)) for number in range(20)]
    place.boundary()

    def work(worker: int) -> list[str]:
        order = ids[worker:] + ids[:worker]
        batches = [order[start : start + 10] for start in range(0, len(order), 10)]
        return [won for batch in batches for won in try_claim(place.database, batch, f"w{worker}")]

    taken = Counter(chain(*at_once(8, work)))
    assert taken == Counter(ids)


def test_a_claim_waits_for_its_time_and_reads_all_it_needs(place: Place) -> None:
    execution_id = reserve(place.database, "later", now=T0 + 10)
    place.boundary()
    assert try_claim(place.database, [execution_id], "early", now=T0 + 9) == []
    assert try_claim(place.database, [execution_id], "token", now=T0 + 10) == [execution_id]
    assert try_claim(place.database, [execution_id], "late", now=T0 + 90_000) == []
    [record] = read_records(place.database, Script(), execution_ids=[execution_id], timeout_seconds=5)
    assert (record.kind, record.claim, record.body) == ("execution", "token", "[]")


def test_an_outcome_counts_only_for_its_claim(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")
    try_claim(database, [execution_id], "token")
    place.boundary()
    claimed = read(database, execution_id)

    run(database, lambda s: mark_sending(s, execution_id, claim="stale", step=0, lease_until=LEASE + 1))
    run(database, lambda s: record_outcome(s, outcome(execution_id, "stale")))
    assert read(database, execution_id) == claimed

    run(database, lambda s: mark_sending(s, execution_id, claim="token", step=0, lease_until=LEASE + 1))
    assert read(database, execution_id) == replace(claimed, sending=0, wake_at=LEASE + 1)
    run(database, lambda s: record_outcome(s, outcome(execution_id, "token")))
    ended = replace(
        claimed, state="succeeded", reason="so", wake_at=None, step=1, tries=2, attempts='["attempt"]',
        finished_at=T0 + 5,
    )  # fmt: skip
    assert read(database, execution_id) == ended

    run(database, lambda s: record_outcome(s, outcome(execution_id, "token", State.FAILED)))
    run(database, lambda s: mark_sending(s, execution_id, claim="token", step=3, lease_until=LEASE))
    assert read(database, execution_id) == ended


def test_a_late_answer_replaces_unknown_for_its_own_claim_only(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")
    try_claim(database, [execution_id], "token")
    run(database, lambda s: record_outcome(s, outcome(execution_id, "token", State.UNKNOWN, sending=0)))
    place.boundary()
    run(database, lambda s: record_outcome(s, outcome(execution_id, "other")))
    assert read(database, execution_id).state == State.UNKNOWN
    run(database, lambda s: record_outcome(s, outcome(execution_id, "token")))
    assert read(database, execution_id).state == State.SUCCEEDED


def test_a_lease_that_ran_out_is_released_once(place: Place) -> None:
    """Given two sweeps that read the same row, when both release it, then the second changes nothing."""
    database, execution_id = place.database, reserve(place.database, "one")
    try_claim(database, [execution_id], "token")
    place.boundary()
    assert list_due(database, SLOT, LEASE - 1) == []
    [due] = list_due(database, SLOT, LEASE)

    def again(row: object = due, state: State = State.QUEUED) -> Callable[[Script], None]:
        return lambda script: release(
            script, row, state=state, reason="died", attempts='["x"]', wake_at=LEASE + 9, finished_at=None  # type: ignore[arg-type]
        )  # fmt: skip

    before = read(database, execution_id)
    run(database, again(replace(due, claim="other")), again(replace(due, wake_at=LEASE - 1)))
    assert read(database, execution_id) == before
    run(database, again(), again(state=State.FAILED))
    released = replace(before, state="queued", reason="died", tries=1, attempts='["x"]', wake_at=LEASE + 9)
    assert read(database, execution_id) == released

    # The dead worker wakes up after all; then another takes over, and the dead one's lease is not it.
    assert try_claim(database, [execution_id], "second", now=LEASE) == [execution_id]
    run(database, again(), lambda s: record_outcome(s, outcome(execution_id, "token")))
    assert (read(database, execution_id).claim, read(database, execution_id).state) == ("second", "running")


def test_a_row_is_woken_once(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")
    place.boundary()
    [due] = list_due(database, SLOT, T0 + 60_000)
    run(database, lambda s: wake_again(s, due, T0 + 70_000), lambda s: wake_again(s, due, T0 + 99_000))
    assert read(database, execution_id).wake_at == T0 + 70_000


def test_a_final_execution_is_requeued_once(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")
    queued = read(database, execution_id)
    with pytest.raises(GuardFailed):
        run(database, lambda s: requeue(s, queued, step=0, now=T0, wake_at=T0))
    try_claim(database, [execution_id], "token")
    run(database, lambda s: record_outcome(s, outcome(execution_id, "token", State.FAILED)))
    place.boundary()
    seen = read(database, execution_id)

    with pytest.raises(GuardFailed):
        run(database, lambda s: requeue(s, replace(seen, finished_at=1), step=0, now=T0, wake_at=T0))
    run(database, lambda s: requeue(s, seen, step=1, now=T0 + 50, wake_at=T0 + 60))
    again = read(database, execution_id)
    assert (again.state, again.claim, again.step, again.tries, again.finished_at) == ("queued", "", 1, 0, None)
    assert again.attempts == seen.attempts
    with pytest.raises(GuardFailed):
        run(database, lambda s: requeue(s, seen, step=1, now=T0, wake_at=T0))
    run(database, lambda s: record_outcome(s, outcome(execution_id, "token")))
    assert read(database, execution_id) == again


def test_slots_and_activity(place: Place) -> None:
    database = place.database
    ids = [reserve(database, str(number), now=T0 + number) for number in range(3)]
    open_slot(database, SLOT, T0 + 1)
    open_slot(database, "202602010000", T0 + 2)
    try_claim(database, ids[:1], "token")
    run(database, lambda s: record_outcome(s, outcome(ids[0], "token")))
    run(database, lambda s: set_settled(s, "202602010000", T0 + 3))
    place.boundary()

    assert [(row.slot, row.opened_at, row.settled_at) for row in list_slots(database)] == [
        ("202602010000", T0 + 2, T0 + 3),
        (SLOT, T0, None),
    ]
    assert (count_open(database, SLOT), count_open(database, "202602010000")) == (2, 0)

    def page(before: tuple[int, str] = ALWAYS, applet_id: str = "", state: str = "") -> list[str]:
        rows = list_activity(database, SLOT, "owner", applet_id=applet_id, state=state, before=before)
        return [row.execution_id for row in rows]

    assert page() == ids[::-1]
    assert page(before=(T0 + 2, ids[2])) == ids[1::-1]
    assert page(state="succeeded", applet_id="applet") == ids[:1]
    assert page(applet_id="other") == []
    assert list_activity(database, SLOT, "stranger", applet_id="", state="", before=ALWAYS) == []
