"""What the store promises on every engine: what is written comes back, a script holds or does not."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.hostile import HOSTILE, INTEGER
from tests.support.stores import PLACES, SLOT, T0, Place, at_once, id_of, open_place, reserve
from whenthen.engine.worker import BATCH
from whenthen.store.applets import AppletRow, find_applet, insert_applet, list_applets, update_applet
from whenthen.store.database import Database, Rows, connect
from whenthen.store.errors import Duplicate, GuardFailed, InvalidText, MissingTable, ScriptTooLong, StoreError
from whenthen.store.events import EventRow, find_event, reserve_event
from whenthen.store.executions import Record, claim, find_execution, read_records
from whenthen.store.inbox import Message, insert_message, list_messages
from whenthen.store.keys import add_key, add_user, find_key, hash_key, list_keys, list_users, revoke_key
from whenthen.store.statements import Script, Statement, load
from whenthen.store.triggers import TriggerRow, find_trigger, insert_trigger, set_listeners, touch


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


def test_what_is_written_comes_back_equal(place: Place) -> None:
    """Given hostile texts and numbers, when they go in by the real modules, then they come back as they were."""
    database = place.database
    written: list[tuple[AppletRow, TriggerRow, EventRow, Message]] = []

    def read_back(applet: AppletRow, trigger: TriggerRow, event: EventRow, message: Message) -> None:
        assert find_applet(database, applet.applet_id) == applet
        assert find_trigger(database, trigger.trigger_id) == trigger
        assert find_event(database, event.event_id) == event
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
        message = Message(key, f"owner {key}", two, three, min(number, 2**63 - 2), two, three, four)
        script = Script()
        insert_applet(script, first)
        update_applet(script, last, seen_version=1)
        insert_trigger(script, trigger)
        set_listeners(script, TriggerRow(key, "", "", "", "", (), 0), trigger.listeners)
        reserve_event(script, event, revision=1)
        insert_message(script, message)
        run(database, script)
        written.append((last, trigger, event, message))
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
    row = TriggerRow("t", "owner", "webhooks", "event", "{}", (), 0)
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
    reserve_event(late, event, revision=0)
    set_listeners(stale, row, ("a",))
    for script, column in ((late, "event_id"), (stale, "revision")):
        with pytest.raises(GuardFailed) as refused:
            run(place.database, script)
        assert refused.value.column == column
    assert find_event(place.database, "e") is None

    script = Script()
    reserve_event(script, event, revision=1)
    run(place.database, script)
    place.boundary()
    with pytest.raises(Duplicate) as duplicate:
        run(place.database, script)
    assert duplicate.value.columns == ("event_id",)
    assert find_event(place.database, "e") == event


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


def test_the_longest_union_leaves_the_engine_alive(database: Database) -> None:
    """Given that a few hundred selects kill the server, when a script has as many as it may, then all is well."""
    reserve(database, "0")
    selects: list[Script] = []
    with contextlib.suppress(ScriptTooLong):
        while Script().union(selects).sql is not None:
            name = id_of(str(len(selects)))
            selects.append(Script().add(load("executions")["select_execution"], slot=SLOT, execution_id=name))
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
    """Given claims with all that they read, when there are as many as fit one script, then the engine takes it."""
    reserve(database, "0")

    def send(count: int, to: Database) -> list[Record]:
        ids = [id_of(str(number)) for number in range(count)]
        script = Script()
        for execution_id in ids:
            claim(script, execution_id, claim="token", now=T0, lease_until=T0 + 1)
        events, applets = ([f"{kind} {number}" for number in range(count)] for kind in ("event", "applet"))
        found = read_records(to, script, execution_ids=ids, event_ids=events, applet_ids=applets)
        return list(found.values())

    most = 0
    with contextlib.suppress(ScriptTooLong):
        while send(most + 1, Refusing()) == []:
            most += 1
    assert most >= 2 * BATCH
    assert [(record.id, record.holder) for record in send(most, database)] == [(id_of("0"), "token")]


def test_parallel_duplicates(place: Place) -> None:
    """Given sixteen deliveries of one event at once, then one is reserved and the others are told (F18)."""
    script = Script()
    insert_trigger(script, TriggerRow("t", "owner", "webhooks", "event", "{}", (), 0))
    run(place.database, script)
    place.boundary()

    def deliver(number: int) -> str:
        script = Script()
        reserve_event(script, EventRow("e", "t", T0, T0, (str(number),), "{}"), revision=0)
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
