"""What a function writes to its log, in a process of its own, with the environment that the template gives it."""

import json
import os
import subprocess
import sys
from typing import Any

HEAD = """
import logging
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from whenthen.metrics import Metric, count, measure
from whenthen.observability import logger, observed

context = SimpleNamespace(
    function_name="f", memory_limit_in_mb=1, invoked_function_arn="arn:f", aws_request_id="invocation"
)
engine = logging.getLogger("whenthen.engine.worker")
"""


def run(code: str, **environment: str) -> list[dict[str, Any]]:
    """The lines that `code` writes to standard output."""
    variables = {
        "POWERTOOLS_METRICS_NAMESPACE": "whenthen",
        "POWERTOOLS_SERVICE_NAME": "stack-1",
        "PYTHONWARNINGS": "error",
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", HEAD + code], env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_one_blob_an_invocation() -> None:
    (blob, second) = run("""
@observed
def handler(event, context):
    for number in range(event["times"]):
        count(Metric.ACCEPTED)
        measure(Metric.EVENT_TO_ACTION, number)
    return "answer"

assert handler({"times": 3}, context) == "answer"
handler({"times": 0}, context)
handler({"times": 1}, context)
""")
    (directive,) = blob["_aws"]["CloudWatchMetrics"]
    assert directive == {
        "Namespace": "whenthen",
        "Dimensions": [["service"]],
        "Metrics": [{"Name": "Accepted", "Unit": "Count"}, {"Name": "EventToAction", "Unit": "Milliseconds"}],
    }
    assert (blob["service"], blob["Accepted"], blob["EventToAction"]) == ("stack-1", [3], [0, 1, 2])
    assert (second["service"], second["Accepted"], second["EventToAction"]) == ("stack-1", [1], [0])


def test_an_invocation_that_fails_tells_its_numbers_too() -> None:
    (blob,) = run("""
@observed
def handler(event, context):
    count(Metric.CONFLICTS)
    raise LookupError

try:
    handler({}, context)
except LookupError:
    pass
""")
    assert blob["Conflicts"] == [1]


def test_what_threads_count_is_in_it() -> None:
    (blob,) = run("""
@observed
def handler(event, context):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: count(Metric.SUCCEEDED), range(1000)))

handler({}, context)
""")
    assert blob["Succeeded"] == [1000]


def test_more_values_than_a_blob_holds() -> None:
    """CloudWatch takes 100 values of a metric in one."""
    for number in (99, 100, 250):
        blobs = run(f"""
@observed
def handler(event, context):
    for number in range({number}):
        measure(Metric.CHECK_DURATION, number)

handler({{}}, context)
""")
        assert [value for blob in blobs for value in blob["CheckDuration"]] == list(range(number))
        assert all(len(blob["CheckDuration"]) <= 100 for blob in blobs)
        assert all(blob["service"] == "stack-1" for blob in blobs)


def test_lines_of_the_engine_are_json_with_all_that_they_carry() -> None:
    lines = run("""
@observed
def handler(event, context):
    engine.info("an action was %s", "tried", extra={"correlation_id": event["id"]})
    engine.debug("not at this level")
    logger.warning("a line of the handler's own")

handler({"id": "e1", "requestContext": {"requestId": "api-1"}}, context)
handler({"id": "e2", "requestContext": {"requestId": "api-2"}}, context)
handler({"id": "e3"}, context)
""")
    engine, own = lines[0::2], lines[1::2]
    assert [line["correlation_id"] for line in engine] == ["e1", "e2", "e3"]
    assert [line["api_request_id"] for line in lines[:4]] == ["api-1", "api-1", "api-2", "api-2"]
    assert {(line["level"], line["message"]) for line in engine} == {("INFO", "an action was tried")}
    assert {line["function_request_id"] for line in lines} == {"invocation"}
    # What one event's line carries does not stay for the next.
    assert not any("correlation_id" in line for line in own)
    assert not any("api_request_id" in line for line in lines[4:])


def test_the_level_is_that_of_the_environment() -> None:
    code = 'engine.debug("told")\nengine.info("told")'
    assert [line["level"] for line in run(code, POWERTOOLS_LOG_LEVEL="DEBUG")] == ["DEBUG", "INFO"]
    assert run(code, POWERTOOLS_LOG_LEVEL="WARNING") == []
