"""The doctor: each kind of thing that can't be, made by hand, is found, explained and repaired, and then is gone."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
import time_machine

from tests.support.embedded import START, House, die, fire_one, notification, web_request
from tests.support.history import T0, Crash, Crashed, detailed, fill, logged
from tests.support.listing import Listing
from tests.support.scenario import OWNER
from tests.support.sink import Reply, Sink
from whenthen.clock import Deadline, isoformat, now_ms
from whenthen.engine.closer import close_slots
from whenthen.engine.doctor import Finding, Practice, Report, events, examine
from whenthen.engine.erasure import erase_owners, request_erasure
from whenthen.engine.identity import parse_execution_id
from whenthen.store.erasing import FACTS, erase
from whenthen.store.loads import make_tables
from whenthen.store.slots import list_slots

HOUR = 3600


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(START) as traveller:
        yield traveller


def look(house: House, *, days: int = 1) -> Report:
    runtime = house.runtime
    practice = Practice(runtime.history, house.wakeups, runtime.checks, runtime.worker, now_ms())
    return examine(practice, days=days)


def found(house: House, *, days: int = 1) -> dict[str, list[str]]:
    """The ids of what is found, by kind."""
    return {one.kind: [item.identifier for item in one.items] for one in look(house, days=days).findings}


def the_one(house: House, kind: str) -> Finding:
    """What is found, which is of this kind alone, and is explained."""
    (one,) = look(house).findings
    assert one.kind == kind
    assert one.why
    assert one.remedy
    assert all(item.words for item in one.items)
    return one


def fix(finding: Finding) -> list[str]:
    """Repair it, twice: the second time does no harm. What the first has done."""
    assert finding.repair is not None
    done = finding.repair()
    finding.repair()
    return done


def test_nothing_is_found_where_nothing_is_wrong(
    house: House, listing: Listing, sink: Sink, other_sink: Sink, clock: time_machine.Traveller
) -> None:
    """Given everything that there is in a life, at every stage of it, then the doctor has nothing to say."""
    other_sink.reply("/later", [Reply(503, headers=(("Retry-After", "9000"),))])
    house.make_applet(actions=[web_request(sink.url), notification("x" * 2000)])
    gone = house.make_applet(actions=[web_request(other_sink.url + "/later")])
    off = house.make_applet()
    listing.make()
    schedule = {"service": "date_time", "trigger": "every_hour_at", "fields": {"minute": 0}}
    house.make_applet(trigger=schedule)
    nobody = listing.make(fields={"interval_minutes": 30})
    assert look(house) == Report((), ())
    house.fire()
    assert found(house) == {}
    house.work()
    house.call("PATCH", f"/applets/{off['id']}", {"enabled": False})
    house.call("DELETE", f"/applets/{nobody['id']}")
    listing.show("a", "b")
    for _ in range(20):
        clock.shift(600)
        house.check()
        house.fire(query={"value1": "y" * 1500})
        house.work()
        assert found(house) == {}, isoformat(now_ms())
    house.call("DELETE", f"/applets/{gone['id']}")
    assert len(logged(house.runtime.history)) > 10
    assert house.table("SELECT * FROM executions_waiting") != []
    assert found(house, days=90) == {}


# Claims and slots


def test_a_claim_whose_worker_is_gone(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    die(house, execution, "prepare", monkeypatch)
    clock.shift(600)
    assert found(house) == {}, "the sweep may take it yet"
    clock.shift(600)
    one = the_one(house, "claims of workers that are gone")
    assert [item.identifier for item in one.items] == [execution]
    assert "2026-11-29T18:0" in one.items[0].words
    assert fix(one) == ["swept: 1 executions were overdue"]
    assert found(house) == {}
    assert house.execution(execution)["state"] == "queued"
    assert house.work() > 0
    assert house.execution(execution)["state"] == "succeeded"


def test_a_claim_that_may_have_sent_something(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    die(house, execution, "perform", monkeypatch)
    clock.shift(1200)
    fix(the_one(house, "claims of workers that are gone"))
    house.work()
    assert house.execution(execution)["state"] == "unknown"
    assert sink.requests == []


def test_a_slot_that_nobody_closes(house: House, clock: time_machine.Traveller) -> None:
    house.make_applet()
    house.fire()
    house.work()
    clock.shift(HOUR + 25 * 60 + 10 * 60)
    assert found(house) == {}, "the poller may close it yet"
    clock.shift(6 * 60)
    one = the_one(house, "slots that should be closed")
    assert [item.words for item in one.items] == ["nobody has begun to close it; it has 1 executions"]
    assert fix(one) == ["closed: 1 slots"]
    assert found(house) == {}
    assert len(logged(house.runtime.history)) == 1


def test_a_slot_that_a_worker_holds(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given two things that are wrong, of which one keeps the other, then both are repaired in one go."""
    execution = fire_one(house, url=sink.url)
    die(house, execution, "prepare", monkeypatch)
    clock.shift(3 * HOUR)
    claims, slots = look(house).findings
    assert [item.words for item in slots.items] == ["1 of its 1 executions are held by workers"]
    fix(claims)
    assert fix(slots) == ["closed: 1 slots"]
    assert found(house) == {}
    assert house.execution(execution)["state"] == "queued"


def test_a_slot_whose_closing_broke_off(house: House, clock: time_machine.Traveller) -> None:
    history = house.runtime.history
    house.make_applet()
    house.fire()
    house.work()
    clock.shift(3 * HOUR)
    words = set()
    for at in range(1, 40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(events, "lost_events", lambda *_: iter(()))
            made = fill(house.database, "202611291830", 3, at=T0 + at, prefix=f"{at}x")
            crash = Crash(at, done=True)
            try:
                close_slots(crash.history(history), now_ms(), Deadline(60))
            except Crashed:
                for one in look(house).findings:
                    assert one.kind == "slots that should be closed"
                    words |= {item.words for item in one.items}
                    fix(one)
            assert found(house) == {}
            assert {execution for execution, _ in logged(history)} >= {one.execution_id for one in made}
    assert set(logged(history).values()) == {1}
    assert words >= {
        "0 of its 3 executions are in the log",
        "all its 3 executions are in the log, and its table has not been dropped",
    }


def crash(*_arguments: object) -> None:
    raise Crashed


def test_a_slot_that_has_lost_rows_is_left_to_people(house: House, clock: time_machine.Traveller) -> None:
    house.make_applet()
    for _ in range(2):
        house.fire()
    house.work()
    execution = house.activity()[0]["execution_id"]
    clock.shift(3 * HOUR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whenthen.store.closing.remove", crash)
        with pytest.raises(Crashed):
            close_slots(house.runtime.history, now_ms(), Deadline(60))
    assert house.table("SELECT upto, loaded_rows FROM slot_loads")[0]["loaded_rows"] == 2
    house.table(f"DELETE FROM executions_202611291800 WHERE execution_id = '{execution}'")
    house.table("UPDATE slot_loads SET upto = 'x' WHERE upto = '~'")
    one = the_one(house, "slots that should be closed")
    assert "2 executions were loaded into the log and its table has 1 by now" in one.items[0].words
    assert fix(one) == ["closed: 0 slots"]
    assert found(house) == {"slots that should be closed": ["202611291800"]}


def test_a_slot_without_its_table(house: House, clock: time_machine.Traveller) -> None:
    house.tick()
    house.table("DROP TABLE executions_202611291800")
    clock.shift(2 * HOUR)
    slots = {item.identifier: item.words for item in look(house).findings[0].items}
    assert slots["202611291800"] == "its table is gone, and its row was left behind"
    fix(the_one(house, "slots that should be closed"))
    assert found(house) == {}


def test_rows_that_an_erasing_has_set_aside(house: House, clock: time_machine.Traveller) -> None:
    """Given an erasing that breaks off, then nobody takes what it hides for lost, and it is put back."""
    house.make_applet()
    house.fire()
    house.work()
    clock.shift(3 * HOUR)
    house.tick()
    history = house.runtime.history
    assert len(logged(history)) == 1
    with pytest.raises(Crashed):
        erase(Crash(2, done=True).history(history), FACTS, "202611", "stranger")
    with pytest.raises(Exception, match="execution_log_202611"):
        logged(history)
    report = look(house)
    assert [item.identifier for item in report.findings[0].items] == ["execution_log_20261100"]
    assert "set aside" in report.notes[0]
    assert fix(the_one(house, "rows that are set aside")) == ["put back: 1 tables"]
    assert look(house) == Report((), ())
    assert len(logged(history)) == 1


def test_an_erasing_under_way_hides_nothing(
    house: House, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an erasing that begins while the doctor looks, then nothing is taken for lost."""
    house.make_applet()
    house.fire()
    house.work()
    clock.shift(3 * HOUR)
    house.tick()
    history = house.runtime.history
    real = events.list_logged

    def hidden(*arguments: object) -> object:
        monkeypatch.undo()
        with pytest.raises(Crashed):
            erase(Crash(2, done=True).history(history), FACTS, "202611", "stranger")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(events, "list_logged", hidden)
    assert found(house) == {}


# Triggers and applets


def listeners(house: House) -> list[str]:
    return [applet for row in house.table("SELECT listeners FROM triggers") for applet in json.loads(row["listeners"])]


def set_listeners(house: House, *applets: str) -> None:
    house.table(f"UPDATE triggers SET listeners = '{json.dumps(applets)}'")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("deleted", "the trigger sets off an applet that is deleted"),
        ("off", "the trigger sets off an applet that is off"),
        ("moved", "the trigger sets off an applet that has another trigger by now"),
        ("nowhere", "the trigger sets off an applet that is not in the database"),
    ],
)
def test_a_listener_that_does_not_listen(house: House, state: str, words: str) -> None:
    stays, goes = house.make_applet(), house.make_applet()
    both = listeners(house)
    path = f"/applets/{goes['id']}"
    if state == "deleted":
        house.call("DELETE", path)
    elif state == "off":
        house.call("PATCH", path, {"enabled": False})
    elif state == "nowhere":
        house.table(f"DELETE FROM applets WHERE applet_id = '{goes['id']}'")
    trigger = house.table("SELECT trigger_id FROM triggers")[0]["trigger_id"]
    if state == "moved":
        house.call("PATCH", path, {"trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "w"}}})
    house.table(f"UPDATE triggers SET listeners = '{json.dumps(both)}' WHERE trigger_id = '{trigger}'")
    one = the_one(house, "triggers and applets that do not agree")
    assert [(item.identifier, item.words) for item in one.items] == [(f"trigger {trigger}, applet {goes['id']}", words)]
    assert fix(one) == [f"trigger {trigger} does not set off applet {goes['id']}"]
    assert found(house) == {}
    assert json.loads(
        house.table(f"SELECT listeners FROM triggers WHERE trigger_id = '{trigger}'")[0]["listeners"]
    ) == [stays["id"]]


def test_an_applet_that_its_trigger_does_not_know(house: House) -> None:
    known, unknown = house.make_applet(), house.make_applet()
    set_listeners(house, known["id"])
    one = the_one(house, "triggers and applets that do not agree")
    assert [item.words for item in one.items] == ["the applet is on, and its trigger does not set it off"]
    house.fire()
    assert len(house.activity()) == 1
    fix(one)
    assert found(house) == {}
    assert sorted(listeners(house)) == sorted([known["id"], unknown["id"]])
    house.fire()
    assert len(house.activity()) == 3


def test_an_applet_whose_trigger_is_lost(house: House, listing: Listing) -> None:
    applets = [house.make_applet()["id"], listing.make()["id"]]
    house.table("DELETE FROM triggers")
    house.table("DELETE FROM checks")
    one = the_one(house, "triggers and applets that do not agree")
    assert {item.words for item in one.items} == {"the applet is on, and its trigger is not in the database"}
    fix(one)
    assert found(house) == {}
    assert sorted(listeners(house)) == sorted(applets)
    house.fire()
    listing.show("old")
    house.check()
    assert len(house.activity()) == 1, "what the list has shown while nobody listened does not fire"
    listing.show("new", "old")
    house.table("UPDATE checks SET next_check_at = 0 WHERE next_check_at > 0")
    house.check()
    assert len(house.activity()) == 2


@pytest.mark.parametrize("at", ["FROM triggers", "UPDATE triggers"])
def test_an_applet_that_is_turned_on_meanwhile_keeps_listening(
    house: House, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """Given an owner who turns the applet on while the doctor takes it out of the list, then it is in the list."""
    applet = house.make_applet(enabled=False)
    set_listeners(house, applet["id"])
    one = the_one(house, "triggers and applets that do not agree")
    real = house.database.execute
    turned = []

    def execute(sql: str, **options: float) -> object:
        if at in sql and not turned:
            turned.append(house)
            house.call("PATCH", f"/applets/{applet['id']}", {"enabled": True})
        return real(sql, **options)

    monkeypatch.setattr(house.database, "execute", execute)
    assert one.repair is not None
    one.repair()
    assert turned
    assert listeners(house) == [applet["id"]]
    assert found(house) == {}


# Checks


def test_a_check_without_a_trigger(house: House, listing: Listing) -> None:
    applet = listing.make()
    check_id = house.table("SELECT check_id FROM checks")[0]["check_id"]
    house.table(f"DELETE FROM applets WHERE applet_id = '{applet['id']}'")
    house.table("DELETE FROM triggers")
    one = the_one(house, "checks without a trigger")
    assert [item.identifier for item in one.items] == [check_id]
    assert fix(one) == [f"stopped: the check {check_id}"]
    assert found(house) == {}
    assert house.tick(now_ms() + 1000 * HOUR).checks == 0


@pytest.mark.parametrize("lost", ["time", "row"])
def test_a_trigger_that_nobody_checks(house: House, listing: Listing, lost: str) -> None:
    """Given a check that was stopped by mistake, then it goes on where it was; one that is gone begins anew."""
    listing.show("a")
    listing.make()
    house.table("UPDATE checks SET next_check_at = NULL" if lost == "time" else "DELETE FROM checks")
    if lost == "row":
        house.table("DELETE FROM positions")
    listing.show("b", "a")
    assert house.tick(now_ms() + 1000 * HOUR).checks == 0
    one = the_one(house, "triggers that nobody checks")
    assert [item.words for item in one.items] == ["listing.new_name, 1 applets"]
    fix(one)
    assert found(house) == {}
    assert house.table("SELECT host FROM checks") == [{"host": "127.0.0.1"}]
    house.check()
    assert house.messages() == (["List: b"] if lost == "time" else [])
    listing.show("c", "b", "a")
    house.check(now_ms() + HOUR * 1000)
    assert house.messages()[0] == "List: c"


def test_a_claim_of_a_check_that_was_left_behind(house: House, listing: Listing, clock: time_machine.Traveller) -> None:
    listing.make()
    clock.shift(600)
    house.tick()
    assert house.table("SELECT claim FROM checks")[0]["claim"]
    clock.shift(1300)
    one = the_one(house, "claims of checks that nobody is at")
    check_id = one.items[0].identifier
    assert fix(one) == [f"given back: the check {check_id}"]
    assert found(house) == {}
    assert house.table("SELECT claim, lease_until FROM checks") == [{"claim": "", "lease_until": 0}]
    house.orders.receive(wait_seconds=0)
    assert house.check()


# Events, executions, applets


def lose_execution(house: House, execution: str) -> None:
    house.table(f"DELETE FROM executions_{execution[:12]} WHERE execution_id = '{execution}'")


def test_an_execution_that_is_lost_in_its_slot(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given an execution that is gone, then it is `unknown`: its owner sees it, may run it again, and it is counted."""
    execution = fire_one(house, url=sink.url)
    house.wakeups.receive(wait_seconds=0)
    lose_execution(house, execution)
    assert house.activity() == []
    one = the_one(house, "events whose executions are lost")
    assert [item.identifier for item in one.items] == [execution]
    assert fix(one) == [f"stored as unknown: {execution}"]
    assert found(house) == {}
    shown = house.execution(execution)
    assert (shown["state"], shown["reason"]) == ("unknown", events._LOST)
    assert house.work() == 0
    assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
    house.work()
    assert house.execution(execution)["state"] == "succeeded"
    assert len(sink.requests) == 1
    clock.shift(3 * HOUR)
    house.tick()
    assert logged(house.runtime.history) == {(execution, 0): 1}
    assert found(house) == {}


def test_an_execution_that_is_lost_in_the_history(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given a history that is older than the database, as after a restore, then what it lacks is `unknown`."""
    execution = fire_one(house, url=sink.url)
    house.work()
    clock.shift(3 * HOUR)
    house.tick()
    history = house.runtime.history
    house.table("DROP TABLE execution_log_202611; DROP TABLE execution_details_20261129")
    house.table("DROP TABLE daily_stats_202611")
    make_tables(history.log, "20261129")
    fix(the_one(house, "events whose executions are lost"))
    assert found(house) == {}
    assert house.execution(execution)["state"] == "unknown"
    for seconds in (18 * 60, 60):
        clock.shift(seconds)
        house.tick()
    assert logged(history) == {(execution, 0): 1}
    assert detailed(history) == {execution: 1}
    assert found(house) == {}
    assert house.execution(execution)["ingredients"]["EventName"] == "door"


def test_what_is_older_is_not_followed(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    execution = fire_one(house, url=sink.url)
    lose_execution(house, execution)
    clock.shift(25 * HOUR)
    house.tick()
    assert found(house) == {}
    assert found(house, days=2) == {"events whose executions are lost": [execution]}


def test_what_there_was_no_time_for_is_told(house: House, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    fire_one(house, url=sink.url)
    house.fire()
    monkeypatch.setattr(events, "READ_SECONDS", 0)
    (note,) = look(house).notes
    assert note.endswith("% of the events were followed: there was no time for more.")


def test_what_was_erased_is_not_lost(house: House, clock: time_machine.Traveller) -> None:
    house.make_applet()
    house.fire()
    house.work()
    clock.shift(3 * HOUR)
    house.tick()
    request_erasure(house.database, OWNER)
    assert found(house) == {}
    assert erase_owners(house.runtime.history) == [OWNER]
    assert logged(house.runtime.history) == {}
    assert found(house, days=90) == {}


def test_an_execution_of_whom_nobody_knows(house: House, sink: Sink) -> None:
    execution = fire_one(house, url=sink.url)
    lose_execution(house, execution)
    house.table("DELETE FROM triggers")
    house.table("DELETE FROM applets")
    one = the_one(house, "events whose executions and owners are lost")
    assert one.repair is None
    assert [item.identifier for item in one.items] == [execution]


def test_a_slot_that_closes_meanwhile_is_told(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = fire_one(house, url=sink.url)
    lose_execution(house, execution)
    one = the_one(house, "events whose executions are lost")
    house.table("UPDATE slots SET reopened = -1")
    real = list_slots(house.database)
    monkeypatch.setattr(events, "list_slots", lambda _: [replace(row, reopened=0) for row in real])
    assert one.repair is not None
    assert one.repair() == [f"left: {execution}, whose slot is being closed; do it again"]


@pytest.mark.parametrize("done", [False, True])
def test_an_event_that_is_lost(house: House, sink: Sink, done: bool) -> None:
    """Given an event that is gone, then it is stored again, and a second arrival sets nothing off."""
    house.make_applet(actions=[web_request(sink.url)])
    house.make_applet(actions=[web_request(sink.url)])
    house.fire(headers={"Idempotency-Key": "delivery"})
    if done:
        house.work()
    before = house.table("SELECT event_id, trigger_id, occurred_at, ingredients FROM trigger_events")
    house.table("DELETE FROM trigger_events")
    one = the_one(house, "executions whose event is lost")
    assert len(one.items) == 2
    assert fix(one) == [f"stored again: the event {before[0]['event_id']}"]
    assert found(house) == {}
    assert house.table("SELECT event_id, trigger_id, occurred_at, ingredients FROM trigger_events") == before
    house.fire(headers={"Idempotency-Key": "delivery"})
    house.work()
    assert len(sink.requests) == 2


def test_an_event_that_is_lost_with_what_it_carried(house: House) -> None:
    house.make_applet()
    house.fire(query={"value1": "y" * 1500})
    house.table("DELETE FROM trigger_events")
    one = the_one(house, "executions whose event is lost with what it carried")
    assert one.repair is None
    house.work()
    assert house.activity()[0]["reason"] == "The event is not in the database."


def test_executions_without_an_applet(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/", [Reply(503, headers=(("Retry-After", "7200"),))])
    waiting = fire_one(house, url=sink.url)
    house.work()
    house.fire()
    house.wakeups.receive(wait_seconds=0)
    (queued,) = (item["execution_id"] for item in house.activity(state="queued"))
    applet = parse_execution_id(waiting).applet_id
    house.table(f"DELETE FROM applets WHERE applet_id = '{applet}'")
    lost, listener = sorted(look(house).findings, key=lambda one: one.kind)
    assert (lost.kind, listener.kind) == ("executions without an applet", "triggers and applets that do not agree")
    assert sorted(item.identifier for item in lost.items) == sorted([waiting, queued])
    fix(listener)
    fix(lost)
    assert found(house) == {"executions without an applet": [waiting]}, "it is not due yet"
    assert house.execution(queued)["state"] == "skipped"
    clock.move_to(house.execution(waiting)["due_at"])
    (one,) = (one for one in look(house).findings if one.kind == "executions without an applet")
    fix(one)
    assert house.execution(waiting)["state"] == "skipped"
    assert "executions without an applet" not in found(house)
