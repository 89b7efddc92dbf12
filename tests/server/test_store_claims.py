"""Executions are claimed by compare-and-set alone: one worker has one, with all that it needs."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import pytest
import time_machine

from tests.support.claims import (
    LEASE,
    LostAnswers,
    claiming,
    everything,
    held,
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
from tests.support.stores import APPLET, INGREDIENTS, SLOT, T0, Place, at_once, id_of, reserve
from whenthen.clock import Deadline, now_ms
from whenthen.engine import claims
from whenthen.engine.claims import Claimed
from whenthen.engine.runs import Run, begin
from whenthen.store.applets import AppletRow, insert_applet, update_applet
from whenthen.store.database import Database
from whenthen.store.events import EventRow, reserve_event
from whenthen.store.executions import State, read_executions, record_outcome
from whenthen.store.reservations import COPIED_INGREDIENTS
from whenthen.store.slots import count_open
from whenthen.store.statements import Script
from whenthen.store.triggers import TriggerRow, guard, insert_trigger


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


@pytest.fixture(autouse=True)
def while_the_slot_is_young() -> Iterator[None]:
    """An old one's executions may have moved, so they are looked for first."""
    with time_machine.travel(T0 / 1000 + 60):
        yield


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
    assert nothing == Claimed({}, {}, {}, {})


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
