"""The host of a real server, as the store asks it, and the scripts of `ops/alopex` that look after it."""

import os
import struct
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.alopex import OPS, AlopexServer
from tests.support.filling import fill
from tests.support.processes import free_port, wait_for
from whenthen.store.database import connect
from whenthen.store.errors import OutcomeUnknown, StoreError, Unauthorized, Unreachable
from whenthen.store.host import Host

MIB = 1024 * 1024
LIMIT = 512 * MIB
MARK = 1 << 63


def host(server: AlopexServer, *, report: str = "", key: str | None = None) -> Host:
    return Host("database", server.url, report=report, read_key=lambda: server.api_key if key is None else key)


def run(
    script: str, *arguments: object, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    command = [str(OPS / script), *map(str, arguments)]
    return subprocess.run(
        command, env=os.environ | (environment or {}), capture_output=True, text=True, check=False, timeout=60
    )


# The report


def test_a_report_by_path_is_that_by_url(server: AlopexServer) -> None:
    server.measure()
    by_url = host(server).read_report()
    by_path = host(server, report=str(server.host_report)).read_report()
    assert by_url.model_copy(update={"asked_at": 0}) == by_path.model_copy(update={"asked_at": 0})
    assert host(server, report=f"{server.url}/host.json").read_report().measured_at == by_url.measured_at
    for report in (by_url, by_path):
        assert 0 <= report.age_seconds < 60


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"measured_at": 1}', "{numbers}", '{"wal_bytes": "1"}', "\xff"]
)
def test_what_is_no_report_is_told(server: AlopexServer, tmp_path: Path, text: str) -> None:
    server.measure()
    whole = server.host_report.read_text()
    path = tmp_path / "host.json"
    path.write_text(text.replace("{numbers}", whole.replace('"wal_bytes": ', '"wal_bytes": -1')), "latin-1")
    with pytest.raises(StoreError, match="is no report"):
        host(server, report=str(path)).read_report()
    server.host_report.write_bytes(path.read_bytes())
    with pytest.raises(StoreError, match="is no report"):
        host(server).read_report()


def test_no_report_is_told(server: AlopexServer, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="FRONT_NO_REPORT"):
        host(server).read_report()
    with pytest.raises(StoreError, match="No such file"):
        host(server, report=str(tmp_path / "host.json")).read_report()
    with pytest.raises(Unreachable):
        host(server, report=f"http://127.0.0.1:{free_port()}/host.json").read_report()


# The export


def test_how_an_export_fails(server: AlopexServer) -> None:
    with pytest.raises(Unauthorized):
        host(server, key="wrong").export(timeout_seconds=30)
    with pytest.raises(OutcomeUnknown):
        host(server).export(timeout_seconds=0.001)
    assert wait_for(lambda: len(server.exports()) == 1), "it is made all the same"
    server.stop_server()
    with pytest.raises(Unreachable):
        host(server).export(timeout_seconds=30)
    server.front.stop()
    with pytest.raises(Unreachable):
        host(server).export(timeout_seconds=30)


@pytest.mark.parametrize("url", ["http://192.0.2.1:8080", "http://db.example.org", "http://", "ftp://127.0.0.1"])
def test_a_key_never_travels_in_the_clear(url: str) -> None:
    with pytest.raises(ValueError, match=r"plaintext http:// to a non-loopback host|no host|unsupported"):
        Host("database", url, read_key=lambda: "secret")


# host-report


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a log and nothing else."""
    path = tmp_path / "data"
    path.mkdir()
    write_log(path, MARK, 0)
    return path


def write_log(data: Path, start: int, end: int) -> None:
    with (data / "lsm.wal").open("wb") as log:
        log.write(struct.pack("<QQ", start, end))
        log.truncate(LIMIT + 20)


@pytest.mark.parametrize(
    ("start", "end", "used"),
    [
        pytest.param(MARK, 0, 0, id="empty"),
        pytest.param(MARK, 400 * MIB, 400 * MIB, id="from the beginning"),
        pytest.param(MARK + 100, 300, 200, id="from the middle"),
        pytest.param(MARK + 300, 100, LIMIT - 200, id="around the end"),
        pytest.param(MARK + 300, MARK + 300, LIMIT, id="full to the last byte"),
    ],
)
def test_what_is_used_of_a_log(data: Path, tmp_path: Path, start: int, end: int, used: int) -> None:
    write_log(data, start, end)
    done = run("host-report", data, tmp_path / "host.json")
    assert (done.returncode, done.stderr) == (0, "")
    report = Host("x", "http://127.0.0.1:1", report=str(tmp_path / "host.json"), read_key=str).read_report()
    assert (report.wal_bytes, report.wal_limit) == (used, LIMIT)
    assert (report.sst_bytes, report.sst_files, report.exports, report.export_bytes) == (0, 0, 0, 0)


@pytest.mark.parametrize("header", [b"", b"\x80", struct.pack("<QQ", 0, 5)], ids=["empty", "short", "without mark"])
def test_a_log_of_another_kind_makes_no_report(data: Path, tmp_path: Path, header: bytes) -> None:
    (data / "lsm.wal").write_bytes(header)
    done = run("host-report", data, tmp_path / "host.json")
    assert done.returncode == 1
    assert "does not begin as a log" in done.stderr
    assert list(tmp_path.glob("host.json*")) == []


# prune-exports


def make_exports(data: Path, *names: str, latest: str = "", complete: bool = True) -> None:
    root = data / ".lifecycle" / "export"
    for name in names:
        (root / name / "sst").mkdir(parents=True)
        if complete:
            (root / name / "snapshot.manifest").write_text("{}")
    if latest:
        # The server writes its own absolute path, which may be that inside a container.
        (root / "latest").write_text(f"/srv/elsewhere/.lifecycle/export/{latest}")


def left(data: Path) -> list[str]:
    return sorted(path.name for path in (data / ".lifecycle" / "export").glob("ts-*") if path.is_dir())


@pytest.mark.parametrize(("keep", "kept"), [((), ["ts-3", "ts-4"]), ((1,), ["ts-4"]), ((9,), ["ts-2", "ts-3", "ts-4"])])
def test_the_newest_exports_are_kept(data: Path, keep: tuple[int, ...], kept: list[str]) -> None:
    make_exports(data, "ts-2", "ts-3", "ts-4", latest="ts-4")
    for _ in range(2):
        assert run("prune-exports", data, *keep).returncode == 0
        assert left(data) == kept


@pytest.mark.parametrize(
    "arrange",
    [
        lambda data: make_exports(data),
        lambda data: make_exports(data, "ts-1", complete=False),
        lambda data: (make_exports(data, "ts-1"), (data / ".lifecycle/export/latest").touch()),
    ],
    ids=["no export yet", "the first is being written", "the mark is being written"],
)
def test_nothing_is_pruned_before_an_export_is_complete(data: Path, arrange: Callable[[Path], object]) -> None:
    arrange(data)
    before = left(data)
    done = run("prune-exports", data, 0)
    assert (done.returncode, done.stderr) == (0, "")
    assert left(data) == before


def test_what_is_being_written_stays_and_what_was_given_up_goes(data: Path) -> None:
    make_exports(data, "ts-3", latest="ts-3")
    make_exports(data, "ts-1", "ts-5", complete=False)
    make_exports(data, "ts-4")
    assert run("prune-exports", data).returncode == 0
    assert left(data) == ["ts-1", "ts-3", "ts-4", "ts-5"], "no manifest, or newer than the mark: not complete yet"
    for name in ("ts-1", "ts-4", "ts-5"):
        for path in (root := data / ".lifecycle" / "export" / name, *root.rglob("*")):
            os.utime(path, (1, 1))
    done = run("prune-exports", data)
    assert left(data) == ["ts-3"]
    assert done.stderr.count("was never completed") == 3


def test_a_newer_name_does_not_beat_the_mark(data: Path) -> None:
    """Given a clock that was set back, then what the mark names stays."""
    make_exports(data, "ts-2", "ts-8", "ts-9", latest="ts-2")
    assert run("prune-exports", data, 1).returncode == 0
    assert "ts-2" in left(data)


def test_a_removal_that_was_cut_off_is_finished(data: Path) -> None:
    make_exports(data, "ts-3", latest="ts-3")
    (data / ".lifecycle/export/removing/sst").mkdir(parents=True)
    assert run("prune-exports", data).returncode == 0
    assert not (data / ".lifecycle/export/removing").exists()


def test_each_export_is_copied_once(data: Path, tmp_path: Path) -> None:
    """Given a command that fails at first, then nothing is pruned before it is copied, and nothing is copied twice."""
    copied = tmp_path / "copied"
    works = {"EXPORT_COPY_COMMAND": f'basename "$EXPORT" >>"{copied}"'}
    make_exports(data, "ts-1", "ts-2", "ts-3", latest="ts-3")
    done = run("prune-exports", data, 1, environment={"EXPORT_COPY_COMMAND": "exit 3"})
    assert done.returncode == 1
    assert done.stderr.count("could not be copied") == 3
    assert left(data) == ["ts-1", "ts-2", "ts-3"]
    for _ in range(3):
        assert run("prune-exports", data, 1, environment=works).returncode == 0
    assert copied.read_text().split() == ["ts-3", "ts-2", "ts-1"], "the newest first"
    assert left(data) == ["ts-3"]
    assert [path.name for path in (data / ".lifecycle/export").glob("*.copied")] == ["ts-3.copied"]

    make_exports(data, "ts-4", latest="ts-4")
    for _ in range(2):
        assert run("prune-exports", data, 1, environment=works).returncode == 0
    assert copied.read_text().split()[3:] == ["ts-4"]


def test_two_at_once_copy_once(data: Path, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    make_exports(data, "ts-1", latest="ts-1")
    command = f'basename "$EXPORT" >>"{copied}"; sleep 1'
    environment = os.environ | {"EXPORT_COPY_COMMAND": command}
    both = [subprocess.Popen([OPS / "prune-exports", data], env=environment) for _ in range(2)]
    assert [process.wait(60) for process in both] == [0, 0]
    assert copied.read_text().split() == ["ts-1"]


def test_a_short_disk_keeps_the_newest_alone(data: Path, tmp_path: Path) -> None:
    """Given a disk without room for two more exports, then even what was not copied goes, and that is told."""
    make_exports(data, "ts-1", "ts-2", "ts-3", latest="ts-3")
    (data / "sst").mkdir()
    (data / "sst" / "1.sst").write_bytes(b"x" * MIB)
    nearly_full = tmp_path / "bin"
    nearly_full.mkdir()
    # A disk of our own that is nearly full takes root to make.
    (nearly_full / "df").write_text("#!/bin/sh\necho Avail\necho 1000000\n")
    (nearly_full / "df").chmod(0o755)
    path = {"PATH": f"{nearly_full}:{os.environ['PATH']}", "EXPORT_COPY_COMMAND": "exit 1"}
    done = run("prune-exports", data, environment=path)
    assert done.returncode == 1
    assert left(data) == ["ts-3"]
    assert "the disk is short" in done.stderr
    assert done.stderr.count("which was not copied") == 2


def test_the_report_counts_whole_exports_alone(server: AlopexServer) -> None:
    with closing(connect(server.url, api_key=server.api_key)) as database:
        fill(database, MIB)
    host(server).export(timeout_seconds=60)
    assert run("prune-exports", server.data_dir, environment={"EXPORT_COPY_COMMAND": "true"}).returncode == 0
    server.measure()
    assert host(server).read_report().exports == len(server.exports()) == 1
