"""`whenthen db rebuild` on real servers: nothing lost or doubled wherever it is killed, and what differs is found."""

import json
import re
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.server.test_crashes import fire, sweep_later, value_of
from tests.support.alopex import OPS, AlopexServer
from tests.support.processes import Process, accepts_connections, free_port, wait_for
from tests.support.product import ARRIVALS, PAUSE, WAKEUPS, SpoolQueue
from tests.support.rebuilding import Routine, contents
from tests.support.scenario import Product, call_applet, executions, make_product, prepare
from tests.support.sink import Sink
from tests.support.stores import id_of, reserve
from whenthen.clock import Deadline
from whenthen.engine import sheets
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.tick import drain
from whenthen.queues.directory import DirectoryQueue
from whenthen.services.table.rows import row_of
from whenthen.settings import Settings
from whenthen.store.database import Database, connect
from whenthen.store.errors import NotReady
from whenthen.store.events import find_event
from whenthen.store.executions import ExecutionRow
from whenthen.store.meta import prove_single_flight, require_ready
from whenthen.store.migrations import LATEST, migrate
from whenthen.store.rebuild import Rebuild, Report
from whenthen.store.slots import open_slot
from whenthen.store.stat_parts import create_parts
from whenthen.store.statements import Script, load
from whenthen.store.stats import NUMBERS, create_stats
from whenthen.store.test_calls import wait_for_call
from whenthen.store.users import UserRow, put_user
from whenthen.wiring import Runtime

SLOT = "202601312330"
POINTS = (
    *("begun-1", "written-1", "taken-3", "written-7", "taken-11", "comparing-2"),
    *("set_aside-1", "take_back-1", "prove_single_flight-1"),
)
"""Where the routine is killed, one after the other. At the last three it hands over."""


@pytest.fixture
def routine(server: AlopexServer, alopex_binary: Path, tmp_path: Path) -> Iterator[Routine]:
    """The servers of a rebuild; none of them is started."""
    made = Routine.prepare(server, alopex_binary, tmp_path / "rebuild")
    yield made
    made.close()


def fill(server: AlopexServer, database: Database) -> None:
    """Put rows into every kind of table, with all that a value can be."""
    texts = ["", "'", '"\\n', "🚪\u0001", "x" * 3_000, "NULL", "é\r\n\t", "{slot} :value"]
    open_slot(database, SLOT, 1)
    for number, text in enumerate(texts * 3):
        reserve(database, f"event{number:02}", ingredients=json.dumps({"Value1": text}, ensure_ascii=False))
    numbers = (2**63 - 1, -(2**63) + 1, 9_007_199_254_740_993, 0)
    for number, value in enumerate(numbers):
        due = value if number else "NULL"
        database.execute(
            f"INSERT INTO checks (check_id, offline, host, next_check_at, held_until, poked) "
            f"VALUES ('check{number}', {'TRUE' if number % 2 else 'FALSE'}, '', {due}, {value}, TRUE)"
        )
    for number, text in enumerate(texts):
        quoted = text.replace("'", "''")
        database.execute(f"INSERT INTO positions (position_id, position) VALUES ('p{number}', '{quoted}')")
    for number, text in enumerate(texts):
        sheets.add_row(database, "owner", f"row{number}", row_of("Texts", {"Text": text}), Deadline(30))
    for number in range(2):
        wait_for_call(database, f"trigger{number}", "owner", now=number, waits_until=2**63 - 1)
        script = Script()
        put_user(script, UserRow(f"user{number}", "owner", text, number % 2 == 0, text, text, created_at=2**63 - 1))
        database.execute(script.sql)
    # A slot that nothing lists any more, and a table of each kind that history has.
    open_slot(database, "202601010000", 1)
    database.execute("DELETE FROM slots WHERE slot = CAST('202601010000' AS TEXT)")
    logs = load("log")
    database.execute(logs["create_log"].render(month="202601"))
    database.execute(logs["create_details"].render(day="20260131"))
    script = Script()
    create_stats(script, "202601")
    create_parts(script, "20260131")
    database.execute(script.sql)
    for run in range(2):
        load_history(server, database, run)


def load_history(server: AlopexServer, database: Database, run: int) -> None:
    """Load 60 rows into each table of the history: every second run the same executions again."""
    ids = json.dumps([f"2026013{day}{hour:02}00.{n}.applet" for day in (0, 1) for hour in range(6) for n in range(5)])
    file = server.copy_dir / "load.parquet"
    values = "value AS execution_id, CAST(SUBSTR(value, 1, 12) AS BIGINT) AS slot, 'owner' AS owner_id"
    facts = "'applet' AS applet_id, 'webhooks' AS service, '' AS trigger_service, 1 AS occurred_at, 2 AS finished_at"
    more = f"'succeeded' AS state, '' AS reason, 'it''s' AS note, 1 AS attempts, 9223372036854775807 AS duration, {run}"
    details = "'{\"Value1\":\"🚪\"}' AS ingredients, '' AS progress"
    part = "SUBSTR(value, 1, 12) AS part_id, 'owner' AS owner_id, 'applet' AS kind, value AS subject, '' AS day"
    numbers = ", ".join(f"9223372036854775807 AS {name}" for name in NUMBERS)
    for select, table in (
        (f"{values}, {facts}, {more} AS run", "execution_log_202601"),
        (f"{values}, {details}", "execution_details_20260131"),
        (f"{part}, -1 AS hour, {numbers}", "stat_parts_20260131"),
    ):
        database.execute(
            f"COPY (SELECT {select} FROM json_each('{ids}')) TO '{file}' WITH (FORMAT PARQUET);"
            f"COPY {table} FROM '{file}' WITH (FORMAT PARQUET)"
        )


def assert_same(routine: Routine) -> None:
    """The new database has all that the old one has, but for what nothing reads."""
    with closing(routine.open(routine.old)) as old, closing(routine.open(routine.new)) as new:
        expected = contents(old)
        expected.pop("executions_202601010000", None)
        assert contents(new) == expected
        assert sum(map(len, expected.values())) > 50


def ready(database: Database) -> str:
    """Nothing if the database may be used, or the words that refuse it."""
    try:
        require_ready(database)
    except NotReady as error:
        return str(error)
    return ""


def test_the_routine_while_webhooks_arrive(routine: Routine, tmp_path: Path) -> None:
    """Given a routine killed at every point, when it ends well, then each webhook of the whole time ran once."""
    with Sink() as sink, closing(make_product(routine.server, tmp_path / "home")) as product:
        fill(routine.server, product.database)
        call_applet(product.database, f"{sink.url}/in")
        _, url = product.start_trigger()
        workers = [product.start("worker") for _ in range(2)]
        with webhooks(url, product) as acknowledged:
            assert wait_for(lambda: len(acknowledged) > 50)
            # As docs/rebuild.md has it: no worker is between a request and its outcome.
            (product.home / PAUSE).touch()
            assert wait_for(lambda: all((product.home / f"{PAUSE}-{worker.pid}").exists() for worker in workers))
            routine.begin()
            before = len(acknowledged)
            for point in POINTS:
                routine.kill_at(point)
            done = routine.run()
            assert done.returncode == 0, done.stdout
            during = len(acknowledged)
            assert during > before + 4, "webhooks are answered while the database is away"
            assert_same(routine)
            with closing(routine.open(routine.old)) as old, closing(routine.open(routine.new)) as new:
                assert "was rebuilt into another one at 2" in ready(old)
                assert ready(new) == ""
            routine.switch()
            (product.home / PAUSE).unlink()
            assert wait_for(lambda: len(acknowledged) > during + 50)
        assert_each_ran_once(product, sink, acknowledged)


@contextmanager
def webhooks(url: str, product: Product) -> Iterator[list[str]]:
    """Four clients that send webhooks all the time; gives the values of those that were answered with 200."""
    acknowledged: list[str] = []
    stop = threading.Event()

    def client(number: int) -> None:
        sent = 0
        while not stop.wait(0.05):
            value = f"{number}-{sent}"
            sent += 1
            if fire(url, product, value) == 200:
                acknowledged.append(value)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(4)]
    for thread in clients:
        thread.start()
    try:
        yield acknowledged
    finally:
        stop.set()
        for thread in clients:
            thread.join()


def fired(product: Product) -> list[ExecutionRow]:
    """The executions of webhooks."""
    return [row for row in executions(product.database) if not row.execution_id.startswith(SLOT)]


def assert_each_ran_once(product: Product, sink: Sink, acknowledged: list[str]) -> None:
    """Drain the intake queue and wait for the workers; every acknowledged webhook has one execution, done once."""
    queue = DirectoryQueue(product.home / ARRIVALS)
    waiting = len(list((product.home / ARRIVALS).glob("*.json")))
    runtime = Runtime(
        Settings.read({}), database=product.database, wakeups=SpoolQueue(product.home / WAKEUPS), arrivals=queue
    )
    assert drain(runtime.intake, queue, Deadline(120)) == waiting > 0
    assert not list((product.home / ARRIVALS).glob("*"))

    def all_final() -> bool:
        sweep_later(product)
        return all(row.wake_at is None for row in fired(product))

    assert wait_for(all_final, timeout=90)
    rows = fired(product)
    events = [find_event(product.database, parse_execution_id(row.execution_id).event_id) for row in rows]
    values = Counter(value_of(event) for event in events)
    assert set(acknowledged) <= values.keys(), "an acknowledged webhook lacks its execution"
    assert set(values.values()) == {1}, "a webhook has two executions"
    assert Counter(row.state for row in rows) == {"succeeded": len(rows)}
    assert Counter(request.body.decode() for request in sink.requests) == values


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        pytest.param(
            "UPDATE positions SET position = 'late' WHERE position_id = CAST('p3' AS TEXT)",
            "positions, position_id p3: has another position in the copy",
            id="a change",
        ),
        pytest.param(
            "INSERT INTO profiles (profile_id, zone) VALUES ('late', 'UTC')",
            "profiles, profile_id late: is not in the copy",
            id="a row",
        ),
        pytest.param(
            f"DELETE FROM executions_{SLOT} WHERE execution_id = CAST('{id_of('event07')}' AS TEXT)",
            f"executions_{SLOT}, execution_id {id_of('event07')}: is in the copy alone",
            id="a row that went",
        ),
        pytest.param(
            "DELETE FROM positions WHERE position_id = CAST('p7' AS TEXT)",
            "positions, position_id p7: is in the copy alone",
            id="the last row that went",
        ),
        pytest.param(
            "COPY (SELECT * FROM execution_log_202601 WHERE slot = 202601310200) TO '{file}' WITH (FORMAT PARQUET);"
            "COPY execution_log_202601 FROM '{file}' WITH (FORMAT PARQUET)",
            "execution_log_202601, execution_id 202601310200.0.applet: has 4 rows, and 2 in the copy",
            id="rows of the history, doubled",
        ),
        pytest.param(
            "CREATE TABLE executions_202602010000 (execution_id TEXT PRIMARY KEY);"
            "INSERT INTO slots VALUES ('202602010000', 1, NULL, 0)",
            "The source has other tables than when its rebuild began",
            id="a slot",
        ),
    ],
)
def test_a_write_that_sneaks_in_is_found(routine: Routine, statement: str, words: str) -> None:
    """Given a rebuild that has copied all, when somebody writes to the source, then it is told by table and key."""
    with closing(connect(routine.server.url, api_key=routine.server.api_key)) as database:
        prepare(database)
        fill(routine.server, database)
    routine.begin()
    routine.kill_at("comparing-1")
    with closing(routine.open(routine.old)) as old, closing(routine.open(routine.new)) as new:
        old.execute(statement.replace("{file}", str(routine.old.copy_dir / "late.parquet")))
        done = routine.run()
        assert done.returncode == 1, done.stdout
        assert words in done.stdout
        assert "is the front stopped?" in done.stdout
        assert ready(old) == "", "the source can go on"
        assert "has not come to its end" in ready(new)


@pytest.mark.parametrize("name", ["source", "target"])
def test_whoever_has_the_functions_key_must_be_kept_out(routine: Routine, alopex_binary: Path, name: str) -> None:
    """Given that they could write to one of the two, then nothing is copied."""
    prepare_source(routine)
    if name == "target":
        routine.new = AlopexServer(alopex_binary, routine.home / "open", api_key=routine.server.api_key)
    routine.begin()
    # The key of both servers is the functions' key, or of the target alone.
    done = routine.run(ALOPEX_API_KEY=routine.old.api_key if name == "source" else routine.server.api_key)
    assert done.returncode == 1
    url = (routine.old if name == "source" else routine.new).direct_url
    assert f"The {name}, {url}, takes the key that the functions have" in done.stdout
    assert "Copied" not in done.stdout


def prepare_source(routine: Routine) -> None:
    """A product's database, with an owner and a key."""
    with closing(connect(routine.server.url, api_key=routine.server.api_key)) as database:
        prepare(database)


def other_database(routine: Routine) -> None:
    """What was cut off was the rebuild of another database."""
    routine.kill_at("taken-1")
    with closing(routine.open(routine.old)) as old:
        old.execute("UPDATE meta SET value = 'another' WHERE name = CAST('database_id' AS TEXT)")


def not_empty(routine: Routine) -> None:
    """The target was in use."""
    with closing(routine.open(routine.new)) as new:
        migrate(new)


def foreign_table(routine: Routine) -> None:
    """Somebody has made a table of their own in the source."""
    with closing(routine.open(routine.old)) as old:
        old.execute("CREATE TABLE mine (a TEXT PRIMARY KEY)")


def old_schema(routine: Routine) -> None:
    """The source is of an earlier whenthen."""
    with closing(routine.open(routine.old)) as old:
        old.execute(f"DELETE FROM schema_versions WHERE schema_version = {LATEST}")


def rebuilt(routine: Routine) -> None:
    """The source was rebuilt already, into another target."""
    assert routine.run().returncode == 0
    with closing(routine.open(routine.old)) as old, pytest.raises(NotReady, match="rebuilt into another"):
        prove_single_flight(old)
    routine.new.stop()
    shutil.rmtree(routine.new.data_dir)
    routine.new.start(copy_allowed_dirs=[str(routine.old.copy_dir)])


def parallel_target(routine: Routine) -> None:
    """The target runs with the server's own default."""
    routine.new.stop()
    routine.new.start(copy_allowed_dirs=[str(routine.old.copy_dir)], max_concurrency=None)


def apart(routine: Routine) -> None:
    """The two servers have no directory in common."""
    routine.new.stop()
    routine.new.start()


def stopped(routine: Routine) -> None:
    """The target does not run."""
    routine.new.stop()


@pytest.mark.parametrize(
    ("arrange", "words"),
    [
        (stopped, "can't be reached"),
        (other_database, "The target holds the rebuild of another database"),
        (not_empty, "The target is not empty"),
        (foreign_table, "has a table mine, which is not whenthen's"),
        (old_schema, f"schema is version {LATEST - 1}, this whenthen needs {LATEST}: run `whenthen db migrate` on it"),
        (rebuilt, "was rebuilt into another one"),
        (parallel_target, "max_concurrency = 1"),
        (apart, "COPY"),
    ],
)
def test_refusals(routine: Routine, arrange: Callable[[Routine], None], words: str) -> None:
    """Given servers that are not what they have to be, then it says so and the new one is not ready."""
    prepare_source(routine)
    routine.begin()
    arrange(routine)
    done = routine.run()
    assert done.returncode == 1, done.stdout
    assert words in done.stdout
    if arrange is not stopped:
        with closing(routine.open(routine.new)) as new:
            assert ready(new) != ""


@pytest.mark.parametrize(
    ("rows", "checkpoint_bytes", "emptied"),
    [
        pytest.param(2_750, 10**10, 1, id="550 MB, more than the log takes"),
        pytest.param(300, 20_000_000, 2, id="60 MB, with a checkpoint at each 20 MB"),
    ],
)
def test_the_log_of_the_target(routine: Routine, rows: int, checkpoint_bytes: int, emptied: int) -> None:
    """Given more than the target's log takes, when it is full or before that, then it is emptied and all is copied."""
    with closing(connect(routine.server.url, api_key=routine.server.api_key)) as database:
        prepare(database)
        for start in range(0, rows, 250):
            ids = json.dumps([f"p{number:04}" for number in range(start, min(start + 250, rows))])
            database.execute(
                f"INSERT INTO positions (position_id, position) SELECT value, REPEAT('0123456789', 20000) "
                f"FROM json_each('{ids}')",
                timeout_seconds=60,
            )
            if start % 1000 == 750:
                routine.server.checkpoint()
    routine.begin()
    done = routine.run(SPAN_BYTES=str(12 * 1024 * 1024), CHECKPOINT_BYTES=str(checkpoint_bytes))
    assert done.returncode == 0, done.stdout
    assert f"Compared positions: {rows:,} rows are the same." in done.stdout
    assert done.stdout.count("Emptied the target's log.") == emptied
    with closing(routine.open(routine.new)) as new:
        assert new.execute("SELECT COUNT(*) AS n FROM positions") == [{"n": rows}]


def test_two_at_once(routine: Routine) -> None:
    """Given a second rebuild that comes to its end first, then the first one copies nothing a second time."""
    with closing(connect(routine.server.url, api_key=routine.server.api_key)) as database:
        prepare(database)
        fill(routine.server, database)
    routine.begin()
    others: list[Report] = []
    with closing(routine.open(routine.old)) as old, closing(routine.open(routine.new)) as new:

        def rebuild(name: str, say: Callable[[str], None]) -> Report:
            file = str(routine.old.copy_dir / f"{name}.parquet")
            return Rebuild(old, new, file=file, checkpoint=routine.new.checkpoint, say=say).run()

        def say(words: str) -> None:
            if words.startswith("Copied") and not others:
                others.append(rebuild("second", [].append))

        with pytest.raises(NotReady, match="Another rebuild is filling the target"):
            rebuild("first", say)
    assert len(others) == 1
    assert_same(routine)


def test_going_back(routine: Routine) -> None:
    """Given a new directory that was lost before it was used, then the old one is taken back (docs/rebuild.md)."""
    prepare_source(routine)
    routine.begin()
    assert routine.run().returncode == 0
    with closing(routine.open(routine.old)) as old:
        assert "rebuilt" in ready(old)
        old.execute("DELETE FROM meta WHERE name = 'single_flight'")
        assert "no proof" in ready(old)
        prove_single_flight(old)
        assert ready(old) == ""


@pytest.mark.parametrize("instance", ["old", "new"])
def test_the_unit_starts_a_server_on_its_directory(alopex_binary: Path, tmp_path: Path, instance: str) -> None:
    """Given the command of ops/alopex, then the settings that it changes are those that the server takes."""
    unit = (OPS / "alopex-rebuild@.service").read_text().replace("%i", instance).replace("$$", "$")
    (directory,) = re.findall(r"^Environment=ALOPEX__DATA_DIR=/srv/alopex/(.*)$", unit, re.MULTILINE)
    (command,) = re.findall(r'^ExecStart=/bin/sh -c "(.*?)"$', unit, re.MULTILINE | re.DOTALL)
    ports = {name: free_port() for name in ("80", "81", "90")}
    for name, port in ports.items():
        assert f"127.0.0.1:${{p}}{name}" in command
        command = command.replace(f"127.0.0.1:${{p}}{name}", f"127.0.0.1:{port}")
    config = tmp_path / "alopex.toml"
    config.write_text((OPS / "alopex.toml").read_text().replace("/srv/alopex", str(tmp_path)))
    (tmp_path / "copy").mkdir()
    command = command.replace("/usr/local/bin/alopex-server", str(alopex_binary))
    command = command.replace("/etc/alopex/alopex.toml", str(config))
    environment = {
        "ALOPEX__DATA_DIR": str(tmp_path / directory),
        "ALOPEX__AUTH_MODE__TYPE": "dev",
        "ALOPEX__AUTH_MODE__API_KEY": "key",
    }
    process = Process("unit", ["/bin/sh", "-c", command], log_dir=tmp_path, env=environment)
    try:
        process.start(lambda: accepts_connections(ports["80"]) and accepts_connections(ports["81"]))
        with closing(connect(f"http://127.0.0.1:{ports['80']}", api_key="key")) as database:
            migrate(database)
            prove_single_flight(database)
    finally:
        process.stop()
    assert (tmp_path / f"data.{instance}" / "lsm.wal").exists()
