"""The functions as built, while something around them fails."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.runtime.test_functions import applet
from tests.support.deployment import Deployment
from tests.support.emulator import HangingPort, InvocationError
from tests.support.processes import wait_for
from tests.support.sink import Sink

ANSWER = (200, "Congratulations! You've fired the door event")


@pytest.fixture(autouse=True)
def door_applet(request: pytest.FixtureRequest) -> None:
    """An applet that sends the event's first value to the sink, where there is a deployment to have it."""
    if "deployment" in request.fixturenames:
        deployment, sink = request.getfixturevalue("deployment"), request.getfixturevalue("sink")
        deployment.api("POST", "/api/applets", applet(sink, trigger="event", body="{{Value1}}"))


def make_overdue(deployment: Deployment) -> None:
    """Let every execution's time to be looked at have passed an hour ago."""
    past = round((datetime.now(UTC) - timedelta(hours=1)).timestamp() * 1000)
    for item in deployment.api("GET", "/api/activity")["items"]:
        execution = item["execution_id"]
        slot = execution.partition(".")[0]
        deployment.sql(
            f"UPDATE executions_{slot} SET wake_at = {past} WHERE execution_id = CAST('{execution}' AS TEXT)"
        )


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_an_event_outlives_a_database_that_is_down(deployment: Deployment, sink: Sink, warm: bool) -> None:
    if warm:
        assert deployment.webhook("trigger_post_json", delivery="first")[:2] == ANSWER
        deployment.work()
    deployment.server.stop_server()
    assert deployment.webhook("trigger_post_json_base64", delivery="second")[:2] == ANSWER
    assert deployment.aws.take("WakeupQueue") == []
    with pytest.raises(InvocationError):
        deployment.tick()

    deployment.server.restart()
    assert deployment.tick()["drained"] == 1
    assert deployment.tick()["drained"] == 0
    deployment.work()
    assert len(sink.requests) == 1 + warm
    assert {execution["state"] for execution in deployment.executions()} == {"succeeded"}

    # The sender's own retry is the same event.
    assert deployment.webhook("trigger_post_json_base64", delivery="second")[:2] == ANSWER
    assert deployment.aws.take("WakeupQueue") == []
    assert deployment.aws.take("IntakeDeadLetters") == []


def test_with_the_queue_down_as_well_the_sender_is_told(deployment: Deployment) -> None:
    assert deployment.webhook("trigger_get")[:2] == ANSWER
    deployment.server.stop_server()
    deployment.aws.down()
    answer = deployment.webhook("trigger_get")
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) > 0


def test_with_nothing_up_a_cold_start_tells_the_sender_too(deployment: Deployment) -> None:
    deployment.server.stop_server()
    deployment.aws.down()
    assert deployment.webhook("trigger_get").status == 503


def test_a_key_page_without_a_database(deployment: Deployment) -> None:
    def page(event: dict[str, Any]) -> None:
        event["rawPath"] = event["requestContext"]["http"]["path"] = f"/use/{deployment.webhook_key}"
        event["rawQueryString"] = ""

    function = deployment.function("TriggerFunction")
    assert function.invoke(deployment.event("trigger_get", page))["statusCode"] == 200
    deployment.server.stop_server()
    assert function.invoke(deployment.event("trigger_get", page))["statusCode"] == 503


def test_a_secret_that_can_t_be_read_costs_no_event(deployment: Deployment) -> None:
    deployment.function("TriggerFunction", ALOPEX_API_KEY_SECRET="gone")
    assert deployment.webhook("trigger_post_json")[:2] == ANSWER
    assert deployment.tick()["drained"] == 1


def test_the_sweep_finds_what_was_never_woken(deployment: Deployment, sink: Sink) -> None:
    assert deployment.webhook("trigger_post_form")[:2] == ANSWER
    assert len(deployment.aws.take("WakeupQueue")) == 1
    # A message that waits is left its time, also when the tick is replayed for a later instant.
    assert deployment.tick(datetime.now(UTC) + timedelta(minutes=30))["overdue"] == 0

    make_overdue(deployment)
    assert deployment.tick()["overdue"] == 1
    assert deployment.tick()["overdue"] == 0
    deployment.work()
    assert [request.body for request in sink.requests] == [b"open"]
    assert [execution["state"] for execution in deployment.executions()] == ["succeeded"]


def test_an_unproven_database_is_refused(unsafe_deployment: Deployment) -> None:
    migrated = unsafe_deployment.whenthen("db", "migrate")
    assert migrated.returncode != 0
    assert "max_concurrency" in migrated.stderr

    unsafe_deployment.webhook_key = "any"
    answer = unsafe_deployment.webhook("trigger_post_json")
    assert answer.status == 503
    assert "max_concurrency" not in answer.body
    assert "max_concurrency = 1" in unsafe_deployment.function("TriggerFunction").log()
    assert unsafe_deployment.aws.take("IntakeQueue") == []


def test_a_trigger_killed_between_commit_and_wake_up(deployment: Deployment, sink: Sink) -> None:
    with HangingPort() as queue:
        function = deployment.function("TriggerFunction", AWS_ENDPOINT_URL_SQS=queue.url)
        failures: list[InvocationError] = []

        def send() -> None:
            try:
                deployment.webhook("trigger_post_json", delivery="only")
            except InvocationError as error:
                failures.append(error)

        sender = threading.Thread(target=send)
        sender.start()
        assert wait_for(queue.reached.is_set, timeout=20), function.log()
        assert deployment.sql("SELECT COUNT(*) AS n FROM trigger_events") == [{"n": 1}]
        deployment.drop("TriggerFunction")
        sender.join()
    assert len(failures) == 1

    (execution,) = deployment.executions()
    assert execution["state"] == "queued"
    assert deployment.aws.take("WakeupQueue") == []
    make_overdue(deployment)
    assert deployment.tick()["overdue"] == 1
    deployment.work()
    assert len(sink.requests) == 1

    assert deployment.webhook("trigger_post_json", delivery="only")[:2] == ANSWER
    assert deployment.aws.take("WakeupQueue") == []
    assert [execution["state"] for execution in deployment.executions()] == ["succeeded"]
    assert len(sink.requests) == 1
