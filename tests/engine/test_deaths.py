"""A worker dies in the middle of several actions: what it left is done or left out, as after any unknown outcome."""

from typing import Any

import pytest
import time_machine

from tests.support.embedded import LEASE, Died, House, notification, web_request
from tests.support.sink import Sink
from whenthen.engine import worker as worker_module


def die_after(house: House, execution: str, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the execution in a worker that dies when it has the answer to the action with this index."""
    judge = worker_module.judge

    def dead(run: Any, *rest: Any) -> Any:
        if run.step == step:
            raise Died
        return judge(run, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(worker_module, "judge", dead)
        with pytest.raises(Died):
            house.run(execution)


@pytest.mark.parametrize(
    ("on_failure", "step", "outcomes", "sent"),
    [
        ("continue", 0, ["unknown", "succeeded", "succeeded"], ["/a", "/b", "/c"]),
        ("continue", 1, ["succeeded", "unknown", "succeeded"], ["/a", "/b", "/c"]),
        ("continue", 2, ["succeeded", "succeeded", "unknown"], ["/a", "/b", "/c"]),
        ("stop", 1, ["succeeded", "unknown", "skipped"], ["/a", "/b"]),
    ],
)
def test_the_other_actions_after_a_death(
    house: House,
    sink: Sink,
    clock: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
    on_failure: str,
    step: int,
    outcomes: list[str],
    sent: list[str],
) -> None:
    """F01: the one that may have been sent is unknown and not repeated; the others are as the owner wants."""
    house.make_applet(on_failure=on_failure, actions=[web_request(sink.url + path) for path in ("/a", "/b", "/c")])
    house.fire()
    execution = house.activity()[0]["execution_id"]
    die_after(house, execution, step, monkeypatch)
    clock.shift(LEASE + 1)
    house.tick()
    clock.shift(LEASE + 1)
    house.tick()
    house.work()
    item = house.execution(execution)
    assert (item["state"], [attempt["outcome"] for attempt in item["attempts"]]) == ("unknown", outcomes)
    assert "may have been sent" in item["reason"]
    assert [request.path for request in sink.requests] == sent
    assert {(attempt["service"], attempt["name"]) for attempt in item["attempts"]} == {("webhooks", "make_web_request")}


def test_what_was_unknown_and_left_out_can_be_run_again(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.make_applet(on_failure="stop", actions=[web_request(sink.url + path) for path in ("/a", "/b", "/c")])
    house.fire()
    execution = house.activity()[0]["execution_id"]
    die_after(house, execution, 1, monkeypatch)
    clock.shift(LEASE + 1)
    house.tick()
    assert house.call("POST", f"/executions/{execution}/rerun", {"only_failed": True}).status_code == 202
    house.work()
    assert house.execution(execution)["state"] == "succeeded"
    assert [request.path for request in sink.requests] == ["/a", "/b", "/b", "/c"]


def test_a_changed_applet_ends_it_as_unknown(
    house: House, sink: Sink, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = house.make_applet(actions=[web_request(sink.url + "/a"), web_request(sink.url + "/b")])
    house.fire()
    execution = house.activity()[0]["execution_id"]
    die_after(house, execution, 1, monkeypatch)
    house.call("PATCH", f"/applets/{made['id']}", {"actions": [notification()] * 3})
    clock.shift(LEASE + 1)
    house.tick()
    house.work()
    assert house.execution(execution)["state"] == "unknown"
    assert house.inbox() == []
