"""Connections on the real server: workers refused at once, and one that dies with the only new tokens (R10)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.conftest import Regime
from tests.support.authorizing import CLIENT, Vendor, registered
from tests.support.processes import wait_for
from tests.support.product import WAKEUPS, SpoolQueue
from tests.support.scenario import OWNER, Product, executions, make_product
from whenthen.clock import Deadline, now_ms
from whenthen.engine import applets
from whenthen.engine.arrivals import Arrival
from whenthen.engine.connections.keeping import NewConnection
from whenthen.model.applet import Applet
from whenthen.settings import Settings
from whenthen.store.connections import ConnectionState, find_connection
from whenthen.store.inbox import list_messages
from whenthen.store.keys import hash_key
from whenthen.vault import make_key_file
from whenthen.wiring import Runtime


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with registered(), Vendor() as running:
        yield running


@pytest.fixture
def product(regime: Regime, tmp_path: Path) -> Iterator[Product]:
    """A product on a fresh real server; its processes are ended."""
    made = make_product(regime.server, tmp_path / "home")
    make_key_file(made.home / "secrets.key")
    yield made
    made.close()


def runtime_of(product: Product) -> Runtime:
    return Runtime(
        Settings.read(product.environment), database=product.database, wakeups=SpoolQueue(product.home / WAKEUPS)
    )


def connect(product: Product, vendor: Vendor) -> str:
    """A connection with its first pair; its id."""
    runtime = runtime_of(product)
    fields = {"url": vendor.url, "client_id": CLIENT[0], "client_secret": CLIENT[1]}
    wanted = NewConnection(service="vendor", name="Vendor", fields=fields, oauth=True)
    made = runtime.connections.create(OWNER, wanted)
    _, url = runtime.authorizations.start(OWNER, made.connection_id, "http://x/oauth/callback")
    runtime.authorizations.finish(vendor.consent(url))
    vendor.calls.clear()
    return made.connection_id


def fire(product: Product, connection_id: str, count: int) -> list[str]:
    """Let applets with the connection be set off; the ids of their executions."""
    document = {
        "name": "Post",
        "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "door"}},
        "actions": [
            {"service": "vendor", "action": "post", "fields": {"text": "{{Value1}}"}, "connection": connection_id}
        ],
    }
    applets.create(product.database, OWNER, Applet.model_validate(document))
    intake = runtime_of(product).intake
    for number in range(count):
        ingredients = {"EventName": "door", "Value1": str(number), "Value2": "", "Value3": "", "OccurredAt": "now"}
        key = hash_key(product.webhook_key)
        arrival = Arrival(key, "webhooks", "event", {"event": "door"}, str(number), ingredients, now_ms(), {})
        intake.accept(arrival, Deadline(10))
    return [row.execution_id for row in executions(product.database)]


def test_two_workers_that_are_refused_at_once_refresh_once(product: Product, vendor: Vendor, regime: Regime) -> None:
    """Given an ended token and one worker process an execution, then one of them gets the next pair for all."""
    connection_id = connect(product, vendor)
    ids = fire(product, connection_id, 2)
    regime.boundary()
    vendor.expire()
    vendor.delay = 1.0
    processes = [product.start("connected", EXECUTION_ID=execution) for execution in ids]
    assert wait_for(lambda: len(list(product.home.glob("ready-*"))) == len(ids), 30)
    (product.home / "go").touch()
    assert wait_for(lambda: not any(process.running for process in processes), 30), processes[0].log()
    assert (vendor.refused, vendor.calls) == (len(ids), ["refresh_token"])
    assert sorted(vendor.posts) == [b"0", b"1"]
    assert {row.state for row in executions(product.database)} == {"succeeded"}
    row = find_connection(product.database, connection_id)
    assert row is not None
    assert (row.state, row.claim, row.lease_until) == (ConnectionState.WORKING, "", 0)


def test_a_worker_that_dies_with_the_new_pair_overwrites_nothing(
    product: Product, vendor: Vendor, regime: Regime
) -> None:
    """The lease runs out, the next one is refused, and the owner is told once: nobody has the newer pair."""
    connection_id = connect(product, vendor)
    account = runtime_of(product).accounts.open(OWNER, connection_id, "vendor", Deadline(10))
    (execution,) = fire(product, connection_id, 1)
    before = find_connection(product.database, connection_id)
    regime.boundary()
    vendor.expire()
    process = product.start("connected", EXECUTION_ID=execution, crash_at="before-pair")
    (product.home / "go").touch()
    assert wait_for(lambda: product.crashed("before-pair"), 30), process.log()
    process.kill9()
    held = find_connection(product.database, connection_id)
    assert before is not None
    assert held is not None
    assert (held.sealed, held.version, held.lease_until > now_ms()) == (before.sealed, before.version, True)
    # As if its time had passed.
    product.database.execute("UPDATE connections SET lease_until = 1")
    accounts = [runtime_of(product).accounts for _ in range(2)]
    assert [each.refused(account, "no", Deadline(10)) for each in accounts] == [None, None]
    assert vendor.calls == ["refresh_token", "refresh_token"]
    broken = find_connection(product.database, connection_id)
    assert broken is not None
    assert (broken.state, broken.sealed) == (ConnectionState.BROKEN, before.sealed)
    messages = list_messages(product.database, OWNER, before=(2**62, ""))
    assert [message.title for message in messages] == ["The connection Vendor is broken"]
