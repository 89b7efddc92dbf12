"""What the functions as built write to their logs: lines of JSON that lead from a webhook to its action; metrics."""

import json
import secrets
from typing import Any

import pytest

from tests.runtime.test_functions import applet
from tests.support.deployment import STACK_NAME, Deployment
from tests.support.sink import Reply, Sink

TICK = {"Overdue", "Drained", "ChecksClaimed", "SlotsOpen", "SlotsStuck", "DeadRows"}
HOST = {"LogUsedBytes", "TableFileBytes", "TableFiles", "HostReportAgeSeconds"}


class Log:
    """What a function has logged since it was last asked."""

    def __init__(self, deployment: Deployment, function: str) -> None:
        self._deployment = deployment
        self._function = function
        self._read = 0
        self.take()

    def take(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Its lines, and its metrics."""
        paths = self._deployment.log_dir.glob(f"{self._function}-*.log")
        text = "".join(path.read_text() for path in sorted(paths))
        new, self._read = text[self._read :], len(text)
        found = [json.loads(line) for line in new.splitlines() if line.startswith("{")]
        return [line for line in found if "_aws" not in line], [line for line in found if "_aws" in line]


def values(blob: dict[str, Any]) -> dict[str, list[float]]:
    """The values of an invocation's metrics, by name, as CloudWatch reads them."""
    (directive,) = blob["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "whenthen"
    assert directive["Dimensions"] == [["service"]]
    assert blob["service"] == STACK_NAME
    return {metric["Name"]: blob[metric["Name"]] for metric in directive["Metrics"]}


@pytest.fixture
def deployed(shared_deployment: Deployment, sink: Sink) -> Deployment:
    """The module's stack with a new owner and an applet that sends what comes to the sink."""
    shared_deployment.become(f"owner-{secrets.token_hex(4)}")
    shared_deployment.aws.take("WakeupQueue")
    shared_deployment.api("POST", "/api/applets", applet(sink, trigger="event", body="{{Value1}}"))
    return shared_deployment


@pytest.fixture
def logs(deployed: Deployment) -> dict[str, Log]:
    """The functions' logs from here on."""
    return {name: Log(deployed, f"{name}Function") for name in ("Trigger", "Worker", "Poller", "Console")}


def test_one_id_from_the_webhook_to_the_target(deployed: Deployment, sink: Sink, logs: dict[str, Log]) -> None:
    answer = deployed.webhook("trigger_post_json")
    event = answer.headers["x-event-id"]
    lines, (blob,) = logs["Trigger"].take()
    assert values(blob) == {"Accepted": [1]}
    (line,) = [line for line in lines if line["message"] == "an event was accepted"]
    assert (line["level"], line["correlation_id"]) == ("INFO", event)
    assert line["api_request_id"] == deployed.event("trigger_post_json")["requestContext"]["requestId"]

    deployed.work()
    (request,) = sink.requests
    lines, (blob,) = logs["Worker"].take()
    told = values(blob)
    assert told.pop("EventToAction")[0] > 0
    assert told == {"Succeeded": [1]}
    about = [line for line in lines if line.get("correlation_id") == event]
    assert [line["message"] for line in about] == [
        "webhooks.make_web_request: succeeded",
        "the execution ended: succeeded",
    ]
    assert about[0]["idempotency_key"] == request.key
    assert request.key.startswith(f"{about[0]['execution_id']}.")
    assert event in request.key


def test_each_line_is_written_once_and_as_json(deployed: Deployment, logs: dict[str, Log]) -> None:
    """The runtime has a handler of its own, which knows neither levels nor what a line carries."""
    deployed.webhook("trigger_post_json", delivery="d")
    deployed.webhook("trigger_post_json", delivery="d")
    lines, blobs = logs["Trigger"].take()
    assert [line["message"] for line in lines] == ["an event was accepted", "an event had arrived before"]
    assert [values(blob) for blob in blobs] == [{"Accepted": [1]}, {"Duplicate": [1]}]
    text = "".join(path.read_text() for path in deployed.log_dir.glob("TriggerFunction-*.log"))
    assert text.count("an event had arrived before") == 1
    assert all(line["function_request_id"] for line in lines)


def test_an_action_that_fails(deployed: Deployment, sink: Sink, logs: dict[str, Log]) -> None:
    sink.reply("/in", [Reply(404)])
    deployed.webhook("trigger_post_json")
    deployed.work()
    lines, (blob,) = logs["Worker"].take()
    assert values(blob)["Failed"] == [1]
    assert "webhooks.make_web_request: failed" in [line["message"] for line in lines]


def test_a_tick_tells_its_numbers(deployed: Deployment, logs: dict[str, Log]) -> None:
    deployed.server.measure()
    written = deployed.server.log_bytes()
    deployed.tick()
    _, (blob,) = logs["Poller"].take()
    told = values(blob)
    assert told.keys() >= TICK | HOST
    assert (told["Overdue"], told["Drained"]) == ([0], [0])
    assert told["LogUsedBytes"] == [written]


def test_a_host_that_says_nothing_is_no_number(deployed: Deployment, logs: dict[str, Log]) -> None:
    """An alarm rings when `HostReportAgeSeconds` is missing."""
    deployed.server.host_report.unlink(missing_ok=True)
    deployed.tick()
    _, (blob,) = logs["Poller"].take()
    assert values(blob).keys() & HOST == set()


def test_an_invocation_with_nothing_to_tell(deployed: Deployment, logs: dict[str, Log]) -> None:
    deployed.api("GET", "/api/activity")
    _, blobs = logs["Console"].take()
    assert blobs == []


def test_a_database_that_is_down(deployment: Deployment, sink: Sink) -> None:
    deployment.api("POST", "/api/applets", applet(sink, trigger="event", body="{{Value1}}"))
    trigger, poller = (Log(deployment, f"{name}Function") for name in ("Trigger", "Poller"))
    deployment.server.stop_server()
    answer = deployment.webhook("trigger_post_json")
    assert answer.status == 200
    assert "x-event-id" not in answer.headers
    lines, (blob,) = trigger.take()
    told = values(blob)
    assert told["SentToIntakeQueue"] == [1]
    assert told.keys() & {"Unreachable", "DatabaseErrors"}
    (sent,) = [line for line in lines if "intake queue" in line["message"]]

    deployment.server.restart()
    deployment.tick()
    lines, (blob,) = poller.take()
    assert (values(blob)["Drained"], values(blob)["Accepted"]) == ([1], [1])
    (accepted,) = [line for line in lines if line["message"] == "an event was accepted"]
    assert accepted["arrival_id"] == sent["arrival_id"]
    (execution,) = deployment.executions()
    assert accepted["correlation_id"] in execution["execution_id"]
