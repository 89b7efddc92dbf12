"""`whenthen backup` and `whenthen restore` on a real server: the drill, and what is refused."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.server.test_crashes import sweep_later, value_of
from tests.server.test_rebuild import webhooks
from tests.support.alopex import AlopexServer
from tests.support.processes import wait_for
from tests.support.product import ARRIVALS, WAKEUPS, SpoolQueue
from tests.support.scenario import Product, call_applet, executions, make_product, prepare
from tests.support.sink import Sink
from whenthen.cli.main import main
from whenthen.clock import Deadline
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.tick import drain
from whenthen.queues.directory import DirectoryQueue
from whenthen.settings import Settings, settings
from whenthen.store.backup import MANIFEST, RECORD
from whenthen.store.database import connect
from whenthen.store.events import find_event
from whenthen.store.host import Host
from whenthen.store.meta import prove_single_flight, require_ready
from whenthen.store.migrations import LATEST
from whenthen.wiring import Runtime


def whenthen(server: AlopexServer, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command against the front of a server."""
    return subprocess.run(
        [Path(sys.executable).with_name("whenthen"), *arguments],
        env={"ALOPEX_URL": server.url, "ALOPEX_API_KEY": server.api_key, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=120,
    )


def made_backup(server: AlopexServer, directory: Path) -> Path:
    """Make a backup and return it."""
    done = whenthen(server, "backup", directory)
    assert done.returncode == 0, done.stdout
    (backup,) = directory.iterdir()
    assert f"checked, in {backup}." in done.stdout
    return backup


def test_the_drill_while_webhooks_arrive(server: AlopexServer, tmp_path: Path) -> None:
    """Given a server that is lost, when a backup is restored, then what was acknowledged before and after is there.

    What was acknowledged between the backup and the loss is gone: that is what a backup can't give. What had run since
    may run again, with the key that it had.
    """
    with Sink() as sink, closing(make_product(server, tmp_path / "home")) as product:
        call_applet(product.database, f"{sink.url}/in", method="PUT")
        _, url = product.start_trigger()
        product.start("worker")
        with webhooks(url, product) as acknowledged:
            assert wait_for(lambda: len(acknowledged) > 50)
            before = list(acknowledged)
            backup = made_backup(server, tmp_path / "backups")
            kept = len(acknowledged)
            assert wait_for(lambda: len(acknowledged) > kept + 50)
            server.kill9()
            shutil.rmtree(server.data_dir)
            lost = len(acknowledged)
            assert wait_for(lambda: len(acknowledged) > lost + 12, timeout=60), "answered while there is no database"
            # Each of the four clients may have had an answer of the server that is gone.
            after = acknowledged[lost + 4 :]
            done = whenthen(server, "restore", backup, server.data_dir)
            assert done.returncode == 0, done.stdout
            server.restart()
            back = len(acknowledged)
            assert wait_for(lambda: len(acknowledged) > back + 50)
        prove_single_flight(product.database)
        require_ready(product.database)
        settle(product)
        rows = executions(product.database)
        events = [find_event(product.database, parse_execution_id(row.execution_id).event_id) for row in rows]
        values = Counter(value_of(event) for event in events)
        assert {*before, *after, *acknowledged[back:]} <= values.keys()
        assert set(values.values()) == {1}, "a webhook has two executions"
        assert Counter(row.state for row in rows) == {"succeeded": len(rows)}
        keys: dict[str, set[str]] = {}
        for request in sink.requests:
            keys.setdefault(request.body.decode(), set()).add(request.key)
        assert values.keys() <= keys.keys()
        assert {len(used) for used in keys.values()} == {1}, "a second run has the key of the first"


def settle(product: Product) -> None:
    """Drain the intake queue, and wait until all executions are final."""
    queue = DirectoryQueue(product.home / ARRIVALS)
    runtime = Runtime(
        Settings.read({}), database=product.database, wakeups=SpoolQueue(product.home / WAKEUPS), arrivals=queue
    )
    assert drain(runtime.intake, queue, Deadline(120)) > 0

    def all_final() -> bool:
        sweep_later(product)
        return all(row.wake_at is None for row in executions(product.database))

    assert wait_for(all_final, timeout=90)


@pytest.fixture(scope="module")
def kept(shared_server: AlopexServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a database with an owner."""
    with closing(connect(shared_server.url, api_key=shared_server.api_key)) as database:
        prepare(database)
    return made_backup(shared_server, tmp_path_factory.mktemp("backups") / "kept")


@pytest.fixture
def backup(kept: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    subprocess.run(["cp", "--recursive", "--sparse=always", kept, tmp_path / "backup"], check=True)
    return tmp_path / "backup"


def test_a_restored_server_can_be_backed_up_again(server: AlopexServer, backup: Path, tmp_path: Path) -> None:
    record = json.loads((backup / RECORD).read_text())
    assert record["schema_version"] == LATEST
    server.stop_server()
    shutil.rmtree(server.data_dir)
    done = whenthen(server, "restore", backup, server.data_dir)
    assert done.returncode == 0, done.stdout
    assert f"made at {record['made_at']}" in done.stdout
    assert not (server.data_dir / RECORD).exists()
    server.restart()
    with closing(connect(server.url, api_key=server.api_key)) as database:
        require_ready(database)
        assert database.execute("SELECT user_id FROM users") == [{"user_id": "owner"}]
    again = made_backup(server, tmp_path / "again")
    manifest = json.loads((again / MANIFEST).read_text())
    assert {entry["path"] for entry in manifest["entries"]} >= {"lsm.wal", "checkpoint.meta"}


def test_an_export_is_a_backup_too(shared_server: AlopexServer, kept: Path, tmp_path: Path) -> None:
    """Given an export that was fetched by hand, then it is checked and restored as well."""
    (export,) = shared_server.exports()
    done = whenthen(shared_server, "restore", export, tmp_path / "new")
    assert done.returncode == 0, done.stdout
    for directory in (kept, tmp_path / "new"):
        assert (directory / "lsm.wal").stat().st_size == (export / "lsm.wal").stat().st_size
        assert (directory / "lsm.wal").stat().st_blocks * 512 < 64 * 1024 * 1024, "holes stay holes"


def test_a_copy_without_the_log(server: AlopexServer, backup: Path) -> None:
    """Given a copy that was taken off the host without its log (ops/alopex/README.md), then a server starts on it."""
    (backup / "lsm.wal").unlink()
    server.stop_server()
    shutil.rmtree(server.data_dir)
    done = whenthen(server, "restore", backup, server.data_dir)
    assert done.returncode == 0, done.stdout
    server.restart()
    with closing(connect(server.url, api_key=server.api_key)) as database:
        require_ready(database)
        assert database.execute("SELECT user_id FROM users") == [{"user_id": "owner"}]


def test_a_history_of_its_own(server: AlopexServer, alopex_binary: Path, tmp_path: Path) -> None:
    """Given two servers, then both are in the backup, the history last."""
    history = AlopexServer(alopex_binary, tmp_path / "history", api_key=server.api_key)
    try:
        history.start()
        for one in (server, history):
            with closing(connect(one.url, api_key=one.api_key)) as database:
                prepare(database)
        done = whenthen(server, "backup", tmp_path / "backups", ALOPEX_HISTORY_URL=history.url)
        names = [f"database-{server.exports()[0].name}", f"history-{history.exports()[0].name}"]
    finally:
        history.remove()
    assert done.returncode == 0, done.stdout
    assert [line.rpartition("/")[2] for line in done.stdout.splitlines()] == [f"{name}." for name in names]
    assert sorted(path.name for path in (tmp_path / "backups").iterdir()) == names


def short(backup: Path) -> None:
    """A file was cut."""
    with (backup / "checkpoint.meta").open("r+b") as file:
        file.truncate(3)


def rotten(backup: Path) -> None:
    """A byte has changed."""
    path = next((backup / "sst").glob("*.sst"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def missing(backup: Path) -> None:
    """A file is gone."""
    next((backup / "sst").glob("*.sst")).unlink()


def unfinished(backup: Path) -> None:
    """The server had not come to the end of its export."""
    (backup / MANIFEST).unlink()


def outside(backup: Path) -> None:
    """The manifest names a file of somebody else."""
    manifest = json.loads((backup / MANIFEST).read_text())
    manifest["entries"][0]["path"] = "../other"
    (backup / MANIFEST).write_text(json.dumps(manifest))


def nonsense(backup: Path) -> None:
    """The manifest is none."""
    (backup / MANIFEST).write_text("{}")


def later(backup: Path) -> None:
    """A later whenthen has made it."""
    record = json.loads((backup / RECORD).read_text())
    (backup / RECORD).write_text(json.dumps({**record, "schema_version": LATEST + 1}))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (short, "checkpoint.meta is damaged: 3 bytes"),
        (rotten, ".sst is damaged"),
        (missing, ".sst is missing"),
        (unfinished, f"is no whole export: it has no {MANIFEST}"),
        (outside, "names ../other, which is outside"),
        (nonsense, f"{MANIFEST} can't be read"),
        (later, f"schema is version {LATEST + 1}, this whenthen knows {LATEST}"),
    ],
)
def test_a_damaged_backup_is_refused(
    shared_server: AlopexServer, tmp_path: Path, backup: Path, damage: Callable[[Path], None], words: str
) -> None:
    """Given damage, when it is restored, then it says what is wrong and there is no data directory."""
    damage(backup)
    done = whenthen(shared_server, "restore", backup, tmp_path / "new")
    assert done.returncode == 1, done.stdout
    assert words in done.stdout
    assert not (tmp_path / "new").exists()


def test_a_directory_in_use_is_refused(server: AlopexServer, tmp_path: Path, kept: Path) -> None:
    done = whenthen(server, "restore", kept, server.data_dir)
    assert (done.returncode, done.stdout) == (1, f"Error: A server is running on {server.data_dir}.\n")
    server.stop_server()
    done = whenthen(server, "restore", kept, server.data_dir)
    assert done.returncode == 1
    assert f"{server.data_dir} is not empty" in done.stdout
    (tmp_path / "empty").mkdir()
    assert whenthen(server, "restore", kept, tmp_path / "empty").returncode == 0


def test_a_restore_that_was_cut_off_is_done_again(shared_server: AlopexServer, tmp_path: Path, kept: Path) -> None:
    """Given what an earlier restore has left, when it is done again, then it is whole."""
    left = tmp_path / "new.part"
    left.mkdir()
    (left / "lsm.wal").write_bytes(b"half")
    done = whenthen(shared_server, "restore", kept, tmp_path / "new")
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "new" / "checkpoint.meta").exists()
    assert not left.exists()


def test_a_host_that_is_another_machine(server: AlopexServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an export that is not on this machine, then it is told where it is and how to fetch it."""
    with closing(connect(server.url, api_key=server.api_key)) as database:
        prepare(database)
    export = Host.export
    monkeypatch.setattr(Host, "export", lambda *args, **kwargs: f"/elsewhere{export(*args, **kwargs)}")
    monkeypatch.setenv("ALOPEX_URL", server.url)
    monkeypatch.setenv("ALOPEX_API_KEY", server.api_key)
    settings.cache_clear()
    done = CliRunner().invoke(main, ["backup", str(tmp_path / "backups")])
    settings.cache_clear()
    (made,) = server.exports()
    assert done.exit_code == 0, done.output
    assert f"its host has the export in /elsewhere{made}" in done.output
    assert f"rsync --archive --sparse HOST:/elsewhere{made}/ {tmp_path}/backups/database-{made.name}/" in done.output


def test_the_engine_in_this_process_has_no_backup(server: AlopexServer, tmp_path: Path) -> None:
    done = whenthen(server, "backup", tmp_path / "backups", ALOPEX_URL="", WHENTHEN_HOME=str(tmp_path / "home"))
    assert done.returncode == 1
    assert "stop `whenthen run` and copy the files in WHENTHEN_HOME" in done.stdout
