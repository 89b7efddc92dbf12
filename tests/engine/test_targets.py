"""Hosts that are called: not too often at once, and not while they want to be left alone."""

import threading
import time
from contextlib import ExitStack

import time_machine

from tests.support.embedded import House, web_request
from tests.support.sink import Reply, Sink
from whenthen.engine.targets import MAX_PARALLEL, Targets, target_of


def test_retry_after_holds_for_all_applets_and_workers(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/a", [Reply(429, headers=(("Retry-After", "600"),)), Reply()])
    house.make_applet(actions=[web_request(sink.url + "/a")])
    house.make_applet(event="other", actions=[web_request(sink.url + "/b")])
    house.fire()
    house.work()
    house.fire("other")
    # Another worker knows it from the database.
    house.runtime.worker._performer._targets = Targets(house.database)
    house.work()
    item = house.execution()
    assert (item["state"], item["attempts"]) == ("waiting", [])
    assert item["reason"] == "The target of action 1 wants to be left alone until 2026-11-29 18:15:00."
    assert [request.path for request in sink.requests] == ["/a"]
    clock.shift(606)
    house.run(item["execution_id"])
    assert [request.path for request in sink.requests] == ["/a", "/b"]
    assert [a["number"] for a in house.execution(item["execution_id"])["attempts"]] == [1]


def test_retry_after_holds_for_queries_too(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/q", [Reply(429, headers=(("Retry-After", "600"),)), Reply()])
    query = {"service": "webhooks", "query": "web_request", "fields": {"url": sink.url + "/q"}}
    house.make_applet(queries=[query])
    for _ in range(2):
        house.fire()
        house.work()
    waiting = {item["reason"]: item["execution_id"] for item in house.activity(state="waiting")}
    execution = waiting["The target of query 1 wants to be left alone until 2026-11-29 18:15:00."]
    assert len(sink.requests) == 1
    clock.shift(606)
    house.run(execution)
    assert [(a["kind"], a["number"]) for a in house.execution(execution)["attempts"]] == [("query", 1), ("action", 1)]


def test_another_owner_is_not_held_up(house: House) -> None:
    targets = Targets(house.database)
    targets.leave_alone("owner", "example.org:443", 60)
    for known in (targets, Targets(house.database)):
        assert known.left_alone_until("owner", "example.org:443") is not None
        assert known.left_alone_until("other", "example.org:443") is None
        assert known.left_alone_until("owner", "example.org:80") is None


def test_another_host_is_called_meanwhile(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/a", [Reply(429, headers=(("Retry-After", "600"),))])
    with Sink() as other:
        house.make_applet(actions=[web_request(sink.url + "/a"), web_request(other.url + "/b")])
        house.make_applet(event="other", actions=[web_request(other.url + "/c")])
        house.fire()
        house.work()
        house.fire("other")
        house.work()
        assert [request.path for request in other.requests] == ["/c"]


def test_a_host_is_not_called_more_often_at_once(house: House, sink: Sink) -> None:
    """Given ten executions for a slow host and one for another, then the other does not wait."""
    now, most, lock = 0, 0, threading.Lock()
    targets = Targets(house.database)

    def call() -> None:
        nonlocal now, most
        with targets.calling("example.org:443", 5):
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.02)
            with lock:
                now -= 1

    threads = [threading.Thread(target=call) for _ in range(12)]
    for thread in threads:
        thread.start()
    with targets.calling("example.com:443", 0.01):
        pass
    for thread in threads:
        thread.join()
    assert most == MAX_PARALLEL


def test_waiting_for_a_turn_does_not_shorten_a_request(house: House, sink: Sink) -> None:
    """Given a slow host and more executions than may call it at once, then none is cut short: it would be unknown."""
    sink.reply("/", [Reply(hang=1.2)])
    query = {"service": "webhooks", "query": "web_request", "fields": {"url": sink.url + "/"}}
    house.make_applet(queries=[query], actions=[web_request(sink.url + "/")])
    for _ in range(MAX_PARALLEL + 1):
        house.fire()
    house.run(*(item["execution_id"] for item in house.activity()))
    assert [item["state"] for item in house.activity()] == ["succeeded"] * (MAX_PARALLEL + 1)


def test_without_a_turn_nothing_is_sent(house: House, sink: Sink) -> None:
    house.make_applet(actions=[web_request(sink.url)])
    house.fire()
    targets = house.runtime.worker._performer._targets
    with ExitStack() as calls:
        for _ in range(MAX_PARALLEL):
            calls.enter_context(targets.calling(target_of(sink.url), 0))
        house.run(house.execution()["execution_id"], seconds=7)
    item = house.execution()
    assert (item["state"], sink.requests) == ("waiting", [])
    assert item["reason"] == "Nothing was sent: Too many requests to this host were on their way already."


def test_what_a_target_is() -> None:
    assert target_of("https://Example.org/x?y") == "example.org:443"
    assert target_of("http://example.org:8080") == "example.org:8080"
    assert target_of("http://[::1]/") == "::1:80"
    assert target_of("http://example.org:nope/") == target_of("") == ""
