"""Test calls on the real server: who waits sees what came, exactly, and nothing else is stored."""

import threading
from collections.abc import Iterator

import httpx2
import pytest

from tests.support.scenario import OWNER, Product
from tests.support.stores import Place, at_once
from whenthen.clock import now_ms
from whenthen.engine import keys, test_calls
from whenthen.engine.arrived import Arrived
from whenthen.engine.test_calls import WAIT_MS
from whenthen.model.applet import TriggerRef
from whenthen.store.keys import add_user
from whenthen.store.test_calls import (
    AwaitedCall,
    delete_awaited,
    delete_over,
    find_test_call,
    wait_for_call,
    write_arrived,
)

DOOR = TriggerRef(service="webhooks", trigger="json_event", fields={"event": "door"})
HOSTILE = '{"id":9223372036854775807,"sql":"\'; DROP TABLE meta; --","html":"<img src=x onerror=alert(1)>","t":"{{x}}"}'


@pytest.fixture
def trigger(product: Product) -> Iterator[httpx2.Client]:
    """A client of a trigger function in a process of its own."""
    _, url = product.start_trigger()
    with httpx2.Client(base_url=url, timeout=20, trust_env=False) as client:
        yield client


def fire(client: httpx2.Client, key: str, payload: str = HOSTILE) -> int:
    return client.post(f"/trigger/door/json/with/key/{key}", content=payload.encode()).status_code


def wait(product: Product, owner: str = OWNER, now: int | None = None) -> Arrived | None:
    return test_calls.wait(product.database, owner, DOOR, now or now_ms()).arrived


def stored(product: Product) -> list[str]:
    return [row["arrived"] for row in product.database.execute("SELECT arrived FROM test_calls")]


def test_only_who_waits_sees_what_came(product: Product, trigger: httpx2.Client) -> None:
    add_user(product.database, "other", "Other")
    _, others_key = keys.create(product.database, "other", "webhook", "test")
    assert (fire(trigger, product.webhook_key), stored(product)) == (200, [])
    assert wait(product) is None
    # Wrong, and of one who does not wait.
    assert (fire(trigger, "wrong"), fire(trigger, others_key)) == (401, 200)
    assert stored(product) == [""]
    assert wait(product, "other") is None
    assert fire(trigger, product.webhook_key) == 200
    arrived = wait(product)
    assert arrived is not None
    assert arrived.ingredients["JsonPayload"] == HOSTILE
    assert wait(product, "other") is None
    assert product.database.execute("SELECT event_id FROM trigger_events") == []


def test_what_comes_after_the_waiting_is_not_stored(product: Product, trigger: httpx2.Client) -> None:
    assert wait(product, now=now_ms() - WAIT_MS) is None
    assert (fire(trigger, product.webhook_key), stored(product)) == (200, [""])


def test_arrivals_of_many_senders_leave_one_of_them(product: Product, trigger: httpx2.Client) -> None:
    wait(product)
    sent = [f'{{"number":{number}}}' for number in range(20)]
    seen: list[Arrived | None] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.append(wait(product))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert at_once(20, lambda number: fire(trigger, product.webhook_key, sent[number])) == [200] * 20
    finally:
        done.set()
        watcher.join()
    found = [arrived.ingredients["JsonPayload"] for arrived in (*seen, wait(product)) if arrived is not None]
    assert found
    assert set(found) <= set(sent)


def test_a_waiting_in_the_store(place: Place) -> None:
    def arrive(now: int, text: str) -> AwaitedCall | None:
        write_arrived(place.database, "t", now=now, arrived_at=now, arrived=text, timeout_seconds=10)
        return find_test_call(place.database, "t")

    assert arrive(5, "nobody") is None
    first = wait_for_call(place.database, "t", "owner", now=10, waits_until=20)
    assert first == AwaitedCall("t", "owner", 10, 20, 0, "")
    place.boundary()
    assert arrive(15, "it's \\ here") == AwaitedCall("t", "owner", 10, 20, 15, "it's \\ here")
    assert wait_for_call(place.database, "t", "owner", now=19, waits_until=29).arrived == "it's \\ here"
    # Over is over to the millisecond, for what comes and for who asks.
    over = arrive(29, "late")
    assert over is not None
    assert over.arrived_at == 15
    assert wait_for_call(place.database, "t", "owner", now=29, waits_until=39) == AwaitedCall(
        "t", "owner", 29, 39, 0, ""
    )


def test_what_is_over_is_deleted_and_counted(place: Place) -> None:
    for name, owner, until in (("a", "owner", 10), ("b", "owner", 11), ("c", "other", 12), ("d", "owner", 12)):
        wait_for_call(place.database, name, owner, now=1, waits_until=until)
    place.boundary()
    delete_over(place.database, 10)
    assert [bool(find_test_call(place.database, name)) for name in "abcd"] == [False, True, True, True]
    delete_over(place.database, 10)
    delete_awaited(place.database, "owner")
    assert [bool(find_test_call(place.database, name)) for name in "abcd"] == [False, False, True, False]
    rows = place.database.execute("SELECT deleted_rows FROM deletions WHERE deleted_from = CAST('test_calls' AS TEXT)")
    assert rows == [{"deleted_rows": 3}]
