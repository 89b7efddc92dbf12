"""Reading the history: one stream over open slots, waiting executions and the log, and details wherever they are."""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.embedded import START, House, make_house, notification, web_request
from tests.support.history import HOUR, Crash, Crashed, Made, close, detailed, fill, logged
from tests.support.sink import Reply, Sink
from whenthen.clock import from_datetime, now_ms, to_datetime
from whenthen.engine import activity
from whenthen.engine.cursors import encode_cursor
from whenthen.engine.days import day_slots
from whenthen.engine.erasure import erase_owners, request_erasure
from whenthen.engine.identity import event_id, parse_execution_id, trigger_id
from whenthen.engine.retention import expire_payloads
from whenthen.errors import NotFound
from whenthen.store.erasing import blank_events, finish_erasing
from whenthen.store.events import estimate_events, remember_events
from whenthen.store.keys import add_user
from whenthen.store.log import Filters
from whenthen.store.slots import open_slot, slot_at
from whenthen.store.stat_parts import list_part_days
from whenthen.store.statements import Script

T0 = from_datetime(START) - 5 * 60_000
HALF = HOUR // 2


def stream(house: House, *, limit: int = 50, between: Any = None, **query: str) -> list[dict[str, Any]]:
    """Every page's items, one after the other; `between` is called after each page."""
    found: list[dict[str, Any]] = []
    params = {"limit": str(limit), **query}
    for _ in range(500):
        page = house.call("GET", "/activity", params=params).json()
        found += page["items"]
        if page["next"] is None:
            return found
        params["before"] = page["next"]
        if between:
            between()
    raise AssertionError("the pages have no end")


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [item["execution_id"] for item in items]


def in_order(made: list[Made]) -> list[str]:
    """Their ids as the stream has them."""
    keys = sorted(((one.execution_id[:12], one.occurred_at, one.execution_id) for one in made), reverse=True)
    return [key[2] for key in keys]


def fill_days(house: House, slots: list[int], count: int = 6) -> list[Made]:
    """Executions in slots that are so many half hours old."""
    made = []
    for age in slots:
        at = T0 - age * HALF
        made += fill(house.database, slot_at(at), count, at=at)
    return made


@pytest.fixture
def quiet(house: House) -> Iterator[tuple[House, time_machine.Traveller]]:
    """A house five minutes into a slot."""
    with time_machine.travel(START) as clock:
        yield house, clock


AGES = [0, 1, 2, 3, 4, 47, 48, 100, 700, 1500, 5000]


@pytest.mark.parametrize("limit", [1, 7, 50, 200])
def test_the_stream_goes_through_all_places(quiet: tuple[House, time_machine.Traveller], limit: int) -> None:
    """Open slots, months of log with gaps between them: everything once and in order."""
    house, _ = quiet
    made = fill_days(house, AGES, 9)
    close(house.runtime.history, now_ms())
    assert len(logged(house.runtime.history)) > 60
    assert ids(stream(house, limit=limit)) == in_order(made)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=8, unique=True), st.integers(1, 30), st.integers(0, 2**32))
def test_the_stream_is_stable_while_slots_close(ages: list[int], limit: int, seed: int) -> None:
    """Given slots that close between two pages, then nothing is repeated and nothing is skipped."""
    with time_machine.travel(START), make_house() as house:
        made = fill_days(house, ages, 7)
        # Slots go to the log oldest first, one after each page.
        left = sorted(ages, reverse=True)
        chance = random.Random(seed)

        def close_one() -> None:
            if left and chance.random() < 0.6:
                # As the closer does an hour after the slot's end.
                close(house.runtime.history, T0 - left.pop(0) * HALF + HALF + HOUR, times=1)

        assert ids(stream(house, limit=limit, between=close_one)) == in_order(made)


def test_filters_say_the_same_of_all_places(quiet: tuple[House, time_machine.Traveller]) -> None:
    house, _ = quiet
    made = fill_days(house, [0, 1, 4, 5, 800], 24)
    close(house.runtime.history, now_ms())
    for state in ("succeeded", "failed", "skipped", "unknown"):
        assert ids(stream(house, limit=5, state=state)) == in_order([one for one in made if one.state == state])
    for applet in ("a", "b"):
        assert ids(stream(house, limit=5, applet=applet)) == in_order([o for o in made if o.applet_id == applet])
    assert ids(stream(house, limit=5, service="notifications")) == in_order(
        [one for one in made if one.service == "notifications"]
    )
    # The service of the trigger counts, too.
    assert len(stream(house, service="feed")) == len(made)
    seventeen = [one for one in made if one.execution_id.split(".")[1] == "e00017"]
    assert ids(stream(house, text="Reason 17")) == in_order(seventeen)
    both = stream(house, limit=5, state="failed", text="reason 1", applet="b")
    assert ids(both) == in_order(
        [
            o
            for o in made
            if o.state == "failed" and o.applet_id == "b" and o.execution_id.split(".")[1] in "e00001 e00013"
        ]
    )
    assert stream(house, text="100%_'x") == []


@pytest.mark.parametrize(
    ("query", "most"),
    [
        ({"state": "failed"}, 4),
        ({"applet": "rare"}, 4),
        ({"applet": "rare", "state": "failed"}, 4),
        ({"state": "failed", "text": "reason 1"}, 4),
        ({"state": "unknown"}, 1),
        ({"applet": "often", "state": "failed"}, 1),
        ({"state": "waiting"}, 0),
    ],
)
def test_what_is_rare_is_found_by_the_days_that_have_it(
    quiet: tuple[House, time_machine.Traveller], query: dict[str, str], most: int
) -> None:
    """Given much that runs every day, and two days weeks ago with what is asked for, then no more is read than those.

    What is counted are the windows of the log that a page reads.
    """
    house, _ = quiet
    for age in range(6, 48 * 80, 96):
        at = T0 - age * HALF
        fill(house.database, slot_at(at), 4, at=at, applets=["often"], ends=["succeeded"])
    rare = []
    for age in (48 * 26, 48 * 51):
        at = T0 - age * HALF
        rare += fill(house.database, slot_at(at), 6, at=at, prefix="f", applets=["rare"], ends=["failed", "skipped"])
    for _ in range(12):
        close(house.runtime.history, now_ms())
    wanted = {
        one.execution_id
        for one in rare
        if query.get("state", one.state) == one.state and query.get("applet", "rare") == "rare"
        if "text" not in query or "f00001" in one.execution_id
    }
    house.database.sent.clear()
    found = ids(stream(house, limit=4, **query))
    assert found == [name for name in in_order(rare) if name in wanted]
    windows = [sql for sql in house.database.sent if "trigger_service" in sql and "FROM execution_log_" in sql]
    assert len(windows) <= most * (1 + len(found) // 4), windows


def test_bad_queries_are_told(house: House) -> None:
    for query, field in (
        ({"state": "gone"}, "state"),
        ({"before": "nonsense"}, "before"),
        ({"text": "x" * 201}, "text"),
        ({"limit": "0"}, "limit"),
        ({"before": encode_cursor(0, "000101010000.x")}, "before"),
        ({"before": encode_cursor(0, "999999999999.x")}, "before"),
    ):
        answer = house.call("GET", "/activity", params=query)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


def test_a_page_of_the_log_reads_for_a_bounded_time(
    quiet: tuple[House, time_machine.Traveller], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given months without what is looked for, pages come empty, each goes on further back, and all is covered."""
    house, _ = quiet
    made = fill_days(house, [5, 3000, 6000, 9000], 4)
    close(house.runtime.history, now_ms())
    monkeypatch.setattr(activity, "SECONDS", 0)
    first = house.call("GET", "/activity", params={"text": "nothing of it"}).json()
    assert (first["items"], first["next"] is None) == ([], False)
    assert stream(house, text="nothing of it") == []
    assert ids(stream(house)) == in_order(made)


def test_others_see_nothing_of_it(quiet: tuple[House, time_machine.Traveller]) -> None:
    house, _ = quiet
    made = fill(house.database, slot_at(T0 - 5 * HALF), 4, at=T0 - 5 * HALF, owners=("stranger",))
    close(house.runtime.history, now_ms())
    assert stream(house) == []
    assert house.call("GET", f"/executions/{made[0].execution_id}").status_code == 404
    assert house.call("POST", f"/executions/{made[0].execution_id}/rerun").status_code == 404
    assert house.call("GET", "/stats").json()["applets"] == []


def run_one(house: House, clock: time_machine.Traveller, **fields: Any) -> str:
    """Run an execution and let its slot be closed; its id."""
    house.make_applet(actions=[web_request(**fields)])
    house.fire(query={"value1": "one"})
    execution: str = house.activity()[0]["execution_id"]
    house.work()
    clock.shift(2 * 3600)
    house.tick()
    assert logged(house.runtime.history) == Counter({(execution, 0): 1})
    return execution


def tick_at_minute(house: House, clock: time_machine.Traveller, minute: int) -> None:
    """Two ticks at that minute of the next hour: one moves what is final, and both close."""
    clock.move_to((datetime.now(UTC) + timedelta(hours=1)).replace(minute=minute))
    house.tick()
    house.tick()


def test_details_are_the_same_before_and_after(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    house.make_applet(actions=[web_request(sink.url), notification("x" * 3000)])
    house.fire(query={"value1": "long " * 400})
    house.work()
    before = house.execution()
    assert len(before["ingredients"]["Value1"]) == 2000
    clock.shift(2 * 3600)
    house.tick()
    assert house.table("SELECT slot FROM slots WHERE slot = '202611291800'") == []
    assert house.execution() == before


def test_a_failed_one_of_the_history_runs_again(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given an execution that failed yesterday, when it is run again, then it is shown once, with all its attempts."""
    sink.reply("/", [Reply(400), Reply(200)])
    execution = run_one(house, clock, url=sink.url)
    assert [item["state"] for item in stream(house)] == ["failed"]
    assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
    assert [item["state"] for item in stream(house)] == ["queued"]
    assert stream(house, state="failed") == [], "what it was is not what it is"
    again = house.call("POST", f"/executions/{execution}/rerun")
    assert (again.status_code, again.json()["title"]) == (409, "Conflict")
    house.work()
    assert ids(stream(house, state="succeeded")) == [execution]
    assert [a["outcome"] for a in house.execution(execution)["attempts"]] == ["failed", "succeeded"]
    assert [request.key for request in sink.requests] == [f"{execution}.0"] * 2

    tick_at_minute(house, clock, 13)
    assert logged(house.runtime.history) == Counter({(execution, 0): 1, (execution, 1): 1})
    assert house.table("SELECT * FROM executions_waiting") == []
    shown = stream(house, limit=1)
    assert [(item["execution_id"], item["state"]) for item in shown] == [(execution, "succeeded")]
    assert stream(house, state="failed") == []
    assert [a["outcome"] for a in house.execution(execution)["attempts"]] == ["failed", "succeeded"]
    # Each run is counted.
    [numbers] = house.call("GET", "/stats").json()["applets"]
    assert (numbers["runs"], numbers["failed"], numbers["succeeded"], numbers["success_rate"]) == (2, 1, 1, 0.5)

    # And once more.
    assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
    house.work()
    tick_at_minute(house, clock, 23)
    assert set(logged(house.runtime.history).values()) == {1}
    assert len(logged(house.runtime.history)) == 3
    assert len(house.execution(execution)["attempts"]) == 3


def test_a_rerun_of_what_has_just_ended_apart(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given one that waits apart from its slot and is final, when it runs again, then both runs come to the log."""
    sink.reply("/", [Reply(400), Reply(400), Reply(200)])
    execution = run_one(house, clock, url=sink.url)
    for _ in range(2):
        assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
        house.work()
    assert house.execution(execution)["state"] == "succeeded"
    assert len(house.execution(execution)["attempts"]) == 3
    tick_at_minute(house, clock, 13)
    assert logged(house.runtime.history) == Counter({(execution, 0): 1, (execution, 2): 1})
    assert ids(stream(house)) == [execution]


def test_on_its_way_to_the_history_it_can_wait(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a slot that is closing, a rerun is refused for the moment, and works a minute later."""
    house.make_applet(actions=[web_request(sink.url)])
    house.fire()
    execution = house.activity()[0]["execution_id"]
    house.work()
    clock.shift(2 * 3600)
    with monkeypatch.context() as patch:
        patch.setattr("whenthen.engine.closer._load", lambda *_: False)
        house.tick()
    answer = house.call("POST", f"/executions/{execution}/rerun")
    assert (answer.status_code, "try again in a minute" in answer.json()["detail"]) == (409, True)
    assert house.execution(execution)["state"] == "succeeded"
    house.tick()
    assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
    house.work()
    assert len(sink.requests) == 2


def test_statistics_are_those_of_the_log(quiet: tuple[House, time_machine.Traveller]) -> None:
    house, _ = quiet
    fill_days(house, [3, 4, 10, 50, 90, 700], 30)
    house.tick()
    close(house.runtime.history, now_ms())
    week = house.call("GET", "/stats", params={"days": "7"}).json()
    assert [day["day"] for day in week["days"]] == ["2026-11-27", "2026-11-28", "2026-11-29"]
    assert sum(day["runs"] for day in week["days"]) == 150
    assert week["until"] == "2026-11-29T18:00:00.000Z"
    assert sum(applet["runs"] for applet in week["applets"]) == 150
    for day in week["days"]:
        exact = house.call("GET", "/stats", params={"day": day["day"]}).json()
        assert exact["days"] == [day]
        hours = [h for service in exact["services"] for h in service["hours"]]
        rolled = [h for service in week["services"] for h in service["hours"] if h["hour"][:10] == day["day"]]
        assert hours == rolled
        assert sum(h["failed"] for h in hours) == day["failed"]
    year = house.call("GET", "/stats", params={"days": "400"}).json()
    assert sum(day["runs"] for day in year["days"]) == 180
    [first, *_] = week["applets"]
    tried = first["succeeded"] + first["failed"] + first["unknown"]
    assert first["success_rate"] == round(first["succeeded"] / tried, 4)
    assert first["longest_duration_ms"] <= 29


def test_bad_statistics_queries_are_told(house: House) -> None:
    for query, field in (
        ({"days": "0"}, "days"),
        ({"days": "401"}, "days"),
        ({"days": "x"}, "days"),
        ({"day": "2026-13-01"}, "day"),
        ({"day": "20261101"}, "day"),
        ({"day": "2026-11-01", "days": "3"}, "day"),
    ):
        answer = house.call("GET", "/stats", params=query)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    assert house.call("GET", "/stats", params={"day": "1999-01-01"}).json()["days"] == []


@pytest.mark.parametrize("days", [0, 91, "3", None, 1.5, True])
def test_bad_payload_days_are_told(house: House, days: object) -> None:
    answer = house.call("PATCH", "/me", {"payload_days": days})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "payload_days")
    assert house.call("GET", "/me").json()["payload_days"] == 30


def test_payloads_go_after_their_days(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given an owner's days, older payloads are gone from log and events, younger ones and the facts stay."""
    execution = run_one(house, clock, url=sink.url)
    others = fill(house.database, "202611291830", 3, at=T0 + HALF, owners=("other",), prefix="o")
    tick_at_minute(house, clock, 13)
    assert house.call("PATCH", "/me", {"payload_days": 3}).json()["payload_days"] == 3
    start = to_datetime(T0)
    for day in (1, 2, 3):
        clock.move_to((start + timedelta(days=day)).replace(hour=20, minute=13))
        house.tick()
        assert house.execution(execution)["ingredients"]["Value1"] == "one"
    clock.move_to((start + timedelta(days=4)).replace(hour=20, minute=13))
    house.tick()
    gone = house.execution(execution)
    assert (gone["payload_erased"], gone["ingredients"], gone["attempts"]) == (True, {}, [])
    assert gone["state"] == "succeeded"
    assert house.table("SELECT ingredients FROM trigger_events") == [{"ingredients": "{}"}]
    left = house.table("SELECT execution_id FROM execution_details_20261129")
    assert Counter(row["execution_id"] for row in left) == Counter(one.execution_id for one in others)
    answer = house.call("POST", f"/executions/{execution}/rerun")
    assert (answer.status_code, "erased" in answer.json()["detail"]) == (409, True)
    # After the default of days the table goes altogether.
    clock.move_to((start + timedelta(days=31)).replace(hour=20, minute=13))
    house.tick()
    assert house.table("SELECT * FROM detail_days") == []
    assert len(logged(house.runtime.history)) == 4
    # A repeated delivery is still known.
    assert ids(stream(house)) == [execution]


def test_an_event_that_still_runs_keeps_its_payload(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """Given that one of two applets still waits with the event's long values, they stay until it has run."""
    sink.reply("/later", [Reply(503, headers=(("Retry-After", "7200"),)), Reply(200)])
    house.make_applet(actions=[web_request(sink.url + "/now")])
    house.make_applet(actions=[web_request(sink.url + "/later")])
    house.fire(query={"value1": "v" * 2000})
    house.work()
    clock.shift(2 * 3600)
    house.tick()
    history = house.runtime.history
    assert expire_payloads(history, now_ms() + 40 * 24 * HOUR) == 1
    assert house.table("SELECT execution_id FROM executions_waiting") != []
    clock.shift(2 * 3600)
    house.tick()
    house.work()
    assert [r.body for r in sink.requests if r.path == "/later"] == [('{"said": "' + "v" * 2000 + '"}').encode()] * 2


@pytest.mark.parametrize("at", range(1, 14))
def test_erasing_that_breaks_off_is_finished(house: House, clock: time_machine.Traveller, at: int) -> None:
    """Given a crash at any request of an erasure, others' payloads are there afterwards, and the owner's are not."""
    mine = fill(house.database, "202611291500", 5, at=T0 - 6 * HALF)
    others = fill(house.database, "202611291530", 5, at=T0 - 5 * HALF, owners=("other",))
    history = house.runtime.history
    close(history, now_ms())
    house.call("PATCH", "/me", {"payload_days": 1})
    later = now_ms() + 5 * 24 * HOUR
    with pytest.raises(Crashed):
        expire_payloads(Crash(at, done=True).history(history), later)
    finish_erasing(history)
    assert set(detailed(history)) >= {one.execution_id for one in others}, "nothing stays hidden for long"
    expire_payloads(history, later)
    assert detailed(history) == Counter(one.execution_id for one in others)
    assert len(logged(history)) == len(mine) + len(others)


def test_a_second_erasure_erases_again(house: House, clock: time_machine.Traveller) -> None:
    """Given an owner who is erased and goes on with a new key, then asking again erases again."""
    history = house.runtime.history
    request_erasure(house.database, "owner")
    assert erase_owners(history) == ["owner"]
    made = fill(house.database, "202611291800", 2, at=T0)
    request_erasure(house.database, "owner")
    assert erase_owners(history) == []
    clock.shift(3 * 3600)
    house.tick()
    assert len(logged(history)) == len(made)
    assert erase_owners(history) == ["owner"]
    assert logged(history) == Counter()


def test_what_is_being_erased_does_not_run_with_nothing(
    house: House, sink: Sink, clock: time_machine.Traveller
) -> None:
    """Given a rerun whose event is erased before a worker takes it, then it fails and sends nothing."""
    house.make_applet(actions=[web_request(sink.url)])
    house.fire(query={"value1": "v" * 2000})
    house.work()
    execution = house.activity()[0]["execution_id"]
    clock.shift(2 * 3600)
    house.tick()
    assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
    blank_events(house.database, [parse_execution_id(execution).event_id])
    house.work()
    assert (house.execution(execution)["state"], len(sink.requests)) == ("failed", 1)
    assert "erased" in house.execution(execution)["reason"]


def test_times_before_1970_are_no_end_of_the_stream(house: House) -> None:
    """Given executions of things that occurred at or before the beginning of time, then pages go on past them."""
    with time_machine.travel(START):
        made = []
        for number, at in enumerate((0, -(10**12), T0)):
            made += fill(house.database, slot_at(T0), 3, at=at, prefix=f"{number}t")
        assert ids(stream(house, limit=1)) == in_order(made)
        close(house.runtime.history, T0 + 3 * HOUR)
        assert ids(stream(house, limit=1)) == in_order(made)


def test_a_table_that_is_too_large_to_drop_is_not_read(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a slot's table that stays until the rebuild, then what is shown and run again is that of the log."""
    monkeypatch.setattr("whenthen.store.closing.DROPPED_ROWS", 0)
    monkeypatch.setattr("whenthen.store.closing.DELETED_ROWS", 0)
    execution = run_one(house, clock, url=sink.url)
    assert house.table("SELECT execution_id FROM executions_202611291800") != []
    assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
    assert house.execution(execution)["state"] == "queued"
    house.work()
    assert house.execution(execution)["state"] == "succeeded"
    assert len(sink.requests) == 2


@pytest.mark.parametrize("sums", [0, 36], ids=["numbers stand apart", "numbers are in the rollups"])
def test_an_owner_is_erased(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch, sums: int
) -> None:
    """Everything of one owner goes, as far as it can; the other owner's stays."""
    monkeypatch.setattr("whenthen.store.stat_parts.MAX_SUMS", sums)
    add_user(house.database, "other", "Other")
    house.make_applet(name="Secret name", actions=[notification("private {{Value1}}"), web_request(sink.url)])
    house.fire(query={"value1": "very private"}, headers={"Idempotency-Key": "d1"})
    house.work()
    others = fill(house.database, "202611291830", 5, at=T0 + HALF, owners=("other",), prefix="o")
    history = house.runtime.history
    request_erasure(house.database, "owner")
    assert house.call("GET", "/activity").status_code == 401, "its keys open nothing"
    assert house.fire().status_code == 401
    # What is new is still in its slot.
    assert erase_owners(history) == []
    clock.shift(3 * 3600)
    house.tick()
    assert len(logged(history)) == 6
    assert len(list_part_days(history.log)) == (1 if sums == 0 else 0)
    assert erase_owners(history) == ["owner"]
    assert erase_owners(history) == []
    assert {execution for execution, _ in logged(history)} == {one.execution_id for one in others}
    everything = "".join(str(house.table(f"SELECT * FROM {row['table_name']}")) for row in house.table("SHOW TABLES"))
    for word in ("private", "Secret name", sink.url, "Owner'"):
        assert word not in everything, word
    assert sum(row["succeeded"] for row in house.table("SELECT * FROM daily_stats_202611")) > 0
    assert house.table("SELECT * FROM daily_stats_202611 WHERE owner_id = 'owner'") == []
    assert len(house.table("SELECT event_id FROM trigger_events")) == 1, "a repeated delivery is still known"
    with pytest.raises(NotFound):
        request_erasure(house.database, "nobody")


def test_sizes_are_told(quiet: tuple[House, time_machine.Traveller], monkeypatch: pytest.MonkeyPatch) -> None:
    house, clock = quiet
    house.make_applet()
    house.fire()
    report = house.tick()
    assert (report.slots_open, report.slots_stuck, report.dead_rows, report.seen_events) == (2, 0, 0, None)
    monkeypatch.setattr("whenthen.engine.closer._load", lambda *_: False)
    clock.move_to(START.replace(hour=21, minute=13))
    report = house.tick()
    assert (report.slots_open, report.slots_stuck, report.dead_rows, report.seen_events) == (4, 2, 0, 1)
    monkeypatch.undo()
    house.work()
    report = house.tick()
    # Two slots, one execution that had outlived its own, and the batch that this went in.
    assert (report.slots_open, report.slots_stuck, report.dead_rows) == (2, 0, 4)


def test_the_seen_set_is_estimated_without_reading_it(house: House) -> None:
    identity = trigger_id("owner", "webhooks", "event", {"event": "door"})
    for count in (700, 5000):
        script = Script()
        remember_events(script, identity, {event_id(identity, f"{count}.{n}"): 0 for n in range(count)}, 0)
        house.database.execute(script.sql)
    assert estimate_events(house.database) == pytest.approx(5700, rel=0.15)


DAY_AGES = [0, 1, 2, 35, 36, 37, 83, 84, 85, 1500]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "Asia/Kolkata"])
def test_a_day_is_a_part_of_the_stream(quiet: tuple[House, time_machine.Traveller], zone: str) -> None:
    """Given a day, then its pages are the executions whose slot begins in it, from open slots and log, once."""
    house, _ = quiet
    house.call("PATCH", "/me", {"zone": zone})
    made = fill_days(house, DAY_AGES, 7)
    close(house.runtime.history, now_ms())
    found = []
    for ago in range(40):
        day = to_datetime(T0).date() + timedelta(days=1 - ago)
        first, last = day_slots(day, zone)
        expected = in_order([one for one in made if first <= one.execution_id[:12] <= last])
        for limit in (3, 50):
            assert ids(stream(house, limit=limit, day=str(day))) == expected
        found += expected
    assert found == in_order(made)


def test_a_day_that_is_none_is_told(house: House) -> None:
    answer = house.call("GET", "/activity", params={"day": "yesterday"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "day")


def test_a_first_page_reads_what_is_open_in_one_statement(quiet: tuple[House, time_machine.Traveller]) -> None:
    """Given enough in the present slot, and the next one open already, then slots are listed and read once."""
    house, _ = quiet
    made = fill_days(house, [0, 1, 2], 60)
    open_slot(house.database, slot_at(T0 + HALF), now_ms())
    history = house.runtime.history
    house.database.sent.clear()
    page = activity.read_activity(history, "owner", Filters())
    assert [item.execution_id for item in page.items] == in_order(made)[:50]
    assert len(house.database.sent) == 2
    # What is a page down needs the slots before it.
    house.database.sent.clear()
    activity.read_activity(history, "owner", Filters(), before=page.next)
    assert len(house.database.sent) == 3


def test_a_mark_changes_with_the_first_page(quiet: tuple[House, time_machine.Traveller]) -> None:
    house, clock = quiet
    history = house.runtime.history

    def look(**filters: str) -> str:
        mark = activity.read_mark(history, "owner", Filters(**filters))
        assert activity.read_activity(history, "owner", Filters(**filters)).mark == mark
        return mark

    applet = house.make_applet(actions=[notification()])["id"]
    nothing = look()
    assert look() == nothing
    house.fire()
    queued = look()
    assert queued != nothing
    failed = look(state="failed")
    house.work()
    assert look() != queued
    assert look(state="failed") == failed, "what is filtered out does not count"
    done = look(applet_id=applet)
    clock.shift(30)
    assert look(applet_id=applet) == done
    house.make_applet(event="other")
    house.fire("other")
    assert look(applet_id=applet) == done


def leave_slot(house: House, slot: str) -> None:
    """Move a slot's executions to where those are that outlive it, and let it go."""
    for sql in (
        f"INSERT INTO executions_waiting SELECT * FROM executions_{slot}",
        f"DROP TABLE executions_{slot}",
        f"DELETE FROM slots WHERE slot = '{slot}'",
    ):
        house.database.execute(sql)


def test_more_waits_than_is_read_at_once(quiet: tuple[House, time_machine.Traveller]) -> None:
    """Given more that outlived their slots than a page reads, and slots with few, then none is left out in between."""
    house, _ = quiet
    made = fill_days(house, [0, 1, 2], 3)
    old = fill(house.database, slot_at(T0 - 100 * HALF), 230, at=T0 - 100 * HALF)
    leave_slot(house, slot_at(T0 - 100 * HALF))
    for limit in (2, 50, 200):
        assert ids(stream(house, limit=limit)) == in_order(made + old)


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("step", range(1, 8))
def test_what_moves_while_a_page_is_read_is_on_it(
    quiet: tuple[House, time_machine.Traveller], monkeypatch: pytest.MonkeyPatch, step: int, times: int
) -> None:
    """Given a closer that runs before any statement of a page, then everything is on the page, once.

    Slots go to the log, what waited becomes a batch, and a batch goes to the log.
    """
    house, _ = quiet
    made = fill_days(house, [0, 1, 2, 5, 6, 7], 5)
    made += fill(house.database, slot_at(T0 - 50 * HALF), 5, at=T0 - 50 * HALF)
    leave_slot(house, slot_at(T0 - 50 * HALF))
    history = house.runtime.history
    read = house.database.execute
    count = 0

    def execute(sql: str, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == step:
            monkeypatch.setattr(house.database, "execute", read)
            # At this minute what is final and waits is moved into a batch, too.
            close(history, T0 + 13 * 60_000, times=times)
            monkeypatch.setattr(house.database, "execute", execute)
        return read(sql, **options)

    monkeypatch.setattr(house.database, "execute", execute)
    page = activity.read_activity(history, "owner", Filters(), limit=200)
    assert [item.execution_id for item in page.items] == in_order(made)
    if step < 4:
        assert count >= step, "the closer has run"
