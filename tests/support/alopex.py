"""The real Alopex server behind its nginx front, from the same files as production (`ops/alopex`)."""

import contextlib
import http.client
import json
import os
import secrets
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

from tests.support.processes import (
    ROOT,
    Process,
    ProcessFailedError,
    accepts_connections,
    free_port,
    system_program,
)

OPS = ROOT / "ops" / "alopex"

type Setting = str | int | bool | list[str] | None
"""A value of alopex.toml; None removes the line, so that the server's own default holds."""


def alopex_binary() -> Path:
    """The server's binary, built if this machine has none yet (minutes).

    Raises:
        ProcessFailedError: it can't be built; the message says what is missing.
    """
    script = ROOT / "scripts" / "install-alopex-server"
    done = subprocess.run([script], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise ProcessFailedError("scripts/install-alopex-server failed; see its messages above")
    return Path(done.stdout.strip())


class NginxFront:
    """nginx with the configuration of `ops/alopex`, in front of one Alopex server.

    Args:
        directory: for its configuration, temporary files and log.
        alopex_port: `http_bind` of the server.
        admin_port: `admin_bind` of the server.
        certificate: PEM file of certificate and key; with it the front speaks TLS only.
    """

    def __init__(self, directory: Path, *, alopex_port: int, admin_port: int, certificate: Path | None = None) -> None:
        self.port = free_port()
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.port}"
        tls = f"ssl_certificate {certificate}; ssl_certificate_key {certificate};" if certificate else ""
        values = {
            "FRONT_LISTEN": f"127.0.0.1:{self.port}{' ssl' if certificate else ''}",
            "FRONT_TLS": tls,
            "FRONT_RUN": str(directory),
            "HOST_REPORT": str(directory / "host.json"),
            "ALOPEX_HTTP": f"127.0.0.1:{alopex_port}",
            "ALOPEX_ADMIN": f"127.0.0.1:{admin_port}",
        }
        text = (OPS / "nginx.conf.template").read_text()
        for name, value in values.items():
            text = text.replace(f"${{{name}}}", value)
        config = directory / "nginx.conf"
        config.write_text(text)
        command: list[str | Path] = [system_program("nginx", "nginx-light"), "-e", "stderr", "-c", config]
        if os.geteuid() == 0:
            # Production starts it as a user of its own. Root's nginx would hand its workers to one that
            # may not enter a test's directory.
            command += ["-g", "user root;"]
        self._process = Process("nginx", command, log_dir=directory)

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        self._process.start(lambda: accepts_connections(self.port))

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> None:
        self._process.stop(sign)

    def log(self) -> str:
        return self._process.log()


class AlopexServer:
    """One real server on a data directory of its own, reached through its front.

    Ports, key and data directory stay the same over `restart`, `kill9` and `start`.

    Attributes:
        url: the front; what everything but a checkpoint uses.
        direct_url: the server's own port.
        api_key: the key it asks for.
        data_dir: its data directory.
        copy_dir: the one directory COPY may use.
        host_report: what the front serves as /host.json, once `measure` was called.
    """

    def __init__(
        self, binary: Path, directory: Path, *, certificate: Path | None = None, api_key: str | None = None
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.data_dir = directory / "data"
        self.copy_dir = directory / "copy"
        self.copy_dir.mkdir(exist_ok=True)
        self.host_report = directory / "host.json"
        self.api_key = api_key or secrets.token_urlsafe(24)
        self.port, self.admin_port, self._grpc_port = free_port(), free_port(), free_port()
        self.direct_url = f"http://127.0.0.1:{self.port}"
        self._config = directory / "alopex.toml"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ALOPEX__")}
        environment |= {"ALOPEX__AUTH_MODE__TYPE": "dev", "ALOPEX__AUTH_MODE__API_KEY": self.api_key}
        self._process = Process("alopex-server", [binary, "--config", self._config], log_dir=directory, env=environment)
        self.front = NginxFront(directory, alopex_port=self.port, admin_port=self.admin_port, certificate=certificate)
        self.url = self.front.url

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.running

    def start(self, **overrides: Setting) -> None:
        """Start the server with production's settings and these, and its front if that is not up.

        Args:
            overrides: settings of alopex.toml; None stands for the server's own default, so
                `start(max_concurrency=None)` is the server as it comes.
        """
        settings = tomllib.loads((OPS / "alopex.toml").read_text())
        settings |= {
            "http_bind": f"127.0.0.1:{self.port}",
            "admin_bind": f"127.0.0.1:{self.admin_port}",
            "grpc_bind": f"127.0.0.1:{self._grpc_port}",
            "data_dir": str(self.data_dir),
            "copy_allowed_dirs": [str(self.copy_dir)],
        }
        settings |= overrides
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items() if value is not None]
        self._config.write_text("\n".join(lines) + "\n")
        self._run()
        if not accepts_connections(self.front.port):
            self.front.start()

    def restart(self) -> None:
        """Stop the server if it runs, and start it again with the settings of its last start."""
        self._process.stop()
        self._run()

    def stop(self) -> None:
        """Stop the front and the server, gracefully."""
        self.front.stop()
        self._process.stop()

    def stop_server(self) -> None:
        """Stop the server gracefully; its front stays up."""
        self._process.stop()

    def kill9(self) -> None:
        """SIGKILL the server; its front stays up."""
        self._process.kill9()

    def checkpoint(self) -> None:
        """Bring what is in memory into SST files, by an export whose copy is thrown away (about 2 s).

        Raises:
            ProcessFailedError: the server refused.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        with contextlib.closing(connection):
            connection.request("POST", "/api/admin/export", headers={"x-api-key": self.api_key})
            answer = connection.getresponse()
            body = answer.read().decode()
        if answer.status != http.client.OK:
            raise ProcessFailedError(f"export answered {answer.status}: {body}")
        shutil.rmtree(self.data_dir / ".lifecycle" / "export")

    def measure(self) -> None:
        """Write the host's report, as `ops/alopex/host-report` does every ten seconds."""
        subprocess.run([OPS / "host-report", self.data_dir, self.host_report], check=True)

    def exports(self) -> list[Path]:
        """The directories of exports, the oldest first, complete or not."""
        return sorted(path for path in (self.data_dir / ".lifecycle" / "export").glob("ts-*") if path.is_dir())

    def log_bytes(self) -> int:
        """What the header of the write-ahead log says was written since the last checkpoint."""
        with (self.data_dir / "lsm.wal").open("rb") as log:
            return int.from_bytes(log.read(16)[8:], "little")

    def sst_files(self) -> list[Path]:
        """The SST files of the data directory."""
        return sorted((self.data_dir / "sst").glob("*.sst"))

    def sst_bytes(self) -> int:
        """Bytes in SST files: what every scan pays for."""
        return sum(path.stat().st_size for path in self.sst_files())

    def log(self) -> str:
        """The ends of both logs."""
        return f"-- alopex-server\n{self._process.log()}\n-- nginx\n{self.front.log()}"

    def remove(self) -> None:
        """Stop everything and delete the data, which a log file of 512 MiB may be part of."""
        self.stop()
        shutil.rmtree(self.data_dir, ignore_errors=True)

    def _run(self) -> None:
        # Two ports, opened one after the other.
        self._process.start(lambda: accepts_connections(self.admin_port) and accepts_connections(self.port), timeout=60)


type MakeServer = Callable[..., AlopexServer]
"""Starts one more server with these settings; see `AlopexServer.start`."""
