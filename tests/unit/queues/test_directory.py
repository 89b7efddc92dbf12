"""The queue of files: what it has taken survives a kill, and half of a message is none."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from whenthen.errors import Unavailable
from whenthen.queues import directory
from whenthen.queues.directory import DirectoryQueue


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a" / "queue"


def bodies(queue: DirectoryQueue) -> list[str]:
    return [item.body for item in queue.receive(wait_seconds=0)]


def test_nothing_yet(path: Path) -> None:
    assert bodies(DirectoryQueue(path)) == []
    assert not path.exists()


def test_oldest_first_and_ten_at_most(path: Path) -> None:
    queue = DirectoryQueue(path)
    queue.send([f"{n}\n\"ü💥'" for n in range(12)])
    assert bodies(queue) == [f"{n}\n\"ü💥'" for n in range(10)]
    assert len(bodies(queue)) == 2
    assert bodies(queue) == []


def test_another_process_finds_what_is_not_deleted(path: Path) -> None:
    queue = DirectoryQueue(path)
    queue.send(["kept", "done"])
    for item in queue.receive(wait_seconds=0):
        if item.body == "done":
            queue.delete(item)
            queue.delete(item)
    assert bodies(DirectoryQueue(path)) == ["kept"]


def test_what_is_not_deleted_comes_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Later:
        offset = 0.0

        def monotonic(self) -> float:
            return time.monotonic() + self.offset

    clock = Later()
    monkeypatch.setattr(directory, "time", clock)
    queue = DirectoryQueue(path)
    queue.send(["a"])
    assert bodies(queue) == ["a"]
    clock.offset = 119
    assert bodies(queue) == []
    clock.offset = 121
    assert bodies(queue) == ["a"]


def test_unfinished_files_are_no_messages(path: Path) -> None:
    queue = DirectoryQueue(path)
    queue.send(["whole"])
    (path / "0.json.part").write_text('{"half')
    (path / "note.txt").write_text("x")
    assert bodies(queue) == ["whole"]
    assert (path / "0.json.part").exists()


def test_what_cannot_be_read_does_not_hold_up_the_rest(path: Path) -> None:
    queue = DirectoryQueue(path)
    queue.send(["good"])
    (path / "0.json").write_bytes(b"\xff\xfe")
    (path / "1.json").mkdir()
    assert bodies(queue) == ["good"]


def test_a_kill_between_two_messages_keeps_the_first(path: Path) -> None:
    """The second is in its .part file, without a name yet, when the process dies."""
    code = """
import os, sys
from pathlib import Path
from whenthen.queues.directory import DirectoryQueue
rename = Path.rename
def once(self, target):
    if "second" in self.read_text():
        os.kill(os.getpid(), 9)
    return rename(self, target)
Path.rename = once
DirectoryQueue(Path(sys.argv[1])).send(["first", "second"])
"""
    done = subprocess.run([sys.executable, "-c", code, path], check=False, env=os.environ)
    assert done.returncode == -9
    assert len(list(path.glob("*.part"))) == 1
    assert bodies(DirectoryQueue(path)) == ["first"]


def test_no_place_to_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable):
        DirectoryQueue(tmp_path / "file" / "queue").send(["x"])


def test_no_delays(path: Path) -> None:
    with pytest.raises(ValueError, match="no delays"):
        DirectoryQueue(path).send(["x"], delay_seconds=1)
