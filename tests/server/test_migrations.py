"""Migrations on real databases: twice, by two at once, and cut off in the middle."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.alopex import AlopexServer, MakeServer
from tests.support.stores import at_once
from whenthen.store.database import Database, connect
from whenthen.store.errors import NotReady, StoreError
from whenthen.store.keys import list_users
from whenthen.store.meta import prove_single_flight, require_ready
from whenthen.store.migrations import LATEST, SCHEMA, migrate, schema_version
from whenthen.store.statements import Script, load

MIGRATE = """
import sys
from whenthen.store.database import connect
from whenthen.store.migrations import migrate
database = connect(sys.argv[1], api_key=sys.argv[2])
sys.stdin.readline()
print(len(migrate(database)))
"""


@pytest.fixture(params=["embedded", "server"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "embedded":
        target, key = str(tmp_path / "m.alopex"), None
    else:
        server: AlopexServer = request.getfixturevalue("server")
        target, key = server.url, server.api_key
    with closing(connect(target, api_key=key)) as found:
        yield found


def assert_whole(database: Database) -> None:
    """At the latest version, each step recorded once, and every table is there."""
    assert schema_version(database) == LATEST
    for version in SCHEMA:
        found = database.execute(f"SELECT COUNT(*) AS n FROM schema_versions WHERE schema_version = {version}")
        assert found == [{"n": 1}]
    for statement in [statement for step in SCHEMA.values() for statement in step]:
        if statement.text.startswith("CREATE TABLE "):
            table = statement.text.split()[2]
            assert database.execute(f"SELECT COUNT(*) AS n FROM {table}") == [{"n": 0}], table


def test_twice(database: Database) -> None:
    assert schema_version(database) == 0
    assert migrate(database) == list(SCHEMA)
    assert migrate(database) == []
    assert_whole(database)


def test_readiness_says_what_to_do(database: Database) -> None:
    """Given nothing, then tables, then the proof: each refusal names the next step."""
    needs = rf"^The database's schema is version 0, this whenthen needs {LATEST}: run `whenthen db migrate`\.$"
    with pytest.raises(NotReady, match=needs):
        require_ready(database)
    migrate(database)
    with pytest.raises(NotReady, match=r"no proof .* max_concurrency = 1: run `whenthen db migrate`"):
        require_ready(database)
    prove_single_flight(database)
    require_ready(database)


def test_a_database_of_a_later_whenthen_is_refused(database: Database) -> None:
    migrate(database)
    prove_single_flight(database)
    script = Script().add(load("migrations")["record_version"], schema_version=LATEST + 1, applied_at=0)
    database.execute(script.sql)
    assert migrate(database) == []
    with pytest.raises(NotReady, match=rf"is version {LATEST + 1}, this whenthen needs {LATEST}"):
        require_ready(database)


@pytest.mark.parametrize("_", range(10))
def test_two_threads_at_once(server: AlopexServer, _: int) -> None:
    def one(_: int) -> list[int]:
        with closing(connect(server.url, api_key=server.api_key)) as own:
            return migrate(own)

    applied = at_once(4, one)
    assert sorted(version for versions in applied for version in versions) == list(SCHEMA)
    with closing(connect(server.url, api_key=server.api_key)) as found:
        assert_whole(found)


@pytest.mark.parametrize("_", range(3))
def test_two_processes_at_once(server: AlopexServer, _: int) -> None:
    command = [sys.executable, "-c", MIGRATE, server.url, server.api_key]
    children = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    time.sleep(0.5)
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    applied = [int(child.communicate(timeout=30)[0]) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sum(applied) == len(SCHEMA)


def test_four_threads_on_one_embedded_engine() -> None:
    with closing(connect(":memory:")) as database:
        applied = at_once(4, lambda _: migrate(database))
        assert sorted(version for versions in applied for version in versions) == list(SCHEMA)
        assert_whole(database)


@pytest.mark.parametrize("after_ms", [0, 1, 2, 3, 4, 6, 8, 11, 15, 25])
def test_cut_off_by_a_kill(make_server: MakeServer, after_ms: int) -> None:
    """Given a server killed in the middle, when it is back, then migration goes on and is whole."""
    server = make_server()
    failed: list[StoreError] = []

    def work() -> None:
        with closing(connect(server.url, api_key=server.api_key)) as database:
            try:
                migrate(database)
            except StoreError as error:
                failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(after_ms / 1000)
    server.kill9()
    server.restart()
    thread.join()
    with closing(connect(server.url, api_key=server.api_key)) as database:
        if failed:
            migrate(database)
        assert migrate(database) == []
        assert_whole(database)
        assert list_users(database) == []
        prove_single_flight(database)
        require_ready(database)
