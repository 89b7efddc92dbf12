"""Alarms and dashboard of the template: they look at what the functions tell, and docs/aws.md says what each means."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import watch_rules as rules
from tests.support.processes import ROOT
from tests.support.template import Template
from whenthen.engine.housekeeping import DANGEROUS_FILES, DANGEROUS_LOG_SHARE, REBUILD_AT_BYTES
from whenthen.engine.status import MANY_DEAD_ROWS
from whenthen.metrics import Metric

LOG_BYTES = 512 * 1024 * 1024
"""How much the database's write-ahead log holds (ALOPEX.md 9)."""


def test_the_template_keeps_every_rule(translated: Template) -> None:
    assert rules.violations(translated) == []


@pytest.mark.parametrize(
    ("alarm", "metric", "threshold"),
    [
        ("LogFillsAlarm", Metric.LOG_USED, int(LOG_BYTES * DANGEROUS_LOG_SHARE)),
        ("LogNearlyFullAlarm", Metric.LOG_USED, int(LOG_BYTES * 0.8)),
        ("RebuildAlarm", Metric.TABLE_FILE_BYTES, REBUILD_AT_BYTES),
        ("TableFilesAlarm", Metric.TABLE_FILES, DANGEROUS_FILES),
        ("DeadRowsAlarm", Metric.DEAD_ROWS, MANY_DEAD_ROWS),
        ("ConflictsAlarm", Metric.CONFLICTS, 1),
        ("LostWritesAlarm", Metric.LOST_WRITES, 1),
        ("BackpressureAlarm", Metric.BACKPRESSURE, 1),
        ("UnknownAlarm", Metric.UNKNOWN, 1),
        ("SlotsStuckAlarm", Metric.SLOTS_STUCK, 1),
    ],
)
def test_an_alarm_rings_from_here_on(translated: Template, alarm: str, metric: Metric, threshold: int) -> None:
    properties = rules.alarms(translated)[alarm]
    assert (properties["MetricName"], properties["Threshold"]) == (metric, threshold)
    assert properties["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


def test_a_tick_that_does_not_come_is_heard(translated: Template) -> None:
    """It measures `Overdue` once, also when it is 0: less than one measurement is none."""
    alarm = rules.alarms(translated)["PollerSilentAlarm"]
    assert (alarm["Statistic"], alarm["ComparisonOperator"]) == ("SampleCount", "LessThanThreshold")
    assert (alarm["Threshold"], alarm["TreatMissingData"]) == (1, "breaching")


def test_widgets_do_not_lie_on_each_other(translated: Template) -> None:
    (dashboard,) = [item for item in translated["Resources"].values() if item["Type"] == "AWS::CloudWatch::Dashboard"]
    taken: set[tuple[int, int]] = set()
    for widget in json.loads(dashboard["Properties"]["DashboardBody"]["Fn::Sub"])["widgets"]:
        columns = range(widget["x"], widget["x"] + widget["width"])
        fields = {(x, y) for x in columns for y in range(widget["y"], widget["y"] + widget["height"])}
        assert columns.stop <= 24
        assert not fields & taken
        taken |= fields


def _change_dashboard(template: Template, old: str, new: str) -> None:
    body = template["Resources"]["Dashboard"]["Properties"]["DashboardBody"]
    assert old in body["Fn::Sub"]
    body["Fn::Sub"] = body["Fn::Sub"].replace(old, new)


def _properties(template: Template, name: str) -> dict[str, Any]:
    properties: dict[str, Any] = template["Resources"][name]["Properties"]
    return properties


@pytest.mark.parametrize(
    ("breaks", "said"),
    [
        (lambda t: _properties(t, "ConflictsAlarm").update(MetricName="Conflict"), "nobody tells whenthen Conflict"),
        (lambda t: _properties(t, "ConflictsAlarm").update(Namespace="WhenThen"), "nobody tells WhenThen Conflicts"),
        (lambda t: _properties(t, "ConflictsAlarm").update(Dimensions=[]), "nobody tells whenthen Conflicts {}"),
        (lambda t: _properties(t, "ConflictsAlarm").update(Statistic="Maximum"), "Maximum of Conflicts says nothing"),
        (lambda t: _properties(t, "LogFillsAlarm").update(Statistic="Sum"), "Sum of LogUsedBytes says nothing"),
        (lambda t: _properties(t, "ConflictsAlarm").pop("AlarmActions"), "ConflictsAlarm: nobody hears of it"),
        (lambda t: _properties(t, "ConflictsAlarm").pop("AlarmDescription"), "ConflictsAlarm: says nothing"),
        (lambda t: _properties(t, "HostReportAlarm").update(TreatMissingData="notBreaching"), "takes silence for"),
        (lambda t: _properties(t, "ConflictsAlarm").pop("TreatMissingData"), "takes silence for"),
        (lambda t: t["Resources"].pop("HostReportAlarm"), "no alarm when HostReportAgeSeconds is not told"),
        (lambda t: t["Resources"].pop("PollerSilentAlarm"), "no alarm when Overdue is not told"),
        (lambda t: t["Resources"].pop("WorkerErrorsAlarm"), "WorkerFunction: no alarm on its Errors"),
        (lambda t: _properties(t, "ThrottlesAlarm")["Metrics"].pop(), "ConsoleFunction: no alarm on its Throttles"),
        (lambda t: t["Resources"].pop("WakeupDelayAlarm"), "WakeupQueue: no alarm on the age"),
        (lambda t: t["Resources"].pop("CheckQueue"), "nobody tells AWS/SQS ApproximateAgeOfOldestMessage"),
        (lambda t: t["Resources"].pop("ConsoleFunction"), "nobody tells AWS/Lambda Errors"),
        (
            lambda t: _properties(t, "WorkerFunction")["Environment"]["Variables"].pop("POWERTOOLS_METRICS_NAMESPACE"),
            "nobody tells whenthen",
        ),
        (
            lambda t: _properties(t, "WorkerFunction")["Environment"]["Variables"].update(POWERTOOLS_SERVICE_NAME="x"),
            "not kept apart",
        ),
        (lambda t: _change_dashboard(t, '"Accepted"', '"Acceptet"'), "nobody tells whenthen Acceptet"),
        (lambda t: _change_dashboard(t, '"Accepted"', '"Found"'), "Dashboard: does not show Accepted"),
        (lambda t: _change_dashboard(t, '"${ConflictsAlarm.Arn}",', ""), "Dashboard: does not show ConflictsAlarm"),
        (lambda t: _change_dashboard(t, '"stat": "p99", "label"', '"label"'), "Sum of EventToAction says nothing"),
        (lambda t: _change_dashboard(t, '"${WorkerFunction}"', '"Worker"'), "nobody tells AWS/Lambda Errors"),
    ],
)
def test_a_broken_rule_is_seen(translated: Template, breaks: Callable[[Template], object], said: str) -> None:
    broken = copy.deepcopy(translated)
    breaks(broken)
    assert any(said in violation for violation in rules.violations(broken)), rules.violations(broken)


def _named(heading: str) -> set[str]:
    """Names in the first column of the table under a heading of docs/aws.md."""
    section = (ROOT / "docs" / "aws.md").read_text().partition(f"### {heading}\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_metric_is_explained() -> None:
    assert _named("Metrics") == set(Metric)


def test_every_alarm_is_explained(translated: Template) -> None:
    assert _named("Alarms") == rules.alarms(translated).keys()
