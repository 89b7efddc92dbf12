"""What pages show, on the real server while others write: nothing is missed, nothing is stored twice."""

import threading
from typing import Any

import pytest

from tests.server.conftest import Regime
from tests.support.embedded import applet
from tests.support.history import HOUR, LATER, T0, close, fill
from tests.support.scenario import OWNER, Product, call_applet
from tests.support.stores import at_once
from whenthen.clock import Deadline, now_ms
from whenthen.engine import applets
from whenthen.engine.activity import read_activity
from whenthen.engine.closer import close_slots
from whenthen.engine.dashboard import read_dashboard
from whenthen.engine.importing import import_applets
from whenthen.engine.summaries import summarize
from whenthen.errors import Stale
from whenthen.store.applets import list_applets
from whenthen.store.errors import GuardFailed, StoreError
from whenthen.store.history import History
from whenthen.store.log import Filters


@pytest.fixture
def history(product: Product) -> History:
    return History(product.database, product.database, str(product.server.copy_dir / "load.parquet"))


def test_no_page_misses_what_closes_meanwhile(regime: Regime, product: Product, history: History) -> None:
    """Given readers all the time, when slots close and what waited goes to the log, each page has everything once."""
    made = []
    for number in range(4):
        at = T0 + number * HOUR // 2
        slot = ("202601312330", "202602010000", "202602010030", "202602010100")[number]
        made += fill(product.database, slot, 30, at=at, prefix=f"{number}e")
    moved = fill(product.database, "202601302330", 30, at=T0 - 24 * HOUR, prefix="w")
    product.database.execute("INSERT INTO executions_waiting SELECT * FROM executions_202601302330")
    product.database.execute("DROP TABLE executions_202601302330; DELETE FROM slots WHERE slot = '202601302330'")
    expected = sorted(one.execution_id for one in made + moved)
    regime.boundary()
    done = threading.Event()
    wrong: list[Any] = []
    pages = 0

    def reader() -> None:
        nonlocal pages
        while not done.is_set():
            page = read_activity(history, OWNER, Filters(), limit=200)
            if sorted(item.execution_id for item in page.items) != expected:
                wrong.append(page)
            pages += 1

    readers = [threading.Thread(target=reader) for _ in range(3)]
    for thread in readers:
        thread.start()
    for number in range(10):
        # Minute 3 of each ten moves what waits.
        close_slots(history, LATER + number * HOUR // 2 + 13 * 60_000, Deadline(60))
    done.set()
    for thread in readers:
        thread.join(60)
    assert pages > 3
    assert wrong == []
    assert read_activity(history, OWNER, Filters(), limit=200).next is None


def test_the_same_import_eight_times_at_once(regime: Regime, product: Product) -> None:
    document = {"whenthen": 1, "applets": [applet(name=f"A{n}", event=f"e{n}") for n in range(50)]}
    regime.boundary()
    stored = at_once(8, lambda _: import_applets(product.database, OWNER, document, key="k"))
    assert len({tuple(row.applet_id for row in one.rows) for one in stored}) == 1
    assert sorted(applets.parse(row).name for row in list_applets(product.database, OWNER)) == sorted(
        f"A{n}" for n in range(50)
    )


def test_a_delete_is_undone_once(regime: Regime, product: Product) -> None:
    applet_id = call_applet(product.database, "http://127.0.0.1:9/")
    applets.delete(product.database, OWNER, applet_id)
    regime.boundary()

    def undo(_: int) -> str:
        try:
            applets.restore(product.database, OWNER, applet_id, enabled=True)
        except (Stale, GuardFailed) as error:
            return type(error).__name__
        return "restored"

    assert at_once(6, undo).count("restored") == 1
    row = applets.get(product.database, OWNER, applet_id)
    assert (row.enabled, row.version) == (True, 3)
    (trigger,) = product.database.execute("SELECT listeners FROM triggers")
    assert trigger["listeners"] == f'["{applet_id}"]'


def test_lists_and_dashboard_while_slots_close(regime: Regime, product: Product, history: History) -> None:
    """Given slots that close, then no number is ever too large, and in the end all are exact."""
    applet_id = call_applet(product.database, "http://127.0.0.1:9/")
    now = T0 + HOUR
    for number, slot in enumerate(("202601312330", "202602010000")):
        fill(product.database, slot, 400, at=T0 + number * HOUR // 2, prefix=f"{number}e", applets=[applet_id])
    regime.boundary()
    rows = list_applets(product.database, OWNER)
    seen = []
    done = threading.Event()

    def reader() -> None:
        while not done.is_set():
            board = read_dashboard(history, OWNER, days=2, zone="UTC", now=now)
            seen.append(sum(numbers.runs for numbers in board.days.values()))
            seen.append(summarize(history, OWNER, rows, now=now)[applet_id].numbers.runs)

    thread = threading.Thread(target=reader)
    thread.start()
    for number in range(4):
        try:
            close_slots(history, LATER + number * HOUR // 2, Deadline(60))
        except StoreError:
            continue
    done.set()
    thread.join(60)
    close(history, LATER + 4 * HOUR)
    assert seen
    assert max(seen) <= 800
    board = read_dashboard(history, OWNER, days=2, zone="UTC", now=now)
    assert sum(numbers.runs for numbers in board.days.values()) == 800
    assert summarize(history, OWNER, rows, now=now)[applet_id].numbers.runs == 800
    assert now_ms() > now
