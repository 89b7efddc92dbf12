"""Outcomes, leases and reruns: who comes late changes nothing."""

from dataclasses import replace

from tests.support.claims import (
    ALWAYS,
    DIED,
    ENDED,
    LEASE,
    Change,
    LostAnswers,
    claiming,
    everything,
    marking,
    message,
    message_ids,
    outcome,
    read,
    recording,
    refused,
    run,
    running,
    try_claim,
)
from tests.support.stores import APPLET, SLOT, T0, Place, executions_in, reserve
from whenthen.clock import Deadline
from whenthen.engine import claims
from whenthen.store.executions import (
    ExecutionRow,
    State,
    list_due,
    release,
    requeue,
    wake_again,
)
from whenthen.store.progress import Progress
from whenthen.store.slots import count_open, list_slots, open_slot, reopen, settle


def test_an_outcome_counts_only_for_its_claim(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")
    assert try_claim(database, execution_id, "token")
    place.boundary()
    claimed = read(database, execution_id)

    refused(database, marking(execution_id, "stale"), column="sending")
    refused(database, recording(execution_id, "stale"))
    assert read(database, execution_id) == claimed

    run(database, marking(execution_id, "token"))
    assert read(database, execution_id) == replace(claimed, sending=0)
    run(database, recording(execution_id, "token"))
    ended = replace(claimed, state="succeeded", wake_at=None, sending=-1, progress=ENDED)
    assert read(database, execution_id) == ended

    refused(database, recording(execution_id, "token", State.FAILED))
    refused(database, marking(execution_id, "token", step=3), column="sending")
    assert read(database, execution_id) == ended


def test_a_script_with_one_lost_outcome_records_none(place: Place) -> None:
    database, ids = place.database, [reserve(place.database, str(number)) for number in range(3)]
    run(database, *(claiming(execution_id, "token") for execution_id in ids))
    run(database, recording(ids[1], "token"))
    place.boundary()
    refused(database, *(recording(execution_id, "token", State.FAILED) for execution_id in ids))
    refused(database, *(marking(execution_id, "token") for execution_id in ids), column="sending")


def test_only_what_is_held_is_marked(place: Place) -> None:
    """Given runs of which some were taken away, when requests may leave, then only those held are said to."""
    database = place.database
    ids = [reserve(database, str(number)) for number in range(5)]
    for execution_id in ids:
        assert try_claim(database, execution_id, "token")
    run(database, recording(ids[1], "token", State.UNKNOWN))
    [due] = [row for row in list_due(database, SLOT, LEASE) if row.execution_id == ids[2]]
    run(database, lambda s: release(s, due, state=State.QUEUED, progress=DIED, due_at=T0, wake_at=LEASE))
    run(database, recording(ids[3], "token"))
    place.boundary()
    runs = [running(execution_id, "token", step) for step, execution_id in enumerate(ids)]
    before = {row.execution_id: row for row in everything(database)}
    marked = {name: replace(row, sending=ids.index(name)) for name, row in before.items() if name in (ids[0], ids[4])}

    for store in (LostAnswers(database), database):
        assert claims.mark_sending(store, runs, Deadline(30)) == {ids[0], ids[4]}
        assert {row.execution_id: row for row in everything(database)} == before | marked
    assert claims.mark_sending(database, runs[1:4], Deadline(30)) == set()
    assert claims.mark_sending(database, [], Deadline(30)) == set()


def test_a_late_outcome_is_left_out_and_the_others_are_recorded(place: Place) -> None:
    """Given outcomes of which one comes too late, then the others are recorded with their messages, and it is not."""
    database = place.database
    ids = [reserve(database, str(number)) for number in range(4)]
    for execution_id in ids:
        assert try_claim(database, execution_id, "token")
    [due] = [row for row in list_due(database, SLOT, LEASE) if row.execution_id == ids[1]]
    run(database, lambda s: release(s, due, state=State.QUEUED, progress=DIED, due_at=T0, wake_at=LEASE))
    assert try_claim(database, ids[1], "other")
    place.boundary()
    before = {row.execution_id: row for row in everything(database)}
    outcomes = [
        outcome(ids[0], "token"),
        outcome(ids[1], "token"),
        outcome(ids[2], "token", State.RUNNING, wake_at=LEASE + 7),
        outcome(ids[3], "token", State.UNKNOWN),
    ]
    messages = [message(execution_id) for execution_id in ids]
    expected = before | {
        ids[0]: replace(before[ids[0]], state="succeeded", wake_at=None, progress=ENDED),
        ids[2]: replace(before[ids[2]], wake_at=LEASE + 7, progress=ENDED),
        ids[3]: replace(before[ids[3]], state="unknown", wake_at=None, progress=ENDED),
    }

    def assert_recorded() -> None:
        assert {row.execution_id: row for row in everything(database)} == expected
        assert message_ids(database) == [ids[0], ids[2], ids[3]]

    assert claims.record(database, outcomes, messages, Deadline(30)) == {ids[0], ids[2], ids[3]}
    assert_recorded()
    # Again, as after an answer that was lost: the same rows. What has become final is not held any more; what
    # goes on is, so the worker goes on with it.
    assert claims.record(database, outcomes, messages, Deadline(30)) == {ids[2], ids[3]}
    assert_recorded()
    assert claims.record(database, outcomes[1:2], messages[1:2], Deadline(30)) == set()
    assert claims.record(database, [], [], Deadline(30)) == set()
    assert_recorded()


def test_outcomes_whose_answer_was_lost_are_recorded_once(place: Place) -> None:
    database = place.database
    ids = [reserve(database, str(number)) for number in range(3)]
    run(database, *(claiming(execution_id, "token") for execution_id in ids))
    place.boundary()
    outcomes = [
        outcome(ids[0], "token"),
        outcome(ids[1], "token", State.RUNNING, wake_at=LEASE),
        outcome(ids[2], "token", State.WAITING, due_at=T0 + 9, wake_at=T0 + 10),
    ]
    flaky = LostAnswers(database)
    assert claims.record(flaky, outcomes, [message(ids[0]), message(ids[1])], Deadline(30)) == {ids[1]}
    assert flaky.lost == 1
    rows = [read(database, execution_id) for execution_id in ids]
    assert [(row.state, row.claim, row.due_at, row.wake_at, row.progress) for row in rows] == [
        ("succeeded", "token", None, None, ENDED),
        ("running", "token", None, LEASE, ENDED),
        ("waiting", "token", T0 + 9, T0 + 10, ENDED),
    ]
    assert message_ids(database) == ids[:2]


def test_a_late_answer_replaces_unknown_for_its_own_claim_only(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")
    assert try_claim(database, execution_id, "token")
    run(database, marking(execution_id, "token"))
    [due] = list_due(database, SLOT, LEASE)
    run(database, lambda s: release(s, due, state=State.UNKNOWN, progress=DIED, due_at=None, wake_at=None))
    place.boundary()
    unknown = read(database, execution_id)
    assert unknown == replace(due, state="unknown", wake_at=None, sending=-1, progress=DIED)

    refused(database, recording(execution_id, "other"))
    assert claims.record(database, [outcome(execution_id, "other")], [message(execution_id)], Deadline(30)) == set()
    assert read(database, execution_id) == unknown
    assert message_ids(database) == []

    late = [outcome(execution_id, "token")]
    assert claims.record(database, late, [message(execution_id)], Deadline(30)) == {execution_id}
    ended = replace(unknown, state="succeeded", progress=ENDED)
    assert read(database, execution_id) == ended
    assert message_ids(database) == [execution_id]
    refused(database, recording(execution_id, "token", State.FAILED))


def test_a_lease_that_ran_out_is_released_once(place: Place) -> None:
    """Given two sweeps that read the same row, when both release it, then the second changes nothing."""
    database, execution_id = place.database, reserve(place.database, "one")
    assert try_claim(database, execution_id, "token")
    place.boundary()
    assert list_due(database, SLOT, LEASE - 1) == []
    [due] = list_due(database, SLOT, LEASE)

    def again(row: ExecutionRow = due, state: State = State.QUEUED) -> Change:
        return lambda script: release(script, row, state=state, progress=DIED, due_at=T0, wake_at=LEASE + 9)

    before = read(database, execution_id)
    for other in ({"claim": "other"}, {"wake_at": LEASE - 1}, {"sending": 0}):
        refused(database, again(replace(due, **other)))
    assert read(database, execution_id) == before
    run(database, again())
    released = replace(before, state="queued", due_at=T0, wake_at=LEASE + 9, progress=DIED)
    assert read(database, execution_id) == released
    refused(database, again(state=State.FAILED))
    refused(database, again(replace(due, wake_at=LEASE + 9)))

    # The dead worker wakes up after all; then another takes over, and the dead one's lease is not it.
    refused(database, marking(execution_id, "token"), column="sending")
    refused(database, recording(execution_id, "token"))
    assert try_claim(database, execution_id, "second", now=LEASE)
    refused(database, again())
    refused(database, recording(execution_id, "token"))
    assert (read(database, execution_id).claim, read(database, execution_id).state) == ("second", "running")


def test_a_worker_that_is_late_but_alive_is_not_released_to_run_twice(place: Place) -> None:
    """Given a lease that the sweep has read as run out, when the worker's request leaves before the release is
    written, then the release is refused: nothing but `sending` tells that the row has changed.
    """
    database, execution_id = place.database, reserve(place.database, "one")
    assert try_claim(database, execution_id, "token")
    place.boundary()
    [seen] = list_due(database, SLOT, LEASE)
    assert claims.mark_sending(database, [running(execution_id, "token")], Deadline(30)) == {execution_id}
    assert read(database, execution_id) == replace(seen, sending=0)

    def releasing(row: ExecutionRow, state: State, due_at: int | None, wake_at: int | None) -> Change:
        return lambda script: release(script, row, state=state, progress=DIED, due_at=due_at, wake_at=wake_at)

    refused(database, releasing(seen, State.QUEUED, T0, LEASE + 9))
    assert not try_claim(database, execution_id, "second", now=LEASE)

    # And the other way round: what was sent has been answered since, and the worker goes on.
    [sent] = list_due(database, SLOT, LEASE)
    step = outcome(execution_id, "token", State.RUNNING, wake_at=LEASE)
    assert claims.record(database, [step], [], Deadline(30)) == {execution_id}
    assert read(database, execution_id) == replace(seen, progress=ENDED)
    refused(database, releasing(sent, State.UNKNOWN, None, None))
    assert claims.record(database, [outcome(execution_id, "token")], [], Deadline(30)) == {execution_id}
    assert read(database, execution_id).state == State.SUCCEEDED


def test_a_row_is_woken_once(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")
    place.boundary()
    [due] = list_due(database, SLOT, T0 + 60_000)
    run(database, lambda s: wake_again(s, due, T0 + 70_000), lambda s: wake_again(s, due, T0 + 99_000))
    assert read(database, execution_id) == replace(due, wake_at=T0 + 70_000)

    # One that has become final meanwhile stays so, and does not keep the others from being woken.
    other = reserve(database, "two")
    seen = list_due(database, SLOT, T0 + 80_000)
    assert try_claim(database, execution_id, "token")
    run(database, recording(execution_id, "token"))
    run(database, *(lambda s, row=row: wake_again(s, row, T0 + 90_000) for row in seen))
    assert [read(database, name).wake_at for name in (execution_id, other)] == [None, T0 + 90_000]


def test_a_final_execution_is_requeued_once(place: Place) -> None:
    database, execution_id = place.database, reserve(place.database, "one")

    def again(row: ExecutionRow, **times: int) -> Change:
        progress = Progress(step=1, attempts=row.progress.attempts)
        return lambda script: requeue(script, row, progress=progress, **({"now": T0, "wake_at": T0} | times))

    refused(database, again(read(database, execution_id)))
    assert try_claim(database, execution_id, "token")
    refused(database, again(read(database, execution_id)))
    run(database, recording(execution_id, "token", State.UNKNOWN))
    place.boundary()
    unknown = read(database, execution_id)
    run(database, recording(execution_id, "token", State.FAILED))
    seen = read(database, execution_id)

    # A late answer since; a run of another claim since.
    refused(database, again(unknown))
    refused(database, again(replace(seen, claim="earlier")))
    run(database, again(seen, now=T0 + 50, wake_at=T0 + 60))
    requeued = read(database, execution_id)
    assert requeued == replace(
        seen,
        state="queued",
        claim="",
        due_at=T0 + 50,
        wake_at=T0 + 60,
        progress=Progress(step=1, attempts=seen.progress.attempts),
    )
    refused(database, again(seen))
    refused(database, recording(execution_id, "token"))
    assert read(database, execution_id) == requeued


def test_slots_and_activity(place: Place) -> None:
    database = place.database
    ids = [reserve(database, str(number), now=T0 + number) for number in range(3)]
    open_slot(database, SLOT, T0 + 1)
    open_slot(database, "202602010000", T0 + 2)
    assert try_claim(database, ids[0], "token")
    run(database, recording(ids[0], "token"))
    newest = list_slots(database)[0]
    run(database, lambda s: settle(s, newest, T0 + 3))
    place.boundary()

    assert [(row.slot, row.opened_at, row.settled_at) for row in list_slots(database)] == [
        ("202602010000", T0 + 2, T0 + 3),
        (SLOT, T0, None),
    ]
    assert (count_open(database, SLOT), count_open(database, "202602010000")) == (2, 0)
    run(database, lambda s: reopen(s, "202602010000"))
    refused(database, lambda s: settle(s, newest, T0 + 4), column="reopened")
    assert list_slots(database)[0].settled_at is None, "what was counted before it was reopened settles nothing"

    def page(before: tuple[int, str] = ALWAYS, applet_id: str = "", state: str = "") -> list[str]:
        rows = executions_in(database, applet_id=applet_id, state=state, before=before)
        return [row.execution_id for row in rows]

    assert page() == ids[::-1]
    assert page(before=(T0 + 2, ids[2])) == ids[1::-1]
    assert page(state="succeeded", applet_id=APPLET) == ids[:1]
    assert page(applet_id="other") == []
    assert executions_in(database, owner="stranger") == []
