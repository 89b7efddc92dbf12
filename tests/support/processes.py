"""Real processes for tests: started, waited for, stopped or killed by their own pid, with their logs kept."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class ProcessFailedError(AssertionError):
    """A process ended, or never got ready; the message carries the end of its log."""


_given: set[int] = set()


def free_port() -> int:
    """A loopback TCP port that nothing listens on right now, and that was not given before: two servers need two."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port


def accepts_connections(port: int) -> bool:
    """Whether something listens on the loopback `port`."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def wait_for(ready: Callable[[], bool], timeout: float = 10.0) -> bool:
    """Ask `ready` until it says yes or `timeout` seconds have passed; its last word."""
    deadline = time.monotonic() + timeout
    while not ready():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def system_program(name: str, package: str) -> str:
    """The path of an installed program, after an attempt to install its Debian package.

    Raises:
        ProcessFailedError: it is not there and can't be installed. Never a skip: a test that did not run
            must not look like one that passed.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    if found := shutil.which(name, path=path):
        return found
    script = ROOT / "scripts" / "install-system-packages"
    done = subprocess.run([script, package], capture_output=True, text=True, check=False)
    if found := shutil.which(name, path=path):
        return found
    raise ProcessFailedError(f"{name} (Debian package {package}) is needed:\n{done.stdout}{done.stderr}")


class Process:
    """One child process whose output goes to a file.

    Args:
        name: for messages and the log's file name.
        command: program and arguments.
        log_dir: gets `<name>.log`; output of later starts is appended.
        env: the whole environment; the parent's by default.
        cwd: working directory; the parent's by default.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log_dir: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.name = name
        self.command = [str(part) for part in command]
        self.log_path = log_dir / f"{name}.log"
        self._env = env
        self._cwd = cwd
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of the running child.

        Raises:
            ProcessFailedError: it was never started.
        """
        if self._child is None:
            raise ProcessFailedError(f"{self.name} was not started")
        return self._child.pid

    @property
    def running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def start(self, ready: Callable[[], bool] | None = None, timeout: float = 20.0) -> None:
        """Start it and wait until `ready` says yes.

        Raises:
            ProcessFailedError: it runs already, ended, or was not ready within `timeout` seconds.
        """
        if self.running:
            raise ProcessFailedError(f"{self.name} runs already")
        with self.log_path.open("ab") as log:
            self._child = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._env, cwd=self._cwd
            )
        if ready is None:
            return
        wait_for(lambda: ready() or not self.running, timeout)
        if not self.running:
            raise ProcessFailedError(f"{self.name} ended at its start:\n{self.log()}")
        if not ready():
            self.kill9()
            raise ProcessFailedError(f"{self.name} not ready after {timeout:g} s:\n{self.log()}")

    def stop(self, sign: signal.Signals = signal.SIGTERM, timeout: float = 20.0) -> int | None:
        """Ask it to stop, kill it if it does not; its exit code, None if it never ran."""
        if self._child is None:
            return None
        if self.running:
            self._child.send_signal(sign)
            try:
                self._child.wait(timeout)
            except subprocess.TimeoutExpired:
                self._child.kill()
        return self._child.wait()

    def kill9(self) -> None:
        """SIGKILL, as a power cut would: no chance to tidy up."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()

    def log(self, last: int = 8_000) -> str:
        """The end of its output."""
        if not self.log_path.exists():
            return ""
        return self.log_path.read_text(errors="replace")[-last:]
