"""Slots go into the log of a real server, which is killed, is down, or is another than that of the executions."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from tests.server.conftest import Regime
from tests.support.alopex import AlopexServer
from tests.support.history import HOUR, LATER, SLOT, T0, close, counted, expected, fill, is_whole, logged
from tests.support.processes import ROOT, wait_for
from tests.support.scenario import OWNER, Product, call_applet
from tests.support.stores import at_once
from whenthen.clock import Deadline, now_ms
from whenthen.engine.activity import read_activity
from whenthen.engine.closer import close_slots
from whenthen.store.database import ServerDatabase
from whenthen.store.errors import StoreError
from whenthen.store.history import History
from whenthen.store.log import Filters
from whenthen.store.meta import prove_single_flight
from whenthen.store.migrations import migrate
from whenthen.store.slots import list_slots


@pytest.fixture
def same(product: Product) -> History:
    """The log on the server of the executions."""
    return History(product.database, product.database, str(product.server.copy_dir / "load.parquet"))


@pytest.fixture
def apart(product: Product, make_server: Callable[..., AlopexServer]) -> Iterator[tuple[History, AlopexServer]]:
    """The log on a server of its own."""
    server = make_server()
    log = ServerDatabase(server.url, api_key=server.api_key)
    migrate(log)
    prove_single_flight(log)
    yield History(product.database, log, str(server.copy_dir / "load.parquet")), server
    log.close()


@pytest.mark.parametrize("point", ["before-move", "before-load", "after-load", "before-complete", "before-remove"])
def test_a_closer_is_killed(regime: Regime, product: Product, same: History, point: str) -> None:
    """Given a closer killed at a point, when another goes on, then all is in the log, once."""
    made = fill(product.database, count=300)
    regime.boundary()
    process = product.start("closer", crash_at=point, NOW_MS=str(LATER))
    assert wait_for(lambda: product.crashed(point))
    process.kill9()
    close(same)
    is_whole(same, made)


@pytest.mark.parametrize("place", ["same", "apart"])
def test_the_server_is_killed_while_slots_close(
    request: pytest.FixtureRequest, regime: Regime, product: Product, place: str
) -> None:
    """Given closers that go on whatever happens, when the log's server is killed again and again, nothing is lost."""
    found = request.getfixturevalue(place)
    history, server = found if place == "apart" else (found, product.server)
    made = []
    for number in range(12):
        at = T0 + number * HOUR // 2
        made += fill(
            product.database, f"202602{1 + number // 4:02}{number % 4 * 5:02}00", 400, at=at, prefix=f"{number}e"
        )
    regime.boundary()
    done = threading.Event()

    def closer() -> None:
        while list_of_slots() or not done.is_set():
            try:
                close_slots(history, LATER + 100 * HOUR, Deadline(60))
            except StoreError:
                time.sleep(0.05)

    def list_of_slots() -> list[str]:
        try:
            return [row.slot for row in list_slots(history.hot)]
        except StoreError:
            return ["unknown"]

    closers = [threading.Thread(target=closer) for _ in range(2)]
    for thread in closers:
        thread.start()
    for _ in range(4):
        time.sleep(0.35)
        server.kill9()
        server.restart()
    done.set()
    for thread in closers:
        thread.join(120)
    close(history, LATER + 100 * HOUR)
    is_whole(history, made)


def test_closers_on_two_machines(product: Product, apart: tuple[History, AlopexServer]) -> None:
    """Given eight closers at once and slots of several parts, every execution is loaded and counted once."""
    history, _ = apart
    made = fill(product.database, count=900, applets=[f"a{n}" for n in range(60)])
    made += fill(product.database, "202602010000", 100, at=T0 + HOUR // 2, prefix="f")

    def one(_number: int) -> None:
        for _ in range(3):
            close_slots(history, LATER + HOUR, Deadline(60))

    at_once(8, one)
    close(history, LATER + HOUR)
    is_whole(history, made)


def test_a_slow_history_server_holds_up_nobody_else(product: Product, apart: tuple[History, AlopexServer]) -> None:
    """Given a history that is down, slots stay and everything else goes on; when it is back, they close."""
    history, server = apart
    made = fill(product.database, count=50)
    server.stop_server()
    with pytest.raises(StoreError):
        close_slots(history, LATER, Deadline(60))
    _, url = product.start_trigger()
    call_applet(product.database, "http://127.0.0.1:9/", event="door")
    answer = httpx2.post(f"{url}/trigger/door/with/key/{product.webhook_key}", data={"value1": "x"}, trust_env=False)
    assert answer.status_code == 200
    assert [row.slot for row in list_slots(history.hot) if row.slot == SLOT] == [SLOT]
    server.restart()
    close(history)
    is_whole(history, made)


def test_a_tick_needs_no_history(product: Product, apart: tuple[History, AlopexServer]) -> None:
    """Given a history server that is down when a poller starts, its ticks sweep and open slots all the same."""
    _, server = apart
    fill(product.database, count=3)
    server.stop_server()
    process = product.start("ticker", ALOPEX_HISTORY_URL=server.url)
    assert wait_for(lambda: not process.running, 60)
    assert f"slot {SLOT} could not be closed" in process.log()
    slots = [row.slot for row in list_slots(product.database)]
    assert len(slots) == 3, "the present one and the next are open, and the old one waits"
    assert slots[-1] == SLOT


def test_the_settings_name_another_server(product: Product, alopex_binary: Path, tmp_path: Path) -> None:
    """Given ALOPEX_HISTORY_URL, then one command makes both ready, and the poller's tick fills the other one's log."""
    other = AlopexServer(alopex_binary, tmp_path / "other", api_key=product.server.api_key)
    other.start()
    try:
        settings = {"ALOPEX_HISTORY_URL": other.url, "WHENTHEN_COPY_DIR": str(other.copy_dir)}
        made = fill(product.database, count=30)
        process = product.start("ticker", **settings)
        assert wait_for(lambda: not process.running, 60)
        assert "run `whenthen db migrate`" in process.log()
        for command, said in (
            ("migrate", "the server of the history runs one"),
            ("check", "schema of the history is at"),
        ):
            done = subprocess.run(
                [ROOT / ".venv" / "bin" / "whenthen", "db", command],
                env=product.environment | settings,
                capture_output=True,
                text=True,
                check=True,
            )
            assert said in done.stdout
        process = product.start("ticker", **settings)
        assert wait_for(lambda: not process.running, 60)
        log = ServerDatabase(other.url, api_key=other.api_key)
        is_whole(History(product.database, log, str(other.copy_dir / "load.parquet")), made)
        log.close()
    finally:
        other.remove()


def test_webhooks_go_on_while_a_slot_of_6000_closes(regime: Regime, product: Product, same: History) -> None:
    """Given clients that fire all the time, when a large slot closes, all are answered and nothing is lost."""
    made = fill(product.database, count=6000)
    regime.boundary()
    applet = call_applet(product.database, "http://127.0.0.1:9/")
    _, url = product.start_trigger()
    path = f"{url}/trigger/door/with/key/{product.webhook_key}"
    stop = threading.Event()
    answers: list[int] = []

    def client() -> None:
        with httpx2.Client(trust_env=False, timeout=30) as http:
            while not stop.is_set():
                answers.append(http.post(path, data={"value1": "x"}).status_code)

    clients = [threading.Thread(target=client) for _ in range(4)]
    for thread in clients:
        thread.start()
    time.sleep(0.5)
    close_slots(same, LATER, Deadline(60))
    close_slots(same, LATER, Deadline(60))
    stop.set()
    for thread in clients:
        thread.join()
    assert set(answers) == {200}
    is_whole(same, made)
    fired = [item for item in read_activity(same, OWNER, Filters(), limit=200).items if item.applet_id == applet]
    assert len(fired) == min(len(answers), 200)


def test_the_log_survives_a_restart(regime: Regime, product: Product, same: History) -> None:
    made = fill(product.database, count=100)
    close(same)
    regime.boundary()
    product.server.kill9()
    product.server.restart()
    assert counted(same) == expected(made)
    assert len(logged(same)) == 100
    assert now_ms() > LATER
    found = []
    before = None
    while True:
        page = read_activity(same, OWNER, Filters(), limit=30, before=before)
        found += [item.execution_id for item in page.items]
        if (before := page.next) is None:
            break
    assert sorted(found) == sorted(one.execution_id for one in made)
