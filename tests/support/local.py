"""`whenthen run` as a process of its own, and an owner who uses it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2

from tests.support.alopex import AlopexServer
from tests.support.processes import Process, free_port, wait_for

WHENTHEN = Path(sys.executable).parent / "whenthen"


def clean_environment(**settings: str) -> dict[str, str]:
    """This process's environment without settings of whenthen and without proxies, and with these."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("WHENTHEN_", "ALOPEX_")) and not name.lower().endswith("_proxy")
    }
    return {**kept, "NO_PROXY": "*", **settings}


class LocalRun:
    """The local run with a home of its own.

    Args:
        directory: gets the home and the log.
        server: the Alopex server to use, the embedded engine without one.
        settings: more of the environment.
    """

    def __init__(self, directory: Path, server: AlopexServer | None = None, **settings: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.home = directory / "home"
        self.port = free_port()
        self.environment = clean_environment(WHENTHEN_HOME=str(self.home), WHENTHEN_PORT=str(self.port), **settings)
        if server is not None:
            self.environment |= {"ALOPEX_URL": server.url, "ALOPEX_API_KEY": server.api_key}
        self.process = Process("whenthen", [WHENTHEN, "run"], log_dir=directory, env=self.environment)
        self._read = 0

    def start(self) -> str:
        """Start it, wait for its banner and return what it has printed since it started."""
        self._read = len(self._output())
        self.process.start(lambda: "Ctrl-C stops it" in self.printed())
        return self.printed()

    def printed(self) -> str:
        """What was printed since the last start."""
        return self._output()[self._read :]

    def _output(self) -> str:
        path = self.process.log_path
        return path.read_text() if path.exists() else ""

    def credentials(self) -> Any:
        """The content of credentials.json."""
        return json.loads((self.home / "credentials.json").read_text())

    def get(self, path: str) -> Any:
        """Ask the API with the owner's key."""
        known = self.credentials()
        headers = {"Authorization": f"Bearer {known['api_key']}"}
        answer = httpx2.get(f"{known['url']}/api{path}", headers=headers, trust_env=False, timeout=10)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, document: Any) -> Any:
        """Send the API a document with the owner's key."""
        known = self.credentials()
        headers = {"Authorization": f"Bearer {known['api_key']}"}
        answer = httpx2.post(f"{known['url']}/api{path}", headers=headers, json=document, trust_env=False, timeout=10)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def messages(self) -> list[str]:
        """The inbox, newest first."""
        return [item["message"] for item in self.get("/inbox?limit=200")["items"]]

    def wait_for_message(self, start: str) -> str:
        """Wait until the inbox has a message that starts so, and return it."""
        found: list[str] = []

        def arrived() -> bool:
            found[:] = [message for message in self.messages() if message.startswith(start)]
            return bool(found)

        assert wait_for(arrived, 15), f"no message {start!r} in {self.messages()}"
        return found[0]

    def command(self, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run another `whenthen` command in the same environment."""
        return run_command(*arguments, environment={**self.environment, **settings})


def run_command(*arguments: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a `whenthen` command to its end."""
    return subprocess.run(
        [WHENTHEN, *arguments], env=dict(environment), capture_output=True, text=True, check=False, timeout=60
    )


def commands(banner: str) -> list[str]:
    """The shell commands that a banner shows."""
    return re.findall(r"^  (curl .*)$", banner, re.MULTILINE)


def shell(command: str) -> str:
    """Run a shell command as a person would; its output."""
    environment = clean_environment()
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
