"""kill -9 around a digest: each entry is in one mail, and no mail that may have left is sent again."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.server.conftest import Regime
from tests.support.mail_server import MailServer
from tests.support.processes import wait_for
from tests.support.product import WAKEUPS, SpoolQueue
from tests.support.scenario import OWNER, Product, executions, make_product
from whenthen.clock import now_ms
from whenthen.engine import applets
from whenthen.engine.connections.keeping import NewConnection
from whenthen.engine.sweep import sweep
from whenthen.model.applet import Applet
from whenthen.settings import Settings
from whenthen.store import digests
from whenthen.vault import make_key_file
from whenthen.wiring import Runtime

LATER_MS = 10 * 60_000
"""Past every lease."""

type Fire = Callable[[str], None]


@pytest.fixture
def mails() -> Iterator[MailServer]:
    with MailServer() as server:
        yield server


@pytest.fixture
def product(regime: Regime, tmp_path: Path, mails: MailServer) -> Iterator[Product]:
    """A product with an applet that collects; its mails are due in half a day or so."""
    made = make_product(regime.server, tmp_path / "home")
    runtime = Runtime(Settings.read(made.environment), database=made.database)
    make_key_file(runtime.settings.secrets_key_path)
    account = runtime.connections.create(
        OWNER,
        NewConnection(
            service="email",
            name="Mail",
            fields={"sender": "me@example.org", "host": "127.0.0.1", "port": mails.port, "security": "none"},
        ),
    )
    hour = (now_ms() // 3_600_000 + 12) % 24
    document = {
        "name": "News",
        "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "door"}},
        "actions": [
            {
                "service": "email_digest",
                "action": "add_to_digest",
                "connection": account.connection_id,
                "fields": {"to": "ada@example.org", "title": "{{Value1}}", "time": f"{hour}:00", "zone": "UTC"},
            }
        ],
    }
    applets.create(made.database, OWNER, Applet.model_validate(document))
    yield made
    made.close()


@pytest.fixture
def fire(product: Product) -> Fire:
    _, url = product.start_trigger()

    def fired(value: str) -> None:
        answer = httpx2.post(
            f"{url}/trigger/door/with/key/{product.webhook_key}", data={"value1": value}, timeout=20, trust_env=False
        )
        assert answer.status_code == 200

    return fired


def states(product: Product) -> Counter[str]:
    return Counter(row.state for row in executions(product.database))


def sweep_later(product: Product) -> None:
    sweep(product.database, SpoolQueue(product.home / WAKEUPS), now_ms() + LATER_MS)


def come(product: Product) -> None:
    """Let all mails be due now, and wake who sends them."""
    for row in digests.list_owned(product.database, OWNER):
        digests.bring_forward(product.database, row.sending_id, now_ms())
    sweep_later(product)


@pytest.mark.parametrize("crash_at", ["before-action", "before-outcome"])
def test_killed_while_it_collects(
    regime: Regime, product: Product, fire: Fire, mails: MailServer, crash_at: str
) -> None:
    """F02: an entry that was collected, or was not, before the worker died, is in the mail once."""
    worker = product.start("worker", crash_at=crash_at)
    fire("one")
    assert wait_for(lambda: product.crashed(crash_at))
    worker.kill9()
    regime.boundary()
    assert len(digests.list_owned(product.database, OWNER)) == (crash_at == "before-outcome")
    sweep_later(product)
    product.start("worker")
    fire("two")
    assert wait_for(lambda: states(product) == {"succeeded": 2, "queued": 1})
    regime.boundary()
    come(product)
    assert wait_for(lambda: states(product) == {"succeeded": 3})
    [received] = mails.received
    text = received.message.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert sorted(text.split()) == ["one", "two"]


@pytest.mark.parametrize(
    ("crash_at", "state", "count"),
    [("before-action", "succeeded", 1), ("before-send", "unknown", 0), ("before-outcome", "unknown", 1)],
)
def test_killed_while_it_sends(
    regime: Regime, product: Product, fire: Fire, mails: MailServer, crash_at: str, state: str, count: int
) -> None:
    """F01, F02: a mail that may have left is not sent again; one that can't have left is."""
    worker = product.start("worker")
    fire("one")
    assert wait_for(lambda: states(product) == {"succeeded": 1, "queued": 1})
    worker.kill9()
    regime.boundary()
    worker = product.start("worker", crash_at=crash_at)
    come(product)
    assert wait_for(lambda: product.crashed(crash_at))
    worker.kill9()
    regime.boundary()
    product.start("worker")
    sweep_later(product)
    assert wait_for(lambda: states(product) == Counter({"succeeded": 1}) + Counter({state: 1}))
    assert len(mails.received) == count


def test_what_comes_while_mails_are_closed_is_in_one_of_them(
    regime: Regime, product: Product, fire: Fire, mails: MailServer
) -> None:
    """Given entries that come while mails are sent again and again, then each is in one mail, and none is lost."""
    for _ in range(2):
        product.start("worker")
    for number in range(60):
        fire(f"n{number}")
        if number % 12 == 11:
            come(product)
    assert wait_for(lambda: states(product)["queued"] <= 1 and states(product)["running"] == 0, timeout=30)
    come(product)
    assert wait_for(lambda: states(product).keys() == {"succeeded"}, timeout=30)
    found = [
        word
        for received in mails.received
        for word in received.message.get_body(("plain",)).get_content().split()  # type: ignore[union-attr]
    ]
    assert sorted(found) == sorted(f"n{number}" for number in range(60))
