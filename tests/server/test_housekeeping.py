"""Housekeeping on the real server: exports by bytes written, made once, and what happens to those who die or wait."""

import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.alopex import OPS, AlopexServer, MakeServer
from tests.support.filling import fill, fill_up
from tests.support.processes import Process, wait_for
from tests.support.scenario import prepare
from tests.support.stores import at_once
from whenthen.clock import Deadline, now_ms
from whenthen.engine import housekeeping
from whenthen.engine.housekeeping import EXPORT_AT_BYTES, EXPORT_LEASE_MS, MIB, HostState, Housekeeping
from whenthen.servers import open_hosts
from whenthen.settings import Settings
from whenthen.store.database import Database, connect
from whenthen.store.errors import LogFull, StoreError
from whenthen.store.host import Host
from whenthen.store.meta import Export, read_export, require_ready, write_export

KEEP_ONCE = """
import os
from whenthen.clock import Deadline
from whenthen.settings import Settings
from whenthen.wiring import Runtime
Runtime(Settings.read(os.environ)).housekeeping.run(Deadline(60))
"""


@pytest.fixture
def database(server: AlopexServer) -> Iterator[Database]:
    """A migrated database on `server`."""
    with closing(connect(server.url, api_key=server.api_key)) as found:
        prepare(found)
        yield found


def settings(server: AlopexServer, **changes: str) -> Settings:
    return Settings.read({"ALOPEX_URL": server.url, "ALOPEX_API_KEY": server.api_key, **changes})


def keeper(server: AlopexServer, database: Database, **changes: str) -> Housekeeping:
    """A poller's housekeeping, as it is wired."""
    return Housekeeping(database, open_hosts(settings(server, **changes)))


def keep(server: AlopexServer, database: Database, **changes: str) -> HostState:
    """Let a poller keep its one host; how that is."""
    poller = keeper(server, database, **changes)
    poller.run(Deadline(60))
    (state,) = poller.states
    return state


@contextmanager
def exporting(server: AlopexServer) -> Iterator[list[BaseException]]:
    """An export is under way, begun by nobody's housekeeping; yields what it has failed with."""
    failures: list[BaseException] = []
    (host,) = open_hosts(settings(server))
    before = len(server.exports())

    def export() -> None:
        try:
            host.export(timeout_seconds=60)
        except StoreError as error:
            failures.append(error)

    thread = threading.Thread(target=export)
    thread.start()
    try:
        assert wait_for(lambda: len(server.exports()) > before)
        yield failures
    finally:
        thread.join()


def measure_anew(server: AlopexServer, database: Database) -> None:
    """Measure after the last export has ended for good: its end is told in whole seconds."""
    last = read_export(database, "database")
    if last is not None and last.finished_at is not None:
        ended: int = last.finished_at
        assert wait_for(lambda: now_ms() > ended)
    server.measure()


def prune(server: AlopexServer) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([OPS / "prune-exports", server.data_dir], capture_output=True, text=True, check=False)


def claim_for_ever(database: Database) -> None:
    for number in itertools.count():
        write_export(database, f"{number}", Export(0), seen=None)


def latest(server: AlopexServer) -> str:
    """The name of the export that is marked as complete; empty before the first."""
    mark = server.data_dir / ".lifecycle" / "export" / "latest"
    return Path(mark.read_text()).name if mark.exists() else ""


def test_the_report_tells_what_is_there(server: AlopexServer, database: Database) -> None:
    (host,) = open_hosts(settings(server))
    written = fill(database, 40 * MIB)
    server.measure()
    report = host.read_report()
    assert report.wal_bytes == server.log_bytes() >= written
    assert report.wal_limit == 512 * MIB
    assert (report.sst_files, report.exports, report.export_bytes) == (0, 0, 0)
    assert report.age_seconds < 60

    host.export(timeout_seconds=60)
    server.measure()
    report = host.read_report()
    assert report.wal_bytes == server.log_bytes() == 0
    assert (report.sst_files, report.sst_bytes) == (len(server.sst_files()), server.sst_bytes())
    assert report.exports == 1
    assert report.export_bytes > report.sst_bytes > written

    server.restart()
    fill(database, MIB)
    server.restart()
    server.measure()
    assert host.read_report().wal_bytes == server.log_bytes() > MIB


def test_a_half_full_log_is_exported_once(server: AlopexServer, database: Database) -> None:
    """Given four pollers at once, when the log comes to half, then one of them exports, and none before."""
    fill(database, EXPORT_AT_BYTES - 30 * MIB)
    server.measure()
    assert not keep(server, database).exported
    fill(database, 30 * MIB)
    assert not keep(server, database).exported, "what is written since is not known yet"
    server.measure()
    assert sum(state.exported for state in at_once(4, lambda _: keep(server, database))) == 1
    assert len(server.exports()) == 1
    assert server.log_bytes() < MIB

    # The report is from before that export.
    assert not any(state.exported for state in at_once(4, lambda _: keep(server, database)))
    server.measure()
    assert not keep(server, database).exported
    assert len(server.exports()) == 1


def test_a_poller_killed_in_the_middle_of_an_export(server: AlopexServer, database: Database, tmp_path: Path) -> None:
    """Given that, then the export is made to its end, and the next one waits for the lease of the dead and no more."""
    fill(database, EXPORT_AT_BYTES)
    server.measure()
    environment = os.environ | {"ALOPEX_URL": server.url, "ALOPEX_API_KEY": server.api_key}
    poller = Process("poller", [sys.executable, "-c", KEEP_ONCE], log_dir=tmp_path, env=environment)
    poller.start()
    assert wait_for(lambda: bool(server.exports()), 30), poller.log()
    poller.kill9()
    assert latest(server) == "", "the poller was killed too late"
    assert wait_for(lambda: latest(server) != "", 60)
    assert server.log_bytes() < MIB
    died = read_export(database, "database")
    assert died is not None
    assert died.finished_at is None

    fill(database, EXPORT_AT_BYTES)
    server.measure()
    assert not keep(server, database).exported
    write_export(database, "database", replace(died, started_at=died.started_at - EXPORT_LEASE_MS), seen=died)
    assert keep(server, database).exported
    assert len(server.exports()) == 2
    ended = read_export(database, "database")
    assert ended is not None
    assert ended.finished_at is not None


@pytest.mark.parametrize("told", [False, True], ids=["no report", "an old report"])
def test_a_full_log_is_exported_without_a_report(
    server: AlopexServer, database: Database, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """Given a log that does not even take a claim, when two pollers find it full, then one of them exports."""
    if told:
        server.measure()
        text = server.host_report.read_text()
        measured_at = text.partition('"measured_at": ')[2].partition(",")[0]
        server.host_report.write_text(text.replace(measured_at, str(now_ms() - 3_600_000)))
    fill_up(database)
    with pytest.raises(LogFull):
        claim_for_ever(database)
    pollers = [keeper(server, database), keeper(server, database)]
    waits = [1.0, 0.0]
    monkeypatch.setattr(housekeeping.random, "uniform", lambda *_: waits.pop())

    def free(number: int) -> bool:
        pollers[number].run(Deadline(60))
        pollers[number].free_logs(Deadline(60))
        return pollers[number].states[0].exported

    assert sorted(at_once(2, free)) == [False, True]
    assert len(server.exports()) == 1
    write_export(database, "x", Export(0), seen=None)


def test_a_fresh_report_says_that_another_log_is_full(server: AlopexServer, database: Database) -> None:
    server.measure()
    poller = keeper(server, database)
    poller.run(Deadline(60))
    poller.free_logs(Deadline(60))
    assert server.exports() == []


def test_without_time_nothing_is_begun(
    server: AlopexServer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    fill(database, EXPORT_AT_BYTES)
    server.measure()
    keeper(server, database).run(Deadline(12))
    assert server.exports() == []
    assert "left to the next tick" in caplog.text
    assert read_export(database, "database") is None


def test_an_export_that_fails_is_tried_again(
    server: AlopexServer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a directory that the server can't write to, then each tick tries and says so, until one can."""
    in_the_way = server.data_dir / ".lifecycle"
    in_the_way.write_text("")
    for _ in range(2):
        fill(database, EXPORT_AT_BYTES)
        measure_anew(server, database)
        caplog.clear()
        assert not keep(server, database).exported
        assert "the export of the database server failed: INTERNAL" in caplog.text
    in_the_way.unlink()
    fill(database, EXPORT_AT_BYTES)
    measure_anew(server, database)
    assert keep(server, database).exported


def test_a_history_server_is_kept_by_its_own_report(
    make_server: MakeServer, server: AlopexServer, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    other = make_server()
    hosts = open_hosts(settings(server, ALOPEX_HISTORY_URL=other.url, WHENTHEN_HOST_REPORT=str(server.host_report)))
    assert [host.name for host in hosts] == ["database", "history"]
    poller = Housekeeping(database, hosts)
    server.measure()
    poller.run(Deadline(60))
    assert [state.report is None for state in poller.states] == [False, True]
    assert "nobody knows how full the log of the history server is: FRONT_NO_REPORT" in caplog.text
    assert poller.gauges.report_age_seconds is None

    poller = Housekeeping(database, [hosts[0], Host("history", other.url, read_key=lambda: other.api_key)])
    with closing(connect(other.url, api_key=other.api_key)) as history:
        fill(history, EXPORT_AT_BYTES)
    other.measure()
    poller.run(Deadline(60))
    assert [state.exported for state in poller.states] == [False, True]
    assert (len(server.exports()), len(other.exports())) == (0, 1)
    assert poller.gauges.wal_bytes is not None
    assert poller.gauges.wal_bytes > EXPORT_AT_BYTES, "the fuller one counts"


def test_pruning_during_an_export(server: AlopexServer, database: Database) -> None:
    """Given two exports, when they are pruned all through a third, then it is whole, and beside it stays one."""
    for _ in range(2):
        with exporting(server):
            pass
        # The server names them by the second.
        time.sleep(1)
    fill(database, 64 * MIB)
    before = server.exports()
    with exporting(server) as failures:
        while not latest(server) > before[-1].name:
            assert prune(server).returncode == 0
            assert {before[-1], server.exports()[-1]} <= set(server.exports())
    assert failures == []
    assert prune(server).returncode == 0
    kept = server.exports()
    assert [path.name for path in kept] == [before[-1].name, latest(server)]


def test_an_export_opens_as_a_data_directory(make_server: MakeServer, server: AlopexServer, database: Database) -> None:
    """The restore of the operations guide, from a copy that left the log out."""
    written = fill(database, 8 * MIB)
    with exporting(server):
        pass
    copy = server.directory / "restored"
    shutil.copytree(server.exports()[-1], copy, ignore=shutil.ignore_patterns("lsm.wal"))
    restored = make_server(data_dir=str(copy))
    with closing(connect(restored.url, api_key=restored.api_key)) as found:
        require_ready(found)
        (row,) = found.execute("SELECT SUM(LENGTH(content)) AS n FROM filler")
        assert row["n"] == written
        fill(found, MIB)
        restored.kill9()
        restored.restart()
        (row,) = found.execute("SELECT SUM(LENGTH(content)) AS n FROM filler")
        assert row["n"] == written + MIB
