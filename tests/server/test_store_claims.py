"""Executions change by compare-and-set alone: one worker has one, and who comes late changes nothing."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pytest

from tests.support.stores import APPLET, INGREDIENTS, PLACES, SLOT, T0, Place, at_once, id_of, open_place, reserve
from whenthen.clock import Deadline, now_ms
from whenthen.engine import claims
from whenthen.engine.claims import Claimed
from whenthen.engine.runs import Run, begin
from whenthen.model.applet import ActionRef, Applet, TriggerRef
from whenthen.store.applets import AppletRow, insert_applet, update_applet
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database, Rows
from whenthen.store.errors import GuardFailed, OutcomeUnknown
from whenthen.store.events import EventRow, reserve_event
from whenthen.store.executions import (
    COPIED_INGREDIENTS,
    ExecutionRow,
    Outcome,
    State,
    claim,
    find_execution,
    list_activity,
    list_due,
    mark_sending,
    read_executions,
    record_outcome,
    release,
    requeue,
    wake_again,
)
from whenthen.store.inbox import Message, list_messages
from whenthen.store.progress import Progress
from whenthen.store.slots import count_open, list_slots, open_slot, set_settled
from whenthen.store.statements import Script
from whenthen.store.triggers import TriggerRow, guard, insert_trigger

LEASE = T0 + 30_000
ALWAYS = (2**63 - 1, "")
ENDED = Progress(step=1, tries=2, reason="so", attempts=({"action": 0},), finished_at=T0 + 5)
DIED = Progress(tries=1, reason="died", attempts=({"action": "x"},))

type Change = Callable[[Script], None]


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with open_place(request.param, request, tmp_path) as found:
        yield found


class LostAnswers:
    """A database that does what it is told, and whose first answers, by default to changes, are lost on the way.

    Attributes:
        lost: how many answers were.
        requests: how many requests there were.
    """

    embedded = True

    def __init__(self, inner: Database, to_lose: int = 1, answer_to: str = "UPDATE") -> None:
        self._inner = inner
        self._to_lose = to_lose
        self._answer_to = answer_to
        self.lost = self.requests = 0

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        self.requests += 1
        rows = self._inner.execute(sql, timeout_seconds=timeout_seconds)
        if self._answer_to in sql and self.lost < self._to_lose:
            self.lost += 1
            raise OutcomeUnknown
        return rows

    def close(self) -> None:
        """The inner one is its owner's."""


def run(database: Database, *changes: Change) -> None:
    script = Script()
    for change in changes:
        change(script)
    database.execute(script.sql)


def refused(database: Database, *changes: Change, column: str = "state") -> None:
    """Run the changes, of which one comes too late: the script is refused and no row has changed."""
    before = everything(database)
    with pytest.raises(GuardFailed) as failed:
        run(database, *changes)
    assert failed.value.column == column
    assert everything(database) == before


def everything(database: Database) -> list[ExecutionRow]:
    return list_activity(database, SLOT, "owner", applet_id="", state="", before=ALWAYS)


def claiming(execution_id: str, token: str, now: int = T0) -> Change:
    return lambda script: claim(script, execution_id, claim=token, now=now, lease_until=now + 30_000)


def marking(execution_id: str, token: str, step: int = 0) -> Change:
    return lambda script: mark_sending(script, execution_id, claim=token, step=step)


def recording(execution_id: str, token: str, state: State = State.SUCCEEDED) -> Change:
    return lambda script: record_outcome(script, outcome(execution_id, token, state))


def try_claim(database: Database, execution_id: str, token: str, now: int = T0) -> bool:
    """Whether it is `token`'s now."""
    script = Script()
    claiming(execution_id, token, now)(script)
    try:
        rows = read_executions(database, script, [execution_id])
    except GuardFailed:
        return False
    return rows[execution_id].claim == token


def read(database: Database, execution_id: str) -> ExecutionRow:
    row = find_execution(database, execution_id)
    assert row is not None
    return row


def outcome(execution_id: str, token: str, state: State = State.SUCCEEDED, **changes: object) -> Outcome:
    return replace(Outcome(execution_id, token, state, ENDED), **changes)  # type: ignore[arg-type]


def message(execution_id: str) -> Message:
    return Message(f"{execution_id}.0", "owner", APPLET, execution_id, T0, "title", "body", "")


def message_ids(database: Database) -> list[str]:
    return sorted(found.execution_id for found in list_messages(database, "owner", before=ALWAYS))


def held(claimed: Claimed, token: str) -> set[str]:
    """The ids of what was claimed, all of which is the token's."""
    assert {(row.claim, row.state) for row in claimed.executions.values()} <= {(token, State.RUNNING)}
    assert all(execution_id == row.execution_id for execution_id, row in claimed.executions.items())
    return set(claimed.executions)


def running(execution_id: str, token: str, step: int = 0) -> Run:
    applet = Applet(
        name="a", trigger=TriggerRef(service="s", trigger="t"), actions=(ActionRef(service="s", action="a"),)
    )
    return Run(execution_id, "owner", token, applet, {}, step, 0, [])


def test_sixteen_claim_one_and_one_has_it(place: Place) -> None:
    execution_id = reserve(place.database, "one")
    place.boundary()
    won = at_once(16, lambda worker: try_claim(place.database, execution_id, f"w{worker}"))
    assert won.count(True) == 1
    row = read(place.database, execution_id)
    assert (row.state, row.due_at, row.wake_at) == (State.RUNNING, None, LEASE)
    assert won[int(row.claim[1:])]


def test_none_is_dropped_and_none_is_taken_twice(place: Place) -> None:
    """Given many executions and many workers, when all claim all in batches, then each has exactly one (F16, F18)."""
    ids = [reserve(place.database, str(number)) for number in range(40)]
    place.boundary()
    deadline = Deadline(60)

    def work(worker: int) -> list[tuple[str, str]]:
        order = ids[worker * 3 % 40 :] + ids[: worker * 3 % 40]
        batches = [order[start : start + 10] for start in range(0, len(order), 10)]
        token = f"w{worker}"
        taken: set[str] = set()
        for batch in batches:
            now_held = held(claims.claim(place.database, batch, token, deadline), token)
            assert now_held <= set(batch)
            assert not now_held & taken
            taken |= now_held
        return [(execution_id, token) for execution_id in taken]

    taken = list(chain(*at_once(16, work)))
    assert Counter(execution_id for execution_id, _ in taken) == Counter(ids)
    rows = {row.execution_id: row for row in everything(place.database)}
    assert all(rows[execution_id].claim == token for execution_id, token in taken)
    assert {row.state for row in rows.values()} == {State.RUNNING}


def test_a_claim_waits_for_its_time(place: Place) -> None:
    execution_id = reserve(place.database, "later", now=T0 + 10)
    place.boundary()
    queued = read(place.database, execution_id)
    assert not try_claim(place.database, execution_id, "early", now=T0 + 9)
    assert read(place.database, execution_id) == queued
    assert try_claim(place.database, execution_id, "token", now=T0 + 10)
    claimed = read(place.database, execution_id)
    assert claimed == replace(queued, state="running", claim="token", due_at=None, wake_at=T0 + 10 + 30_000)
    assert not try_claim(place.database, execution_id, "late", now=T0 + 90_000)
    assert read(place.database, execution_id) == claimed


LONG = '{"Value1":"' + "ü'🚪" * (COPIED_INGREDIENTS // 3) + '"}'
"""Ingredients that are not copied."""


@dataclass(frozen=True)
class Needed:
    """What claims read besides executions, and the executions' ids by event and applet."""

    ids: dict[tuple[str, str], str]
    applets: dict[str, AppletRow]
    events: dict[str, EventRow]


def reserve_needed(database: Database) -> Needed:
    """Applets that are on, off and deleted, and a short and a long event for each of them and for one that is not."""
    script = Script()
    rows: dict[str, AppletRow] = {}
    for name in (APPLET, "off", "deleted"):
        row = AppletRow(name, "owner", "t", f'"{name}"', name != "off", 1, T0, T0, None)
        insert_applet(script, row)
        if name == "deleted":
            row = replace(row, deleted_at=T0, updated_at=T0 + 1)
            update_applet(script, row, seen_version=1)
            row = replace(row, version=2)
        rows[name] = row
    trigger = TriggerRow("t", "owner", "webhooks", "event", "{}", (), 0)
    insert_trigger(script, trigger)
    events: dict[str, EventRow] = {}
    for name, ingredients in (("short", INGREDIENTS), ("long", LONG)):
        ids = tuple(id_of(name, applet) for applet in (*rows, "nowhere"))
        events[name] = EventRow(name, "t", T0 + 2, T0, ids, ingredients)
        reserve_event(script, events[name])
    guard(script, trigger)
    database.execute(script.sql)
    pairs = [(event, applet) for event in events for applet in (*rows, "nowhere")]
    return Needed(
        {
            (event, applet): reserve(database, event, applet=applet, ingredients=events[event].ingredients)
            for event, applet in pairs
        },
        rows,
        events,
    )


def test_a_claim_reads_all_it_needs(place: Place) -> None:
    """Given events, applets and executions, then a claim reads the applets at once, and the events that are long."""
    database = place.database
    needed = reserve_needed(database)
    gone = reserve(database, "gone", ingredients=LONG)
    place.boundary()
    before = {row.execution_id: row for row in everything(database)}
    assert before[gone].ingredients == before[needed.ids["long", "off"]].ingredients == ""
    wanted = [*needed.ids.values(), gone, id_of("nowhere")]
    assert read_executions(database, Script(), wanted) == before
    assert {row.state for row in before.values()} == {"queued"}

    counting = LostAnswers(database, to_lose=0)
    claimed = claims.claim(counting, wanted, "token", Deadline(30))
    assert counting.requests == 3
    assert held(claimed, "token") == {*needed.ids.values(), gone}
    assert claimed.executions == {row.execution_id: row for row in everything(database)}
    assert [row.wake_at is not None and row.wake_at > T0 + 30_000 for row in claimed.executions.values()] == [True] * 9
    for execution_id, row in before.items():
        now = claimed.executions[execution_id]
        assert now == replace(row, state="running", claim="token", due_at=None, wake_at=now.wake_at)
    assert claimed.applets == needed.applets
    assert claimed.long_events == {"long": needed.events["long"]}


@pytest.mark.parametrize("event", ["short", "long"])
def test_a_claim_reads_nothing_for_others(place: Place, event: str) -> None:
    """Given that of two executions one is taken, then only what the other needs is read."""
    database = place.database
    needed = reserve_needed(database)
    other = {"short": "long", "long": "short"}[event]
    assert try_claim(database, needed.ids[other, "off"], "other")
    place.boundary()
    counting = LostAnswers(database, to_lose=0)
    wanted = [needed.ids[other, "off"], needed.ids[event, APPLET]]
    claimed = claims.claim(counting, wanted, "token", Deadline(30))
    assert held(claimed, "token") == {needed.ids[event, APPLET]}
    assert claimed.applets == {APPLET: needed.applets[APPLET]}
    assert claimed.long_events == ({"long": needed.events["long"]} if event == "long" else {})
    # One is refused, one reads the rows, one claims, one reads the applet, one a long event.
    assert counting.requests == (5 if event == "long" else 4)


@pytest.mark.parametrize("event", ["short", "long"])
def test_a_run_has_the_ingredients_that_were_stored(place: Place, event: str) -> None:
    needed = reserve_needed(place.database)
    place.boundary()
    execution_id = needed.ids[event, APPLET]
    claimed = claims.claim(place.database, [execution_id], "token", Deadline(30))
    definition = running(execution_id, "token").applet.model_dump_json()
    begun = begin(
        claimed.executions[execution_id],
        replace(claimed.applets[APPLET], definition=definition),
        claimed.long_events.get(event),
    )
    assert isinstance(begun, Run)
    assert begun.ingredients == json.loads(needed.events[event].ingredients)


@pytest.mark.parametrize("table", ["FROM applets", "FROM trigger_events"])
def test_a_claim_survives_a_lost_answer_about_what_it_needs(place: Place, table: str) -> None:
    """Given a claim that holds, when reading what it needs fails once, then it is read again and not claimed again."""
    needed = reserve_needed(place.database)
    place.boundary()
    execution_id = needed.ids["long", APPLET]
    flaky = LostAnswers(place.database, answer_to=table)
    claimed = claims.claim(flaky, [execution_id], "token", Deadline(30))
    assert flaky.lost == 1
    assert held(claimed, "token") == {execution_id}
    assert claimed.applets == {APPLET: needed.applets[APPLET]}
    assert claimed.long_events == {"long": needed.events["long"]}


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_claim_of_many_with_one_lost_takes_none(place: Place, lost: int) -> None:
    """Given three executions of which one is taken, when all are claimed in one script, then nothing has changed."""
    database, ids = place.database, [reserve(place.database, str(number)) for number in range(3)]
    assert try_claim(database, ids[lost], "first")
    place.boundary()
    refused(database, *(claiming(execution_id, "second") for execution_id in ids))
    assert Counter(row.claim for row in everything(database)) == {"": 2, "first": 1}


def test_a_claim_takes_exactly_what_may_be_claimed(place: Place) -> None:
    database = place.database
    ids = {name: reserve(database, name) for name in ("due", "taken", "waiting", "postponed", "final", "unknown")}
    ids |= {"later": reserve(database, "later", now=now_ms() + 3_600_000), "nowhere": id_of("nowhere")}
    wait = now_ms() + 3_600_000
    for name in ("taken", "waiting", "postponed", "final", "unknown"):
        assert try_claim(database, ids[name], "first")
    waits = {"waiting": {"due_at": T0, "wake_at": T0}, "postponed": {"due_at": wait, "wake_at": wait}}
    for name, times in waits.items():
        run(database, lambda s: record_outcome(s, outcome(ids[name], "first", State.WAITING, **times)))  # noqa: B023
    run(database, recording(ids["final"], "first"), recording(ids["unknown"], "first", State.UNKNOWN))
    place.boundary()
    before = {row.execution_id: row for row in everything(database)}

    claimed = claims.claim(database, list(ids.values()), "second", Deadline(30))
    expected = {ids["due"], ids["waiting"]}
    assert held(claimed, "second") == expected
    after = {row.execution_id: row for row in everything(database)}
    assert set(after) == set(before)
    assert claimed.executions == {name: after[name] for name in expected}
    assert {name for name in before if after[name] != before[name]} == expected
    assert {(after[name].state, after[name].claim, after[name].due_at) for name in expected} == {
        ("running", "second", None)
    }
    assert all((after[name].wake_at or 0) > now_ms() + 30_000 for name in expected)

    # What is nobody's to claim is no error either.
    nothing = claims.claim(database, [ids["final"], ids["nowhere"]], "third", Deadline(30))
    assert nothing == Claimed({}, {}, {})


def test_a_claim_whose_answer_was_lost_is_still_ours(place: Place) -> None:
    """Given that a claim was written but not answered, when it is sent again, then it has what it had (F18)."""
    ids = [reserve(place.database, str(number)) for number in range(3)]
    assert try_claim(place.database, ids[1], "other")
    place.boundary()
    flaky = LostAnswers(place.database)
    assert held(claims.claim(flaky, ids, "token", Deadline(30)), "token") == {ids[0], ids[2]}
    assert flaky.lost == 1
    assert held(claims.claim(place.database, ids, "token", Deadline(30)), "token") == {ids[0], ids[2]}
    assert read(place.database, ids[1]).claim == "other"


def test_what_nobody_contests_takes_one_request_and_a_claim_one_more_for_applets(place: Place) -> None:
    ids = [reserve(place.database, str(number)) for number in range(10)]
    place.boundary()
    counting = LostAnswers(place.database, to_lose=0)
    assert held(claims.claim(counting, ids, "token", Deadline(30)), "token") == set(ids)
    assert counting.requests == 2
    runs = [running(execution_id, "token") for execution_id in ids]
    assert claims.mark_sending(counting, runs, Deadline(30)) == set(ids)
    messages = [message(execution_id) for execution_id in ids]
    outcomes = [outcome(execution_id, "token") for execution_id in ids]
    assert claims.record(counting, outcomes, messages, Deadline(30)) == set(ids)
    assert counting.requests == 4
    assert message_ids(place.database) == ids
    assert count_open(place.database, SLOT) == 0


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
    assert unknown == replace(due, state="unknown", wake_at=None, progress=DIED)

    refused(database, recording(execution_id, "other"))
    assert claims.record(database, [outcome(execution_id, "other")], [message(execution_id)], Deadline(30)) == set()
    assert read(database, execution_id) == unknown
    assert message_ids(database) == []

    late = [outcome(execution_id, "token")]
    assert claims.record(database, late, [message(execution_id)], Deadline(30)) == {execution_id}
    ended = replace(unknown, state="succeeded", sending=-1, progress=ENDED)
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
    assert page(state="succeeded", applet_id=APPLET) == ids[:1]
    assert page(applet_id="other") == []
    assert list_activity(database, SLOT, "stranger", applet_id="", state="", before=ALWAYS) == []
