"""Pollers on the real server: two at once, and one that dies in the middle of a check."""

import json
from collections import Counter

import pytest

from tests.server.conftest import Regime
from tests.support.processes import Process, wait_for
from tests.support.product import WAKEUPS, SpoolQueue
from tests.support.scenario import OWNER, Product, executions
from tests.support.sink import Reply, Sink
from whenthen.clock import Deadline, now_ms
from whenthen.engine import applets
from whenthen.engine.sweep import sweep
from whenthen.engine.wakeups import read_wakeup
from whenthen.model.applet import Applet
from whenthen.settings import Settings
from whenthen.wiring import Runtime

TRIGGERS = 500
LATER_MS = 10 * 60_000
"""Past every lease and interval."""


def make_applet(product: Product, service: str, trigger: str, **fields: object) -> None:
    """An applet that notifies of each event, whose first check the next tick makes."""
    document = {
        "name": "Poll",
        "trigger": {"service": service, "trigger": trigger, "fields": fields},
        "actions": [
            {"service": "notifications", "action": "send_notification", "fields": {"message": "x"}},
        ],
    }
    applets.create(product.database, OWNER, Applet.model_validate(document))


def watch_value(product: Product, url: str) -> None:
    make_applet(product, "web", "json_value_changes", url=url, expression="value")


def watch_feed(product: Product, url: str) -> None:
    make_applet(product, "feed", "new_feed_item", feed_url=url)


def feed(*names: str) -> Reply:
    """A feed with these items, the newest first."""
    items = "".join(f"<item><guid>{name}</guid><title>{name}</title></item>" for name in names)
    text = (
        f"<rss version='2.0'><channel><title>t</title><link>x</link><description>d</description>{items}</channel></rss>"
    )
    return Reply(body=text.encode(), headers=(("Content-Type", "application/rss+xml"),))


def poll(product: Product, now: int, *, crash_at: str = "") -> Process:
    return product.start("poller", crash_at=crash_at, NOW_MS=str(now))


def polled(product: Product, now: int) -> None:
    """Let one poller do all that is due at `now`."""
    process = poll(product, now)
    assert wait_for(lambda: not process.running, 60), process.log()


def work(product: Product) -> None:
    """Do all executions, woken or found by the sweep."""
    queue = SpoolQueue(product.home / WAKEUPS)
    runtime = Runtime(Settings.read({}), database=product.database, wakeups=queue)
    sweep(product.database, queue, now_ms() + LATER_MS)
    while received := queue.receive(wait_seconds=0):
        assert not runtime.worker.run([read_wakeup(item.body) for item in received], Deadline(60))
        for item in received:
            queue.delete(item)


def fetches(sink: Sink) -> Counter[str]:
    return Counter(request.path for request in sink.requests)


def test_c17_two_pollers_check_500_due_triggers_once_each(regime: Regime, product: Product, sink: Sink) -> None:
    paths = [f"/{number}" for number in range(TRIGGERS)]
    for path in paths:
        sink.reply(path, [Reply(body=b'{"value": 1}')])
        watch_value(product, sink.url + path)
    regime.boundary()
    for round_, value in enumerate((1, 2)):
        now = now_ms() + round_ * LATER_MS
        for path in paths:
            sink.reply(path, [Reply(body=json.dumps({"value": value}).encode())])
        sink.requests.clear()
        both = [poll(product, now), poll(product, now)]
        assert wait_for(lambda both=both: not any(process.running for process in both), 120)  # type: ignore[misc]
        assert fetches(sink) == dict.fromkeys(paths, 1)
        regime.boundary()
    found = executions(product.database)
    assert len(found) == len({row.applet_id for row in found}) == TRIGGERS


@pytest.mark.parametrize("crash_at", ["before-commit", "before-wakeups"])
def test_a_poller_that_dies_loses_nothing_and_doubles_nothing(
    regime: Regime, product: Product, sink: Sink, crash_at: str
) -> None:
    """R4: kill -9 between fetch and commit, and between commit and wake-up."""
    sink.reply("/feed", [feed("old")])
    watch_feed(product, f"{sink.url}/feed")
    now = now_ms()
    polled(product, now)
    names = [f"n{number}" for number in range(30)]
    sink.reply("/feed", [feed(*names, "old")])
    process = poll(product, now + LATER_MS, crash_at=crash_at)
    assert wait_for(lambda: product.crashed(crash_at), 30), process.log()
    process.kill9()
    regime.boundary()
    stored = len(executions(product.database))
    assert stored == (0 if crash_at == "before-commit" else 30)
    # While the claim holds nobody else checks; then the next poller finds what is left.
    polled(product, now + LATER_MS + 60_000)
    assert len(executions(product.database)) == stored
    polled(product, now + 2 * LATER_MS)
    polled(product, now + 3 * LATER_MS)
    assert len(executions(product.database)) == 30
    work(product)
    rows = product.database.execute("SELECT ingredients FROM trigger_events")
    titles = Counter(json.loads(row["ingredients"]).get("EntryTitle") for row in rows)
    assert titles == {None: 1, **dict.fromkeys(names, 1)}
    assert Counter(row.state for row in executions(product.database)) == {"succeeded": 30}


def test_a_poller_that_dies_between_two_scripts_of_a_check(regime: Regime, product: Product, sink: Sink) -> None:
    """Given 50 items for 5 applets, which is more than one script takes, then each pair comes once."""
    sink.reply("/feed", [feed("old")])
    for _ in range(5):
        watch_feed(product, f"{sink.url}/feed")
    now = now_ms()
    polled(product, now)
    sink.reply("/feed", [feed(*[f"n{number}" for number in range(50)], "old")])
    process = poll(product, now + LATER_MS, crash_at="between-scripts")
    assert wait_for(lambda: product.crashed("between-scripts"), 30), process.log()
    process.kill9()
    regime.boundary()
    before = len(executions(product.database))
    assert 0 < before < 250
    polled(product, now + 2 * LATER_MS)
    found = executions(product.database)
    assert len(found) == len({(row.execution_id.partition(".")[2]) for row in found}) == 250
    work(product)
    assert Counter(row.state for row in executions(product.database)) == {"succeeded": 250}


def test_the_server_dies_in_the_middle_of_checks(product: Product, sink: Sink) -> None:
    """Given a database that is gone when results are to be stored, then they are found again."""
    for number in range(20):
        sink.reply(f"/{number}", [feed("old")])
        watch_feed(product, f"{sink.url}/{number}")
    now = now_ms()
    polled(product, now)
    for number in range(20):
        sink.reply(f"/{number}", [feed("new", "old")])
    process = poll(product, now + LATER_MS, crash_at="before-commit")
    assert wait_for(lambda: product.crashed("before-commit"), 30), process.log()
    product.server.kill9()
    process.kill9()
    product.server.restart()
    polled(product, now + 2 * LATER_MS)
    found = executions(product.database)
    assert len(found) == len({row.applet_id for row in found}) == 20
