"""The queue inside a process."""

import threading
import time
from collections.abc import Iterator

import pytest

from whenthen.queues import memory
from whenthen.queues.memory import MemoryQueue


class Clock:
    """The monotonic clock, at rest until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(memory, "time", clock)
    return clock


def bodies(queue: MemoryQueue) -> list[str]:
    return [item.body for item in queue.receive(wait_seconds=0)]


def test_in_order_and_ten_at_most(clock: Clock) -> None:
    queue = MemoryQueue()
    assert bodies(queue) == []
    queue.send([str(n) for n in range(25)])
    assert [bodies(queue), bodies(queue), bodies(queue)] == [
        [str(n) for n in range(10)], [str(n) for n in range(10, 20)], [str(n) for n in range(20, 25)],
    ]  # fmt: skip
    assert bodies(queue) == []


def test_a_delayed_message_comes_later(clock: Clock) -> None:
    queue = MemoryQueue()
    queue.send(["late"], delay_seconds=60)
    queue.send(["now"])
    assert bodies(queue) == ["now"]
    clock.now += 59.9
    assert bodies(queue) == []
    clock.now += 0.1
    assert bodies(queue) == ["late"]


def test_what_is_not_deleted_comes_again(clock: Clock) -> None:
    queue = MemoryQueue()
    queue.send(["a", "b"])
    first, second = queue.receive(wait_seconds=0)
    queue.delete(first)
    queue.delete(first)
    clock.now += 119
    assert bodies(queue) == []
    clock.now += 1
    (again,) = queue.receive(wait_seconds=0)
    assert again.body == second.body
    queue.delete(second)
    clock.now += 1000
    assert bodies(queue) == []


def test_an_old_handle_deletes_also_what_came_again(clock: Clock) -> None:
    """As in SQS, where the message is the same one."""
    queue = MemoryQueue()
    queue.send(["a"])
    (first,) = queue.receive(wait_seconds=0)
    clock.now += 121
    assert bodies(queue) == ["a"]
    queue.delete(first)
    clock.now += 121
    assert bodies(queue) == []


@pytest.fixture
def waiting() -> Iterator[tuple[MemoryQueue, list[list[str]], threading.Thread]]:
    queue = MemoryQueue()
    got: list[list[str]] = []
    thread = threading.Thread(target=lambda: got.append([i.body for i in queue.receive(wait_seconds=5)]))
    thread.start()
    yield queue, got, thread
    thread.join(10)


def test_a_waiting_receiver_is_woken(waiting: tuple[MemoryQueue, list[list[str]], threading.Thread]) -> None:
    queue, got, thread = waiting
    started = time.monotonic()
    time.sleep(0.05)
    queue.send(["x"], delay_seconds=0)
    thread.join(5)
    assert got == [["x"]]
    assert time.monotonic() - started < 2


def test_waiting_ends() -> None:
    queue = MemoryQueue()
    queue.send(["later"], delay_seconds=60)
    started = time.monotonic()
    assert queue.receive(wait_seconds=0.1) == []
    assert 0.1 <= time.monotonic() - started < 2


def test_each_message_goes_to_one_of_many_receivers() -> None:
    queue = MemoryQueue()
    got: list[str] = []
    lock = threading.Lock()

    def work() -> None:
        while received := queue.receive(wait_seconds=0.2):
            for item in received:
                queue.delete(item)
                with lock:
                    got.append(item.body)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for n in range(300):
        queue.send([str(n)])
    for thread in threads:
        thread.join()
    assert sorted(got, key=int) == [str(n) for n in range(300)]
