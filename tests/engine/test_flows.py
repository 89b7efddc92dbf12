"""Several actions, cool-down, skipping with a reason, running again, dry runs."""

import threading

import pytest
import time_machine

from tests.support.embedded import House, Json, applet, notification, web_request
from tests.support.sink import Reply, Sink


def outcomes(item: Json) -> list[str]:
    return [attempt["outcome"] for attempt in item["attempts"]]


def test_stopping_after_a_failure_says_what_was_left_out(house: House, sink: Sink) -> None:
    sink.reply("/b", [Reply(404)])
    house.make_applet(on_failure="stop", actions=[web_request(sink.url + path) for path in ("/a", "/b", "/c", "/d")])
    house.fire()
    house.work()
    item = house.execution()
    assert (item["state"], outcomes(item)) == ("failed", ["succeeded", "failed", "skipped", "skipped"])
    assert item["reason"].startswith("The target answered 404")
    assert "an action before it did not succeed" in item["attempts"][2]["reason"]
    assert [request.path for request in sink.requests] == ["/a", "/b"]


@pytest.mark.parametrize("on_failure", ["stop", "continue"])
def test_an_unknown_outcome_counts_as_not_succeeded(house: House, sink: Sink, on_failure: str) -> None:
    """F01: shown as unknown, and not repeated."""
    sink.reply("/a", [Reply(close=True)])
    house.make_applet(on_failure=on_failure, actions=[web_request(sink.url + "/a"), web_request(sink.url + "/b")])
    house.fire()
    house.work()
    item = house.execution()
    assert (item["state"], outcomes(item)[0]) == ("unknown", "unknown")
    assert len(sink.requests) == (1 if on_failure == "stop" else 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Value1 == 'open' or skip('The door is ' ~ Value1)", "The door is shut"),
        ("skip('Not on Sundays') if Value1 else true", "Not on Sundays"),
        ("not skip('a\nb')", "a b"),
    ],
)
def test_skip_gives_the_reason(house: House, text: str, reason: str) -> None:
    house.make_applet(filter=text)
    house.fire(query={"value1": "shut"})
    house.work()
    item = house.execution()
    assert (item["state"], item["reason"]) == ("skipped", reason)


def test_skip_is_not_reached_when_the_filter_holds(house: House) -> None:
    house.make_applet(filter="Value1 == 'open' or skip('The door is shut')")
    house.fire(query={"value1": "open"})
    assert house.messages() == ["door: open"]


@pytest.mark.parametrize("text", ["skip()", "Value1|skip", "a.skip('x')", "skip('x')('y')"])
def test_skip_in_other_forms_is_refused(house: House, text: str) -> None:
    answer = house.call("POST", "/applets", applet(filter=text))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "filter")


def test_skip_is_for_filters_alone(house: House) -> None:
    answer = house.call("POST", "/applets", applet(actions=[notification("{{ skip('x') }}")]))
    assert answer.json()["errors"][0]["field"] == "actions.0.fields.message"


def test_a_bouncing_source_with_a_cool_down(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    """D16: two deliveries are two events; the second one is skipped, with the reason."""
    house.make_applet(cool_down_minutes=10, actions=[web_request(sink.url)])
    house.fire()
    clock.shift(0.1)
    house.fire()
    house.work()
    assert [item["state"] for item in house.activity()] in (["skipped", "succeeded"], ["succeeded", "skipped"])
    (skipped,) = house.activity(state="skipped")
    assert skipped["reason"] == "The applet ran at 18:05:00, and its cool-down is 10 minutes."
    clock.shift(9 * 60)
    house.fire()
    house.work()
    assert len(house.activity(state="skipped")) == 2
    # What was skipped does not begin the cool-down anew.
    clock.shift(61)
    house.fire()
    house.work()
    assert len(sink.requests) == 2


def test_a_clock_that_was_wrong_begins_no_long_cool_down(house: House, clock: time_machine.Traveller) -> None:
    """Given a run of a month ahead, then what comes by the right clock runs, and begins its own cool-down."""
    house.make_applet(cool_down_minutes=10)
    clock.shift(30 * 24 * 3600)
    house.fire()
    house.work()
    clock.shift(-30 * 24 * 3600)
    for state in ("succeeded", "skipped"):
        house.fire()
        house.work()
        assert [item["state"] for item in house.table("SELECT state FROM executions_202611291800")].count(state) == 1


def test_what_the_filter_refuses_begins_no_cool_down(house: House, clock: time_machine.Traveller) -> None:
    house.make_applet(cool_down_minutes=10, filter="Value1 == 'open'")
    house.fire(query={"value1": "shut"})
    house.work()
    house.fire(query={"value1": "open"})
    assert house.messages() == ["door: open"]


def test_the_owner_need_not_wait_for_the_cool_down(house: House, sink: Sink) -> None:
    house.make_applet(cool_down_minutes=10, actions=[web_request(sink.url)])
    house.fire()
    house.work()
    house.fire()
    house.work()
    (skipped,) = house.activity(state="skipped")
    assert house.call("POST", f"/executions/{skipped['execution_id']}/rerun").status_code == 202
    house.work()
    assert house.execution(skipped["execution_id"])["state"] == "succeeded"
    assert len(sink.requests) == 2


def test_parallel_workers_let_one_of_many_run(house: House, sink: Sink) -> None:
    """F18: the cool-down is a compare-and-set, no look before a leap."""
    house.make_applet(cool_down_minutes=10, actions=[web_request(sink.url)])
    for _ in range(12):
        house.fire()
    executions = [item["execution_id"] for item in house.activity()]
    threads = [
        threading.Thread(target=house.run, args=executions[start : start + 3]) for start in range(0, len(executions), 3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sink.requests) == 1
    assert len(house.activity(state="skipped")) == 11


def test_a_retry_does_not_wait_for_its_own_cool_down(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/", [Reply(503), Reply()])
    house.make_applet(cool_down_minutes=10, actions=[web_request(sink.url + "/")])
    house.fire()
    house.work()
    item = house.execution()
    clock.move_to(item["due_at"])
    house.run(item["execution_id"])
    assert house.execution()["state"] == "succeeded"


def test_running_failed_actions_again_spares_the_others(house: House, sink: Sink) -> None:
    """F05: with the same keys; what was done stays done."""
    sink.reply("/b", [Reply(404), Reply()])
    house.make_applet(on_failure="stop", actions=[web_request(sink.url + path) for path in ("/a", "/b", "/c")])
    house.fire()
    house.work()
    execution = house.execution()["execution_id"]
    answer = house.call("POST", f"/executions/{execution}/rerun", {"only_failed": True})
    assert answer.status_code == 202
    house.work()
    item = house.execution()
    assert item["state"] == "succeeded"
    assert [(r.path, r.key) for r in sink.requests] == [
        (f"/{path}", f"{execution}.{index}") for path, index in (("a", 0), ("b", 1), ("b", 1), ("c", 2))
    ]
    answer = house.call("POST", f"/executions/{execution}/rerun", {"only_failed": True})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "only_failed")


def test_running_failed_actions_again_from_the_history(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    sink.reply("/b", [Reply(404), Reply(410), Reply()])
    house.make_applet(
        queries=[{"service": "webhooks", "query": "web_request", "fields": {"url": sink.url + "/q"}}],
        actions=[web_request(sink.url + "/a"), web_request(sink.url + "/b?{{query1[0].Body}}")],
    )
    house.fire()
    house.work()
    execution = house.execution()["execution_id"]
    for state in ("failed", "succeeded"):
        for _ in range(3):
            clock.shift(3600)
            house.tick()
        assert house.call("POST", f"/executions/{execution}/rerun", {"only_failed": True}).status_code == 202
        house.work()
        assert house.execution(execution)["state"] == state
    assert [request.path for request in sink.requests] == ["/q", "/a", "/b?ok", "/b?ok", "/b?ok"]


def test_failed_actions_can_not_run_again_when_they_were_changed(house: House, sink: Sink) -> None:
    sink.reply("/b", [Reply(404)])
    made = house.make_applet(actions=[web_request(sink.url + "/a"), web_request(sink.url + "/b")])
    house.fire()
    house.work()
    house.call("PATCH", f"/applets/{made['id']}", {"actions": [web_request(sink.url + "/c")]})
    execution = house.execution()["execution_id"]
    answer = house.call("POST", f"/executions/{execution}/rerun", {"only_failed": True})
    assert (answer.status_code, "changed" in answer.json()["detail"]) == (409, True)
    assert house.execution()["state"] == "failed"


@pytest.mark.parametrize("body", [{"only_failed": 1}, {"only_failed": None}, {"all": True}])
def test_a_bad_wish_to_run_again_is_named(house: House, body: Json) -> None:
    house.make_applet()
    house.fire()
    house.work()
    answer = house.call("POST", f"/executions/{house.execution()['execution_id']}/rerun", body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, next(iter(body)))


def test_a_dry_run_shows_all_and_sends_nothing(house: House, sink: Sink, clock: time_machine.Traveller) -> None:
    made = house.make_applet(
        queries=[{"service": "webhooks", "query": "web_request", "fields": {"url": sink.url + "/q?is={{Value1}}"}}],
        filter="Value1 == 'open' or skip('The door is ' ~ Value1)",
        actions=[
            web_request(sink.url + "/a?token=secret", body='{"said": "{{Value1}} {{query1[0].StatusCode}}"}'),
            {**notification("{{Value2}}", title="{{Nothing}}"), "delay": {"seconds": 60}},
            web_request(sink.url + "/c", additional_headers="X: {{Value3}}"),
        ],
    )
    before = house.table("SELECT COUNT(*) AS n FROM trigger_events")
    answer = house.call("POST", f"/applets/{made['id']}/try", {"ingredients": {"Value2": 'He said "hi"'}})
    assert answer.status_code == 200, answer.text
    trial = answer.json()
    assert trial["filter"] == {"passed": True, "reason": "", "notes": []}
    assert trial["queries"][0]["sends"]["url"] == sink.url + "/q?is=open"
    first, second, third = trial["actions"]
    assert first["sends"]["body"] == '{"said": "open 200"}'
    assert "secret" not in answer.text
    assert first["sends"]["headers"]["Idempotency-Key"] == "try.0"
    assert second["sends"]["message"] == 'He said "hi"'
    assert second["due_at"].startswith("2026-11-29T18:06:00")
    assert second["notes"] == ["title: Nothing is missing: empty text was used"]
    assert third["sends"]["headers"]["X"] == "21.5"
    shut = house.call("POST", f"/applets/{made['id']}/try", {"ingredients": {"Value1": "shut"}}).json()
    assert shut["filter"] == {"passed": False, "reason": "The door is shut", "notes": []}
    assert sink.requests == []
    assert house.activity() == []
    assert house.table("SELECT COUNT(*) AS n FROM trigger_events") == before


def test_a_dry_run_takes_what_no_event_has(house: House) -> None:
    """Half of a character is shown as U+FFFD, and a number that is none is refused."""
    path = f"/applets/{house.make_applet()['id']}/try"
    trial = house.call("POST", path, content=b'{"ingredients": {"Value1": "\\ud800", "\\ud800": 1}}')
    assert trial.json()["actions"][0]["sends"]["message"] == "front_door: \ufffd"
    for value in (b"NaN", b"1e999"):
        answer = house.call("POST", path, content=b'{"ingredients": {"Value1": %s}}' % value)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "ingredients")


def test_a_dry_run_tells_what_can_not_be_done(house: House) -> None:
    made = house.make_applet(
        actions=[notification("{{Value1}}", link="{{Value1}}"), notification("x") | {"delay": {"until": "{{Value2}}"}}]
    )
    trial = house.call("POST", f"/applets/{made['id']}/try", {"ingredients": {"Value1": "javascript:x"}}).json()
    assert [(a["sends"], a["error"].partition(":")[0]) for a in trial["actions"]] == [
        (None, "link"),
        (None, "delay.until"),
    ]
    assert house.call("POST", f"/applets/{made['id']}/try").status_code == 200
    assert house.call("POST", f"/applets/{made['id']}/try", {"ingredients": []}).status_code == 422
    assert house.call("POST", "/applets/none/try").status_code == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"on_failure": "explode"}, "on_failure"),
        ({"cool_down_minutes": 0}, "cool_down_minutes"),
        ({"cool_down_minutes": "5"}, "cool_down_minutes"),
        ({"cool_down_minutes": 10081}, "cool_down_minutes"),
        ({"off_after_failures": 0}, "off_after_failures"),
        ({"off_after_failures": True}, "off_after_failures"),
    ],
)
def test_bad_choices_are_named(house: House, changes: Json, field: str) -> None:
    answer = house.call("POST", "/applets", applet(**changes))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
