"""What the store promises on every engine: what is written comes back, a script holds or does not."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.hostile import HOSTILE, INTEGER
from tests.support.stores import (
    APPLET,
    INGREDIENTS,
    PLACES,
    SLOT,
    T0,
    Place,
    at_once,
    executions_in,
    id_of,
    open_place,
    reserve,
)
from whenthen.engine.worker import BATCH
from whenthen.store.applets import AppletRow, find_applet, insert_applet, list_applets, read_applets, update_applet
from whenthen.store.database import Database, Rows, connect
from whenthen.store.errors import Duplicate, GuardFailed, InvalidText, MissingTable, ScriptTooLong, StoreError
from whenthen.store.events import EventRow, find_event, read_events, reserve_event
from whenthen.store.executions import ExecutionRow, claim, find_execution, list_due, read_executions
from whenthen.store.inbox import Message, insert_message, list_messages
from whenthen.store.keys import add_key, add_user, find_key, hash_key, list_keys, list_users, revoke_key
from whenthen.store.progress import Progress
from whenthen.store.reservations import COPIED_INGREDIENTS, reserve_execution
from whenthen.store.statements import Script, Statement, load
from whenthen.store.triggers import TriggerRow, find_trigger, guard, insert_trigger, set_listeners, touch


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with open_place(request.param, request, tmp_path) as found:
        yield found


@pytest.fixture
def database(place: Place) -> Database:
    return place.database


def applet(name: str, **changes: object) -> AppletRow:
    return AppletRow(**{  # type: ignore[arg-type]
        "applet_id": name, "owner_id": "owner", "trigger_id": "trigger", "definition": "{}", "enabled": True,
        "version": 1, "created_at": T0, "updated_at": T0, "deleted_at": None,
    } | changes)  # fmt: skip


def run(database: Database, script: Script) -> None:
    database.execute(script.sql)


TRIGGER = TriggerRow("t", "owner", "webhooks", "event", "{}", (), 0)
WAITING = {"occurred_at": T0, "now": T0, "wake_at": T0 + 1}


def add_trigger(database: Database, revision: int = 0) -> None:
    """`TRIGGER`, which has changed so often."""
    script = Script()
    insert_trigger(script, TRIGGER)
    for _ in range(revision):
        touch(script, TRIGGER.trigger_id)
    run(database, script)


def reservation(name: str, trigger: TriggerRow, *, executions: int = 2, ingredients: str = INGREDIENTS) -> Script:
    """An event of the trigger and what it sets off, all in one script, as the intake reserves them."""
    ids = tuple(id_of(name, f"applet {number}") for number in range(executions))
    script = Script()
    reserve_event(script, EventRow(name, trigger.trigger_id, T0, T0, ids, ingredients))
    for number, execution_id in enumerate(ids):
        reserve_execution(
            script,
            execution_id=execution_id,
            applet_id=f"applet {number}",
            owner_id="owner",
            ingredients=ingredients,
            **WAITING,
        )
    guard(script, trigger)
    return script


def events_and_executions(database: Database, names: list[str]) -> tuple[list[str], list[str]]:
    """The ids of those events that are there, and of all executions."""
    rows = executions_in(database)
    return sorted(read_events(database, names, timeout_seconds=10)), sorted(row.execution_id for row in rows)


def test_what_is_written_comes_back_equal(place: Place) -> None:
    """Given hostile texts and numbers, when they go in by the real modules, then they come back as they were."""
    database = place.database
    written: list[tuple[AppletRow, TriggerRow, EventRow, ExecutionRow, Message]] = []

    def read_back(
        applet: AppletRow, trigger: TriggerRow, event: EventRow, execution: ExecutionRow, message: Message
    ) -> None:
        assert find_applet(database, applet.applet_id) == applet
        assert find_trigger(database, trigger.trigger_id) == trigger
        assert find_event(database, event.event_id) == event
        assert find_execution(database, execution.execution_id) == execution
        assert message in list_messages(database, message.owner_id, before=(2**63 - 1, ""))

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(HOSTILE, HOSTILE, HOSTILE, HOSTILE, INTEGER, INTEGER, st.booleans(), st.none() | INTEGER)
    def write(one: str, two: str, three: str, four: str, number: int, other: int, yes: bool, maybe: int | None) -> None:
        key = f"{len(written)}.{one[:100]}"
        first = applet(key, trigger_id=two, definition=three, enabled=not yes, created_at=number)
        last = applet(
            key, trigger_id=three, definition=four, enabled=yes, version=2, created_at=number,
            updated_at=other, deleted_at=maybe,
        )  # fmt: skip
        trigger = TriggerRow(key, two, "webhooks", three, four, (two, three), 1)
        event = EventRow(key, key, number, other, (one, four), three)
        copied = three if len(three) <= COPIED_INGREDIENTS else ""
        execution = ExecutionRow(
            f"{SLOT}.{key}.x", two, four, number, "queued", other, number, "", -1, copied, Progress(), SLOT
        )
        message = Message(key, f"owner {key}", two, three, min(number, 2**63 - 2), two, three, four)
        script = Script()
        insert_applet(script, first)
        update_applet(script, last, seen_version=1)
        insert_trigger(script, trigger)
        set_listeners(script, TriggerRow(key, "", "", "", "", (), 0), trigger.listeners)
        reserve_event(script, event)
        insert_message(script, message)
        guard(script, trigger)
        run(database, script)
        script = Script()
        reserve_execution(
            script,
            execution_id=execution.execution_id,
            applet_id=two,
            owner_id=four,
            occurred_at=number,
            now=other,
            wake_at=number,
            ingredients=three,
        )
        run(database, script)
        written.append((last, trigger, event, execution, message))
        read_back(*written[-1])

    write()
    place.boundary()
    for rows in written:
        read_back(*rows)


def test_owners_and_keys(place: Place) -> None:
    add_user(place.database, "ow'ner", "Zoë 🚪")
    add_user(place.database, "other", "")
    first = add_key(place.database, "ow'ner", "webhook", "door", "key-1", "X-Delivery'")
    second = add_key(place.database, "ow'ner", "api", "", "key-2")
    place.boundary()
    assert set(list_users(place.database)) == {"other", "ow'ner"}
    assert find_key(place.database, hash_key("key-1")) == first
    assert {key.key_hash for key in list_keys(place.database, "ow'ner")} == {first.key_hash, second.key_hash}
    script = Script()
    revoke_key(script, first.key_hash)
    run(place.database, script)
    assert list_keys(place.database, "ow'ner") == [second]
    with pytest.raises(Duplicate) as refused:
        add_key(place.database, "other", "api", "", "key-2")
    assert refused.value.columns == ("key_hash",)


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800", "emoji cut \ud83d"])
def test_what_can_not_be_stored_is_refused_by_name(bad: str) -> None:
    with pytest.raises(InvalidText, match=r"^definition holds"):
        insert_applet(Script(), applet("a", definition=bad))
    with pytest.raises(InvalidText, match=r"^title holds"):
        insert_message(Script(), Message("m", "o", "a", "e", T0, bad, "", ""))


def test_a_refused_script_leaves_nothing(place: Place) -> None:
    """Given a script whose second statement is refused, then the first is not there, and the next one works."""
    script = Script()
    insert_applet(script, applet("taken"))
    run(place.database, script)
    place.boundary()

    script = Script()
    insert_applet(script, applet("new"))
    insert_applet(script, applet("taken"))
    with pytest.raises(Duplicate) as duplicate:
        run(place.database, script)
    assert duplicate.value.columns == ("applet_id",)
    assert find_applet(place.database, "new") is None

    script = Script()
    insert_applet(script, applet("new"))
    update_applet(script, applet("taken"), seen_version=7)
    with pytest.raises(GuardFailed) as guard:
        run(place.database, script)
    assert guard.value.column == "version"
    assert [row.applet_id for row in list_applets(place.database, "owner")] == ["taken"]


def test_guards(place: Place) -> None:
    """Given a trigger that has changed, when an event is reserved as of before, then nothing is."""
    row = TRIGGER
    script = Script()
    insert_trigger(script, row)
    insert_trigger(script, row)
    run(place.database, script)
    place.boundary()
    script = Script()
    touch(script, "t")
    run(place.database, script)

    event = EventRow("e", "t", T0, T0, ("x",), "{}")
    late, stale = Script(), Script()
    reserve_event(late, event)
    guard(late, row)
    set_listeners(stale, row, ("a",))
    for script in (late, stale):
        with pytest.raises(GuardFailed) as refused:
            run(place.database, script)
        assert refused.value.column == "revision"
    assert find_event(place.database, "e") is None

    script = Script()
    reserve_event(script, event)
    guard(script, replace(row, revision=1))
    run(place.database, script)
    place.boundary()
    with pytest.raises(Duplicate) as duplicate:
        run(place.database, script)
    assert duplicate.value.columns == ("event_id",)
    assert find_event(place.database, "e") == event


@pytest.mark.parametrize("seen", [1, 3, -1, 2**63 - 1])
def test_a_stale_revision_refuses_the_whole_reservation(place: Place, seen: int) -> None:
    """Given a trigger at revision 2, when it is guarded as at another, then no event and no execution is there."""
    database = place.database
    add_trigger(database, revision=2)
    run(database, reservation("before", replace(TRIGGER, revision=2)))
    place.boundary()
    before = events_and_executions(database, ["before"])
    assert (len(before[0]), len(before[1])) == (1, 2)

    stale = reservation("e", replace(TRIGGER, revision=seen))
    for _ in range(2):
        with pytest.raises(GuardFailed) as refused:
            run(database, stale)
        assert refused.value.column == "revision"
        assert events_and_executions(database, ["before", "e"]) == before
        place.boundary()
    found = find_trigger(database, "t")
    assert found is not None
    assert found.revision == 2

    # And the same reservation as of now is taken whole, and says so with one row.
    assert len(database.execute(reservation("e", found).sql)) == 1
    place.boundary()
    events, executions = events_and_executions(database, ["before", "e"])
    assert (events, len(executions)) == (["before", "e"], 4)


def test_a_second_arrival_is_a_duplicate_whatever_the_revision(place: Place) -> None:
    """Given an event that is there, when it comes again as of an older revision, then it is told as the duplicate."""
    database = place.database
    add_trigger(database)
    run(database, reservation("e", TRIGGER))
    touched = Script()
    touch(touched, "t")
    run(database, touched)
    place.boundary()
    before = events_and_executions(database, ["e"])
    for revision in (0, 1):
        with pytest.raises(Duplicate) as duplicate:
            run(database, reservation("e", replace(TRIGGER, revision=revision), executions=3))
        assert duplicate.value.columns == ("event_id",)
        assert events_and_executions(database, ["e"]) == before


def test_a_trigger_that_is_not_there_guards_nothing(place: Place) -> None:
    """Given no row to guard, then the script is taken, and nothing but the missing last row tells.

    The intake guards what it has read, and no trigger is ever deleted (see the test of the catalogue's shapes).
    """
    database = place.database
    add_trigger(database)
    place.boundary()
    missing = replace(TRIGGER, trigger_id="missing")
    assert database.execute(reservation("e", missing).sql) == []
    events, executions = events_and_executions(database, ["e"])
    assert (events, len(executions)) == (["e"], 2)
    assert len(database.execute(reservation("f", TRIGGER).sql)) == 1


def test_a_new_execution_has_its_defaults(place: Place) -> None:
    """Given an execution as it is reserved, then by its key, by a page and by the sweep it is the same row."""
    database, execution_id = place.database, reserve(place.database, "new")
    place.boundary()
    row = ExecutionRow(
        execution_id=execution_id,
        applet_id=APPLET,
        owner_id="owner",
        occurred_at=T0,
        state="queued",
        due_at=T0,
        wake_at=T0 + 60_000,
        claim="",
        sending=-1,
        ingredients=INGREDIENTS,
        progress=Progress(),
        place=SLOT,
    )
    assert read_executions(database, Script(), [execution_id, id_of("nowhere")]) == {execution_id: row}
    assert find_execution(database, execution_id) == row
    assert list_due(database, SLOT, T0 + 60_000) == [row]
    assert executions_in(database) == [row]


@pytest.mark.parametrize("character", ["x", "'", "é", "🚪"])
def test_short_ingredients_are_copied_and_long_ones_are_not(place: Place, character: str) -> None:
    """Given ingredients at the limit and one character over it, then both stand in the event, and one is copied."""
    database = place.database
    add_trigger(database)
    texts = {"short": character * COPIED_INGREDIENTS, "long": character * (COPIED_INGREDIENTS + 1)}
    for name, text in texts.items():
        run(database, reservation(name, TRIGGER, executions=1, ingredients=text))
    place.boundary()
    events = read_events(database, list(texts), timeout_seconds=10)
    assert {name: event.ingredients for name, event in events.items()} == texts
    ids = {name: id_of(name, "applet 0") for name in texts}
    rows = read_executions(database, Script(), list(ids.values()))
    assert [rows[ids[name]].ingredients for name in ("short", "long")] == [texts["short"], ""]


def test_applets_and_events_are_read_by_id(place: Place) -> None:
    database = place.database
    add_trigger(database)
    script = Script()
    applets = [applet(name, enabled=name != "off", definition=f'"{name}"') for name in ("on", "off")]
    for row in applets:
        insert_applet(script, row)
    insert_applet(script, applet("deleted"))
    update_applet(script, applet("deleted", deleted_at=T0 + 1), seen_version=1)
    run(database, script)
    for name in ("one", "two"):
        run(database, reservation(name, TRIGGER, ingredients=f'"{name}"'))
    place.boundary()

    found = read_applets(database, ["on", "off", "deleted", "nowhere"], timeout_seconds=10)
    deleted = applet("deleted", version=2, deleted_at=T0 + 1)
    assert found == {row.applet_id: row for row in [*applets, deleted]}
    assert all(find_applet(database, name) == row for name, row in found.items())
    events = read_events(database, ["one", "nowhere", "two"], timeout_seconds=10)
    assert {name: event.ingredients for name, event in events.items()} == {"one": '"one"', "two": '"two"'}
    assert all(find_event(database, name) == event for name, event in events.items())
    assert read_events(database, ["nowhere"], timeout_seconds=10) == {}


def test_a_missing_table_is_named(database: Database) -> None:
    with pytest.raises(MissingTable) as missing:
        find_execution(database, "199901010000.x")
    assert missing.value.table == "executions_199901010000"


def test_a_bug_is_a_plain_error_and_the_connection_lives(database: Database) -> None:
    with pytest.raises(StoreError) as refused:
        run(database, Script().add(Statement("bug", "SELEC")))
    assert type(refused.value) is StoreError
    assert find_applet(database, "a") is None


@pytest.mark.parametrize("character", ["x", '"', "é", "🚪"])
def test_the_longest_text_goes_in_and_more_never_leaves(database: Database, character: str) -> None:
    longest = {"x": 1024 * 1024, '"': 1024 * 1024, "é": 349_000, "🚪": 174_000}[character] - 8_000
    script = Script()
    insert_applet(script, applet("long", definition=character * longest))
    run(database, script)
    found = find_applet(database, "long")
    assert found is not None
    assert found.definition == character * longest

    script = Script()
    insert_applet(script, applet("longer", definition=character * (longest + 9_000)))
    with pytest.raises(ScriptTooLong):
        _ = script.sql


@pytest.mark.parametrize(
    ("file", "name"), [("executions", "read_execution"), ("applets", "read_applet"), ("events", "read_event")]
)
def test_the_longest_union_leaves_the_engine_alive(database: Database, file: str, name: str) -> None:
    """Given that a few hundred selects kill the server, when a script has as many as it may, then all is well."""
    add_trigger(database)
    run(database, reservation("0", TRIGGER, executions=1))
    script = Script()
    insert_applet(script, applet("0"))
    run(database, script)
    selects: list[Script] = []
    with contextlib.suppress(ScriptTooLong):
        while Script().union(selects).sql is not None:
            one = str(len(selects))
            keys = {"execution_id": id_of(one, "applet 0"), "applet_id": one, "event_id": one}
            selects.append(Script().add(load(file)[name], place=SLOT, **keys))
    assert len(selects) > 60
    assert len(database.execute(Script().union(selects[:-1]).sql)) == 1


class Refusing:
    """A database that reads nothing and answers nothing: what comes this far has passed the script's own limits."""

    embedded = True

    def execute(self, sql: str, *, timeout_seconds: float = 0) -> Rows:  # noqa: ARG002
        return []

    def close(self) -> None:
        pass


def test_the_longest_claim_is_taken_whole(database: Database) -> None:
    """Given claims and the reading of them, when there are as many as fit one script, then the engine takes it."""
    reserve(database, "0")

    def send(count: int, to: Database) -> list[ExecutionRow]:
        ids = [id_of(str(number)) for number in range(count)]
        script = Script()
        for execution_id in ids:
            claim(script, execution_id, claim="token", now=T0, lease_until=T0 + 1)
        return list(read_executions(to, script, ids).values())

    most = 0
    with contextlib.suppress(ScriptTooLong):
        while send(most + 1, Refusing()) == []:
            most += 1
    assert most >= 2 * BATCH
    assert [(row.execution_id, row.claim) for row in send(most, database)] == [(id_of("0"), "token")]


def test_parallel_duplicates(place: Place) -> None:
    """Given sixteen deliveries of one event at once, then one is reserved and the others are told (F18)."""
    add_trigger(place.database)
    place.boundary()

    def deliver(number: int) -> str:
        script = Script()
        reserve_event(script, EventRow("e", "t", T0, T0, (str(number),), "{}"))
        guard(script, TRIGGER)
        try:
            run(place.database, script)
        except Duplicate:
            return "duplicate"
        return str(number)

    answers = at_once(16, deliver)
    found = find_event(place.database, "e")
    assert found is not None
    assert sorted(answers) == sorted(["duplicate"] * 15 + list(found.execution_ids))


def test_a_file_keeps_what_it_was_given(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with open_place("embedded in a file", request, tmp_path) as first:
        execution_id = reserve(first.database, "kept")
        before = find_execution(first.database, execution_id)
    again = connect(str(tmp_path / "store.alopex"))
    assert before is not None
    assert find_execution(again, execution_id) == before
    again.close()
    again.close()
