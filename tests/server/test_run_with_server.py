"""`make run ALOPEX=server`: the product, a server beside it, and housekeeping for that server."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.local import clean_environment
from tests.support.processes import ROOT, Process, free_port, wait_for


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home with a space"


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Iterator[Process]:
    settings = clean_environment(WHENTHEN_HOME=str(home), WHENTHEN_PORT=str(free_port()))
    process = Process("run", [ROOT / "scripts" / "run-with-server"], log_dir=tmp_path, env=settings)
    yield process
    process.stop()


def of_home(home: Path) -> list[str]:
    """The commands of the processes that have this home in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(home) in (process / "environ").read_bytes().decode(errors="replace"):
                found.append((process / "cmdline").read_bytes().decode(errors="replace").replace("\0", " "))
        except OSError:
            continue
    return found


def test_it_keeps_its_house_and_leaves_nobody_behind(run: Process, home: Path) -> None:
    run.start(lambda: "Ctrl-C stops it" in run.log())
    known = json.loads((home / "credentials.json").read_text())
    answer = httpx2.get(f"{known['url']}/trigger/hello/with/key/{known['webhook_key']}", trust_env=False)
    assert answer.status_code == 200
    assert any("alopex-server" in command for command in of_home(home))
    # Measured at the start, when nothing was written, and again and again.
    assert wait_for(lambda: json.loads((home / "alopex" / "host.json").read_text())["wal_bytes"] > 0, 30)
    assert run.stop() == 0
    assert "nobody knows" not in run.log(), "the first tick has read the report"
    assert wait_for(lambda: of_home(home) == [], 20), of_home(home)
