"""An applet that is changed while an execution of it waits, and answers that come late."""

import time_machine

from tests.support.embedded import LEASE, START, House, web_request
from tests.support.sink import Reply, Sink
from whenthen.engine import worker as worker_module


def waiting_at_second(house: House, sink: Sink) -> tuple[str, str]:
    """Make an applet whose second action has to be tried again; return its id and the execution's."""
    sink.reply("/b", [Reply(status=503), Reply()])
    made = house.make_applet(actions=[web_request(sink.url + "/a"), web_request(sink.url + "/b")])
    house.fire()
    house.work()
    execution = house.activity()[0]["execution_id"]
    assert house.execution(execution)["state"] == "waiting"
    return made["id"], execution


def test_fewer_actions_end_the_execution_and_no_neighbour(house: House, sink: Sink) -> None:
    """Given an action that is gone, when its execution is claimed in a batch, the others of the batch run."""
    with time_machine.travel(START) as clock:
        applet, execution = waiting_at_second(house, sink)
        house.make_applet(event="other")
        house.call("PATCH", f"/applets/{applet}", {"actions": [web_request(sink.url + "/a")]})
        house.fire("other")
        neighbour = next(i["execution_id"] for i in house.activity() if i["execution_id"] != execution)
        clock.shift(30)
        assert house.run(execution, neighbour) == set()
        assert house.execution(neighbour)["state"] == "succeeded"
        ended = house.execution(execution)
        assert (ended["state"], "changed while" in ended["reason"]) == ("failed", True)


def test_reordered_actions_do_not_run_one_twice(house: House, sink: Sink) -> None:
    """Given actions in another order, when the execution goes on, the first one is not done again (R5)."""
    with time_machine.travel(START) as clock:
        applet, execution = waiting_at_second(house, sink)
        actions = [web_request(sink.url + "/b"), web_request(sink.url + "/a")]
        house.call("PATCH", f"/applets/{applet}", {"actions": actions})
        clock.shift(30)
        house.run(execution)
        assert [request.path for request in sink.requests] == ["/a", "/b"]
        assert house.execution(execution)["state"] == "failed"


def test_another_name_does_not_stop_a_retry(house: House, sink: Sink) -> None:
    with time_machine.travel(START) as clock:
        applet, execution = waiting_at_second(house, sink)
        house.call("PATCH", f"/applets/{applet}", {"name": "Renamed"})
        clock.shift(30)
        house.run(execution)
        assert house.execution(execution)["state"] == "succeeded"


def test_a_rerun_after_a_failing_action_was_removed_succeeds(house: House, sink: Sink) -> None:
    sink.reply("/b", [Reply(status=400)])
    made = house.make_applet(actions=[web_request(sink.url + "/a"), web_request(sink.url + "/b")])
    house.fire()
    house.work()
    execution = house.activity()[0]["execution_id"]
    assert house.execution(execution)["state"] == "failed"
    house.call("PATCH", f"/applets/{made['id']}", {"actions": [web_request(sink.url + "/a")]})
    assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
    house.work()
    assert house.execution(execution)["state"] == "succeeded"


def test_a_rerun_passes_the_filter_again(house: House, sink: Sink) -> None:
    """Given a filter that is false by now, when an execution runs again, nothing is sent."""
    made = house.make_applet(actions=[web_request(sink.url + "/a")])
    house.fire(query={"value1": "closed"})
    house.work()
    execution = house.activity()[0]["execution_id"]
    house.call("PATCH", f"/applets/{made['id']}", {"filter": "Value1 == 'open'"})
    house.call("POST", f"/executions/{execution}/rerun")
    house.work()
    assert house.execution(execution)["state"] == "skipped"
    assert len(sink.requests) == 1


def test_a_late_answer_in_a_settled_slot_is_followed_up(house: House, sink: Sink) -> None:
    """Given an answer that replaces `unknown` in a settled slot by a retry, then the sweep finds the retry."""
    sink.reply("/a", [Reply(status=503, headers=(("Retry-After", "7200"),)), Reply()])
    with time_machine.travel(START) as clock:
        house.make_applet(actions=[web_request(sink.url + "/a")])
        house.fire()
        execution = house.activity()[0]["execution_id"]
        judge = worker_module.judge

        def late(*args: object, **kwargs: object) -> object:
            clock.shift(3600 + LEASE)
            house.tick()
            assert house.execution(execution)["state"] == "unknown"
            assert house.table("SELECT settled_at FROM slots ORDER BY slot LIMIT 1")[0]["settled_at"]
            return judge(*args, **kwargs)  # type: ignore[arg-type]

        worker_module.judge = late  # type: ignore[assignment]
        house.run(execution)
        worker_module.judge = judge
        assert house.execution(execution)["state"] == "waiting"
        for _ in range(4):
            clock.shift(3600)
            house.tick()
            house.work()
        assert house.execution(execution)["state"] == "succeeded"


def test_many_reruns_with_large_attempts_stay_recordable(house: House, sink: Sink) -> None:
    """Given attempts with as much as they can hold, when an execution runs again and again, it is always recorded."""
    sink.reply("/a", [Reply(status=400, body="💥".encode() * 2000)])
    big = {"body": "💥" * 2000, "additional_headers": "\n".join(f"X-{i}: {'é' * 500}" for i in range(20))}
    house.make_applet(actions=[web_request(sink.url + "/a", content_type="text/plain", **big)] * 10)
    house.fire()
    house.work()
    execution = house.activity()[0]["execution_id"]
    for _ in range(4):
        assert house.call("POST", f"/executions/{execution}/rerun").status_code == 202
        assert house.run(execution) == set()
        assert house.execution(execution)["state"] == "failed"
    assert len(sink.requests) == 50
    attempts = house.execution(execution)["attempts"]
    assert attempts[-1]["request"]["body"].startswith("💥")
    assert attempts[0]["request"] is None, "the oldest lose their details first"
