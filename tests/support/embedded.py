"""The whole product in this process: embedded engine in memory, queues in memory, both ASGI apps."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.scenario import OWNER, prepare
from whenthen.clock import Deadline, now_ms
from whenthen.engine import claims, keys, performing
from whenthen.engine import worker as worker_module
from whenthen.engine.checker import CheckReport
from whenthen.engine.orders import Order
from whenthen.engine.tick import TickReport, tick
from whenthen.engine.wakeups import read_wakeup
from whenthen.engine.worker import Worker
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database, Rows, connect
from whenthen.store.errors import StoreError
from whenthen.vault import make_key_file
from whenthen.web import hooks, site
from whenthen.wiring import Runtime

type Json = dict[str, Any]

START = datetime(2026, 11, 29, 18, 5, tzinfo=UTC)
"""Five minutes into the slot 202611291800."""

LEASE = 91
"""Seconds after which a worker that had 60 seconds has lost its claims."""

LOOPBACK = {"WHENTHEN_ALLOWED_NETWORKS": "127.0.0.0/8"}


class FlakyDatabase:
    """A database that can be made to fail.

    Attributes:
        error: raised by every call while it is set.
        sent: what was run, newest last.
    """

    embedded = True

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.error: StoreError | None = None
        self.sent: list[str] = []

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        if self.error is not None:
            raise self.error
        self.sent.append(sql)
        return self._inner.execute(sql, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        self._inner.close()


@dataclass
class House:
    """A runtime with an owner and the owner's keys, and clients for both apps."""

    runtime: Runtime
    database: FlakyDatabase
    wakeups: MemoryQueue
    arrivals: MemoryQueue
    orders: MemoryQueue
    webhook_key: str
    api_key: str
    hooks: TestClient
    api: TestClient

    def fire(self, event: str = "door", *, query: Mapping[str, str] | None = None, **options: Any) -> Any:
        """Fire an event with a GET, or as the options of a request say."""
        method = options.pop("method", "GET")
        return self.hooks.request(method, f"/trigger/{event}/with/key/{self.webhook_key}", params=query, **options)

    def call(self, method: str, path: str, json: Any = None, **options: Any) -> Any:
        """Make a request to the management API with the owner's key."""
        headers = {"Authorization": f"Bearer {self.api_key}", **options.pop("headers", {})}
        if json is not None:
            options["json"] = json
        return self.api.request(method, f"/api{path}", headers=headers, **options)

    def make_applet(self, **changes: Any) -> Json:
        """Make an applet, by default one that notifies of the event `door`."""
        answer = self.call("POST", "/applets", applet(**changes))
        assert answer.status_code == 201, answer.text
        made: Json = answer.json()
        return made

    def work(self, *, seconds: float = 60.0) -> int:
        """Do what the wake-ups ask for, until none is left; how many there were."""
        done = 0
        while received := self.wakeups.receive(wait_seconds=0):
            again = self.runtime.worker.run([read_wakeup(item.body) for item in received], Deadline(seconds))
            assert not again
            for item in received:
                self.wakeups.delete(item)
            done += len(received)
        return done

    def run(self, *execution_ids: str, seconds: float = 60.0) -> set[str]:
        """Do executions as if just woken."""
        return self.runtime.worker.run(execution_ids, Deadline(seconds))

    def tick(self, now: int | None = None) -> TickReport:
        """Do the poller's minute of now, or of another instant, epoch milliseconds. Checks that it passes on wait."""
        return tick(
            self.runtime.history,
            self.runtime.intake,
            self.wakeups,
            self.arrivals,
            self.runtime.checks,
            self.runtime.housekeeping,
            now=now_ms() if now is None else now,
            deadline=Deadline(60),
        )

    def check(self, now: int | None = None) -> list[CheckReport]:
        """Do a tick and the checks that it passes on."""
        self.tick(now)
        reports = []
        while received := self.orders.receive(wait_seconds=0):
            reports += self.runtime.checks.run([Order.read(item.body) for item in received], Deadline(60))
            for item in received:
                self.orders.delete(item)
        return reports

    def activity(self, **query: str) -> list[Json]:
        """The newest executions as the API shows them."""
        items: list[Json] = self.call("GET", "/activity", params=query).json()["items"]
        return items

    def execution(self, execution_id: str = "") -> Json:
        """One execution in detail, by default the newest."""
        execution_id = execution_id or self.activity()[0]["execution_id"]
        answer = self.call("GET", f"/executions/{execution_id}")
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    def inbox(self) -> list[Json]:
        """The newest notifications."""
        items: list[Json] = self.call("GET", "/inbox").json()["items"]
        return items

    def messages(self) -> list[str]:
        """What the inbox says when all work is done, newest first."""
        self.work()
        return [item["message"] for item in self.inbox()]

    def table(self, sql: str) -> Rows:
        """Ask the database directly."""
        return self.database.execute(sql)


@contextmanager
def make_house(**environment: str) -> Iterator[House]:
    """A fresh house with these settings; actions may reach loopback unless they say otherwise."""
    with tempfile.TemporaryDirectory(prefix="whenthen-house-") as home:
        yield from _make_house({"WHENTHEN_HOME": home, **environment})


def _make_house(environment: Mapping[str, str]) -> Iterator[House]:
    database = FlakyDatabase(connect(":memory:"))
    webhook_key = prepare(database)
    _, api_key = keys.create(database, OWNER, "api", "test")
    wakeups, arrivals, orders = MemoryQueue(), MemoryQueue(), MemoryQueue()
    settings = Settings.read({**LOOPBACK, "WHENTHEN_ACTION_TIMEOUT_SECONDS": "2", **environment})
    make_key_file(settings.secrets_key_path)
    runtime = Runtime(settings, database=database, wakeups=wakeups, arrivals=arrivals, check_orders=orders)
    house = House(
        runtime,
        database,
        wakeups,
        arrivals,
        orders,
        webhook_key,
        api_key,
        TestClient(hooks.make_app(runtime), follow_redirects=False),
        TestClient(site.make_app(runtime), follow_redirects=False),
    )
    try:
        yield house
    finally:
        database.error = None
        runtime.worker.close()
        database.close()


def applet(**changes: Any) -> Json:
    """An applet's JSON: the event `door` becomes a notification. `event` and `action` are short forms."""
    event = changes.pop("event", "door")
    trigger = changes.pop("kind", "event")
    return {
        "name": "Door",
        "trigger": {"service": "webhooks", "trigger": trigger, "fields": {"event": event}},
        "actions": [notification()],
        **changes,
    }


def notification(message: str = "{{EventName}}: {{Value1}}", **fields: str) -> Json:
    """A notifications action."""
    return {
        "service": "notifications",
        "action": "send_notification",
        "fields": {"message": message, **fields},
    }


def web_request(url: str, **fields: Any) -> Json:
    """A make_web_request action, by default a POST of JSON."""
    return {
        "service": "webhooks",
        "action": "make_web_request",
        "fields": {"url": url, "method": "POST", "body": '{"said": "{{Value1}}"}', **fields},
    }


class Died(BaseException):
    """A worker ends on the spot: nothing of it runs any more."""


def fire_one(house: House, **fields: Any) -> str:
    """Fire one event at an applet with one request; return the execution's id."""
    house.make_applet(actions=[web_request(**fields)])
    house.fire()
    identifier: str = house.activity()[0]["execution_id"]
    return identifier


def die(house: House, execution: str, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the execution in a worker that dies at that point."""

    def dead(*_args: object, **_options: object) -> None:
        raise Died

    with monkeypatch.context() as patch:
        owner: object = Worker if at.startswith("_") else worker_module
        owner = {"mark_sending": claims, "prepare": performing, "perform": performing}.get(at, owner)
        patch.setattr(owner, at, dead)
        with pytest.raises(Died):
            house.run(execution)
