"""A product with an owner, a webhook key and applets that call a sink."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.alopex import AlopexServer
from tests.support.processes import ROOT, Process, accepts_connections, free_port
from tests.support.stores import executions_in
from whenthen.engine import applets, keys
from whenthen.model.applet import Applet
from whenthen.store.database import Database, ServerDatabase
from whenthen.store.executions import ExecutionRow
from whenthen.store.keys import add_user
from whenthen.store.meta import prove_single_flight
from whenthen.store.migrations import migrate
from whenthen.store.slots import list_slots

OWNER = "owner"


def prepare(database: Database) -> str:
    """Migrate, prove, make the owner; return a webhook key."""
    migrate(database)
    prove_single_flight(database)
    add_user(database, OWNER, "Owner")
    return keys.create(database, OWNER, "webhook", "test")[1]


def call_applet(database: Database, url: str, *, event: str = "door", method: str = "POST", name: str = "Call") -> str:
    """Make an applet that sends the event's Value1 to `url`; return its id."""
    document = {
        "name": name,
        "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": event}},
        "actions": [
            {
                "service": "webhooks",
                "action": "make_web_request",
                "fields": {"url": url, "method": method, "content_type": "text/plain", "body": "{{Value1}}"},
            }
        ],
    }
    return applets.create(database, OWNER, Applet.model_validate(document)).applet_id


def executions(database: Database) -> list[ExecutionRow]:
    """Return all of the owner's executions, up to 200 a slot and page."""
    found: list[ExecutionRow] = []
    for slot in list_slots(database):
        before = (2**62, "")
        while page := executions_in(database, slot.slot, OWNER, before=before):
            found += page
            before = (page[-1].occurred_at, page[-1].execution_id)
    return found


@dataclass
class Product:
    """Processes of the product against one real server."""

    server: AlopexServer
    home: Path
    database: ServerDatabase
    webhook_key: str
    _processes: list[Process] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """The settings that the processes get."""
        return {
            **os.environ,
            "ALOPEX_URL": self.server.url,
            "ALOPEX_API_KEY": self.server.api_key,
            "WHENTHEN_HOME": str(self.home),
            "WHENTHEN_COPY_DIR": str(self.server.copy_dir),
            "WHENTHEN_ALLOWED_NETWORKS": "127.0.0.0/8",
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "layers" / "whenthen" / "python"))),
        }

    def start(self, role: str, *, crash_at: str = "", ready: Sequence[int] = (), **extra: str) -> Process:
        """Start a process of the product; see `tests.support.product`."""
        name = f"{role}-{len(self._processes)}"
        environment = {**self.environment, "CRASH_AT": crash_at, **extra}
        process = Process(
            name, [sys.executable, "-m", "tests.support.product", role], log_dir=self.home, env=environment, cwd=ROOT
        )
        self._processes.append(process)
        process.start((lambda: all(accepts_connections(port) for port in ready)) if ready else None)
        return process

    def start_trigger(self, *, crash_at: str = "") -> tuple[Process, str]:
        """Start the trigger function's app; return its process and URL."""
        port = free_port()
        return self.start("trigger", crash_at=crash_at, ready=[port], PORT=str(port)), f"http://127.0.0.1:{port}"

    def crashed(self, marker: str) -> bool:
        """Whether a process has come to its crash point."""
        return (self.home / f"crash-{marker}").exists()

    def close(self) -> None:
        """End what was started."""
        for process in self._processes:
            process.kill9()
        self.database.close()


def make_product(server: AlopexServer, home: Path) -> Product:
    """Return a product on a fresh real server."""
    home.mkdir(parents=True, exist_ok=True)
    database = ServerDatabase(server.url, api_key=server.api_key)
    return Product(server, home, database, prepare(database))
