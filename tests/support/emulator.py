"""A Lambda function as `sam build` made it, run by AWS's runtime interface emulator."""

import http.client
import importlib.metadata
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.processes import Process, ProcessFailedError, accepts_connections, free_port

RUNTIME_DISTRIBUTIONS = (
    "awslambdaric", "simplejson", "snapshot-restore-py",
    "boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3",
)  # fmt: skip
"""What AWS's own Python 3.13 brings: its interface client, and boto3 with what that needs."""


class InvocationError(AssertionError):
    """The function raised, timed out or died; the message is what the caller gets, and the end of its log."""


def runtime_packages(directory: Path) -> Path:
    """Put what the Lambda runtime brings into `directory`, and nothing else: links to files of this environment.

    With bytecode, as AWS installs it.
    """
    for name in RUNTIME_DISTRIBUTIONS:
        distribution = importlib.metadata.distribution(name)
        tops = {path.parts[0] for path in distribution.files or []} - {"..", "__pycache__"}
        for top in tops:
            source = Path(str(distribution.locate_file(top)))
            if source.is_dir():
                shutil.copytree(source, directory / top, copy_function=os.symlink)
            else:
                (directory / top).symlink_to(source)
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "0", directory], check=True)
    return directory


class Emulated:
    """One instance of a function: one process, one invocation at a time, as in Lambda.

    The interpreter sees the function's folder, the layers and what the runtime brings, and no other package:
    what a layer lacks fails here too.

    Args:
        name: the function's logical id, the name of its folder in `build`.
        build: what `scripts/sam-build` made.
        runtime: of `runtime_packages`.
        emulator: the emulator's binary.
        environment: the function's variables, and those that reach AWS.
        log_dir: gets its log.
        handler, timeout, memory: of the template; seconds and MiB.
    """

    def __init__(
        self,
        name: str,
        *,
        build: Path,
        runtime: Path,
        emulator: Path,
        environment: Mapping[str, str],
        log_dir: Path,
        handler: str,
        timeout: int,
        memory: int,
    ) -> None:
        self.name = name
        self._timeout = timeout
        self._port = free_port()
        self._lock = threading.Lock()
        root = build / name
        path = [build / "DependenciesLayer" / "python", build / "WhenthenLayer" / "python", runtime]
        # -S: without the interpreter's own site-packages.
        python = Path(sys.base_prefix) / "bin" / "python3.13"
        self._process = Process(
            f"{name}-{self._port}",
            [
                *(emulator, "--runtime-interface-emulator-address", f"127.0.0.1:{self._port}"),
                *("--runtime-api-address", f"127.0.0.1:{free_port()}"),
                *(python, "-S", "-m", "awslambdaric", handler),
            ],
            log_dir=log_dir,
            env={
                "PATH": os.defpath,
                "LANG": "C.UTF-8",
                "TZ": ":UTC",
                "PYTHONPATH": ":".join(map(str, path)),
                # Layers are read-only in Lambda.
                "PYTHONDONTWRITEBYTECODE": "1",
                "LAMBDA_TASK_ROOT": str(root),
                "AWS_LAMBDA_FUNCTION_NAME": name,
                "AWS_LAMBDA_FUNCTION_TIMEOUT": str(timeout),
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory),
                **environment,
            },
            cwd=root,
        )

    def start(self) -> None:
        """Start the emulator; the function itself starts with its first invocation."""
        self._process.start(lambda: accepts_connections(self._port))

    def invoke(self, event: Any) -> Any:
        """What the function returns for `event`.

        Raises:
            InvocationError: it returned an error, or nothing.
        """
        with self._lock:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=self._timeout + 15)
            try:
                connection.request("POST", "/2015-03-31/functions/function/invocations", json.dumps(event))
                text = connection.getresponse().read().decode()
                answer = json.loads(text)
            except (OSError, http.client.HTTPException) as error:
                raise InvocationError(f"{self.name} gave no answer: {error!r}\n{self.log()}") from error
            except ValueError as error:
                raise InvocationError(f"{self.name}: {text}\n{self.log()}") from error
            finally:
                connection.close()
        if isinstance(answer, dict) and "errorMessage" in answer:
            raise InvocationError(f"{self.name}: {answer}\n{self.log()}")
        return answer

    def kill9(self) -> None:
        """SIGKILL the function's process and the emulator, at once: Lambda takes its instance away."""
        if not self._process.running:
            return
        for pid in [*_descendants(self._process.pid), self._process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.kill9()

    def log(self) -> str:
        """The end of its log."""
        return self._process.log()


def _descendants(pid: int) -> list[int]:
    """The processes that `pid` has started, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [*_descendants(child), child]
    return found


class HangingPort:
    """A loopback port that takes connections and never answers. Use as a context manager.

    Attributes:
        url: of the port.
        reached: set when a request has begun to arrive.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.reached = threading.Event()
        self._held: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> "HangingPort":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        for connection in self._held:
            connection.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._held.append(connection)
            if connection.recv(1):
                self.reached.set()


def emulator_binary(environment: Path) -> Path:
    """The emulator that aws-sam-cli brings.

    Raises:
        ProcessFailedError: this version has none.
    """
    found = sorted(environment.glob("lib/python3*/site-packages/samcli/local/rapid/aws-lambda-rie-x86_64"))
    if not found:
        raise ProcessFailedError(f"no runtime interface emulator in {environment}")
    return found[0]
