"""`whenthen db rebuild` on real servers, as docs/rebuild.md has it; its process can be killed at a chosen point.

Run as ``python -m tests.support.rebuilding TARGET KEY_FILE``, with the settings in the environment.
"""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.alopex import AlopexServer
from tests.support.processes import ROOT, Process, wait_for
from tests.support.product import stop_here
from whenthen.store.database import Database, connect

SMALL_SPAN_BYTES = 2_000
"""So that a few rows make several spans."""


@dataclass
class Routine:
    """A server that is rebuilt: the one of production, and for the time of the rebuild the old and the new one.

    Attributes
    ----------
    server:
        Production's, which is stopped and started again.
    old, new:
        Servers on the old directory and on the new one, with a key of their own and one directory for copies.
    """

    server: AlopexServer
    old: AlopexServer
    new: AlopexServer
    home: Path
    runs: int = 0

    @classmethod
    def prepare(cls, server: AlopexServer, binary: Path, home: Path) -> "Routine":
        """Make the servers, not started, and the file with their key."""
        key = secrets.token_urlsafe(24)
        home.mkdir(parents=True, exist_ok=True)
        (home / "rebuild.key").write_text(f"{key}\n")
        old, new = (AlopexServer(binary, home / name, api_key=key) for name in ("old", "new"))
        return cls(server, old, new, home)

    def begin(self) -> None:
        """Stop production, move its directory aside, and start the two servers."""
        # As systemd does: what is on its way gets its answer.
        self.server.front.stop(signal.SIGQUIT)
        self.server.stop_server()
        self.server.data_dir.rename(self.old.data_dir)
        for server in (self.old, self.new):
            server.start(copy_allowed_dirs=[str(self.old.copy_dir)])

    def switch(self) -> None:
        """Stop both, put the new directory in its place, and start production."""
        self.old.stop()
        self.new.stop()
        self.new.data_dir.rename(self.server.data_dir)
        self.server.start()

    def start(self, *, crash_at: str = "", **environment: str) -> Process:
        """Start the command; see `main` for the points where it waits to be killed."""
        self.runs += 1
        process = Process(
            f"rebuild-{self.runs}",
            [sys.executable, "-m", "tests.support.rebuilding", self.new.direct_url, self.home / "rebuild.key"],
            log_dir=self.home,
            env={**self.environment, "CRASH_AT": crash_at, **environment},
            cwd=ROOT,
        )
        process.start()
        return process

    def kill_at(self, point: str) -> None:
        """Run the command as far as `point`, and kill it there."""
        process = self.start(crash_at=point)
        marker = self.home / f"crash-{point}"
        try:
            wait_for(lambda: marker.exists() or not process.running, timeout=120)
            assert process.running, process.log()
        finally:
            process.kill9()
        marker.unlink()

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the command to its end."""
        return subprocess.run(
            [sys.executable, "-m", "tests.support.rebuilding", self.new.direct_url, self.home / "rebuild.key"],
            env={**self.environment, "CRASH_AT": "", **environment},
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=500,
        )

    @property
    def environment(self) -> dict[str, str]:
        """The command's. The key in it is the functions'."""
        return {
            **os.environ,
            "ALOPEX_URL": self.old.direct_url,
            "ALOPEX_API_KEY": self.server.api_key,
            "WHENTHEN_COPY_DIR": str(self.old.copy_dir),
            "WHENTHEN_HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "layers" / "whenthen" / "python"))),
        }

    def open(self, server: AlopexServer) -> Database:
        """A connection to one of the two servers."""
        return connect(server.direct_url, api_key=server.api_key)

    def close(self) -> None:
        """End what was started, and remove what it has left."""
        self.old.remove()
        self.new.remove()


def contents(database: Database) -> dict[str, list[str]]:
    """All rows of all tables but those that are a database's own, in an order of their own."""
    own = {"deletions", "meta", "probes", "schema_versions", "rebuild_copies"}
    names = [row["table_name"] for row in database.execute("SHOW TABLES") if row["table_name"] not in own]
    return {name: sorted(repr(row) for row in database.execute(f"SELECT * FROM {name}")) for name in names}


def _stopping(module: Any, name: str, point: str, *, after: bool = False) -> None:
    """Wait to be killed at the first call of a function, the second (``point-2``) or a later one."""
    call: Callable[..., Any] = getattr(module, name)
    calls = 0

    def counting(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        result = call(*args, **kwargs) if after else None
        stop_here(f"{point}-{calls}")
        return result if after else call(*args, **kwargs)

    setattr(module, name, counting)


def main() -> None:
    """Run the command with small spans.

    Points to be killed at, each with a number: ``begun`` (planned, nothing made), ``written`` (a span is in the file),
    ``taken`` (a span is in the target), ``comparing`` (before a table), and before ``set_aside``, ``take_back`` and
    ``prove_single_flight`` when it hands over.
    """
    from whenthen.cli.main import main as whenthen
    from whenthen.store import rebuild, tables

    tables.SPAN_BYTES = int(os.environ.get("SPAN_BYTES", SMALL_SPAN_BYTES))
    if seldom := os.environ.get("CHECKPOINT_BYTES"):
        rebuild._CHECKPOINT_BYTES = int(seldom)
    _stopping(rebuild, "migrate", "begun")
    _stopping(rebuild, "write_span", "written", after=True)
    _stopping(rebuild.Rebuild, "_take", "taken", after=True)
    _stopping(rebuild, "compare", "comparing")
    for step in ("set_aside", "take_back", "prove_single_flight"):
        _stopping(rebuild.meta, step, step)
    whenthen(["db", "rebuild", "--to", sys.argv[1], "--key-file", sys.argv[2]])


if __name__ == "__main__":
    main()
