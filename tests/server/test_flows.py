"""Delays, queries and cool-downs across kill -9, on the real server."""

from collections import Counter

import httpx2

from tests.server.conftest import Regime
from tests.support.processes import wait_for
from tests.support.product import WAKEUPS, SpoolQueue
from tests.support.scenario import OWNER, Product, executions
from tests.support.sink import Sink
from whenthen.clock import now_ms
from whenthen.engine import applets
from whenthen.engine.sweep import sweep
from whenthen.model.applet import Applet

LATER_MS = 10 * 60_000
"""Past every lease."""


def make_applet(product: Product, sink: Sink, paths: str, **changes: object) -> None:
    """An applet that posts to each path; one with a delay has it after a colon, in seconds."""
    actions = []
    for path in paths.split():
        name, _, seconds = path.partition(":")
        action = {
            "service": "webhooks",
            "action": "make_web_request",
            "fields": {"url": sink.url + name, "method": "POST"},
        }
        actions.append(action | ({"delay": {"seconds": int(seconds)}} if seconds else {}))
    document = {
        "name": "Flow",
        "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "door"}},
        "actions": actions,
        **changes,
    }
    applets.create(product.database, OWNER, Applet.model_validate(document))


def fire(product: Product, url: str, count: int = 1) -> None:
    for _ in range(count):
        answer = httpx2.post(f"{url}/trigger/door/with/key/{product.webhook_key}", timeout=20, trust_env=False)
        assert answer.status_code == 200


def states(product: Product) -> Counter[str]:
    return Counter(row.state for row in executions(product.database))


def sweep_later(product: Product) -> None:
    """Sweep as if ten minutes had passed, so that the leases of killed workers are over."""
    sweep(product.database, SpoolQueue(product.home / WAKEUPS), now_ms() + LATER_MS)


def becomes(product: Product, **wanted: int) -> bool:
    """Whether the executions come to these states. Sweeps wake what is due and end no living worker's lease."""

    def reached() -> bool:
        rows = executions(product.database)
        due = [r.wake_at for r in rows if r.state == "waiting" and r.wake_at and r.due_at and r.due_at <= now_ms()]
        if due:
            sweep(product.database, SpoolQueue(product.home / WAKEUPS), max(due) + 1)
        return Counter(row.state for row in rows) == wanted

    return wait_for(reached)


def test_a_delay_outlives_workers_and_server(regime: Regime, product: Product, sink: Sink) -> None:
    """F14, F15: given a worker and a server killed during the delay, then the next action follows, and it alone."""
    make_applet(product, sink, "/one /two:4")
    _, url = product.start_trigger()
    worker = product.start("worker")
    fire(product, url)
    assert wait_for(lambda: states(product) == {"waiting": 1})
    worker.kill9()
    regime.boundary()
    product.start("worker")
    product.start("worker")

    assert becomes(product, succeeded=1)
    assert [request.path for request in sink.requests] == ["/one", "/two"]
    assert len({request.key for request in sink.requests}) == 2


def test_a_worker_killed_after_the_delay_was_written(regime: Regime, product: Product, sink: Sink) -> None:
    """Given a worker killed at the delayed action, before it was sent, then it is sent once."""
    make_applet(product, sink, "/one /two:1")
    _, url = product.start_trigger()
    worker = product.start("worker")
    fire(product, url)
    assert wait_for(lambda: states(product) == {"waiting": 1})
    worker.kill9()
    dying = product.start("worker", crash_at="before-action")

    def crashed() -> bool:
        sweep_later(product)
        return product.crashed("before-action")

    assert wait_for(crashed)
    dying.kill9()
    regime.boundary()
    sweep_later(product)
    product.start("worker")

    assert becomes(product, succeeded=1)
    assert [request.path for request in sink.requests] == ["/one", "/two"]


def test_a_cool_down_holds_across_workers_and_a_kill(regime: Regime, product: Product, sink: Sink) -> None:
    """D16, F18: given many events at once and a worker killed as it begins the first, then one runs."""
    make_applet(product, sink, "/one", cool_down_minutes=60)
    _, url = product.start_trigger()
    dying = product.start("worker", crash_at="before-action")
    fire(product, url, 10)
    assert wait_for(lambda: product.crashed("before-action"))
    dying.kill9()
    regime.boundary()
    sweep_later(product)
    for _ in range(3):
        product.start("worker")

    assert becomes(product, succeeded=1, skipped=9)
    assert [request.path for request in sink.requests] == ["/one"]


def test_queries_are_asked_again_after_a_kill(regime: Regime, product: Product, sink: Sink) -> None:
    query = {"service": "webhooks", "query": "web_request", "fields": {"url": sink.url + "/q"}}
    make_applet(product, sink, "/one", queries=[query], filter="query1[0].Body == 'ok'")
    _, url = product.start_trigger()
    dying = product.start("worker", crash_at="before-action")
    fire(product, url)
    assert wait_for(lambda: product.crashed("before-action"))
    dying.kill9()
    sweep_later(product)
    product.start("worker")

    assert becomes(product, succeeded=1)
    assert Counter(request.path for request in sink.requests) == {"/q": 2, "/one": 1}
