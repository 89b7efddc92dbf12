"""What must hold of alarms and dashboard: they look at what the functions tell, and at all of it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.template import Template, environment, resources
from whenthen.engine.watching import GAUGES
from whenthen.metrics import Metric

AWS_METRICS = {
    "AWS/Lambda": {"Errors", "Throttles", "Duration"},
    "AWS/SQS": {"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"},
}
"""Metrics of AWS's own that are looked at, by namespace."""

STACK = {"Ref": "AWS::StackName"}
ACTIONS = {"Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}

BREAKS_IN_SILENCE = {Metric.OVERDUE, Metric.HOST_REPORT_AGE}
"""An alarm on these rings when nothing comes: the poller does not tick, or knows nothing of the database's host."""


class Watched(NamedTuple):
    """A metric that an alarm or the dashboard looks at; dimension values are as in the template, or logical ids."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]
    statistic: str


def alarms(template: Template) -> dict[str, dict[str, Any]]:
    """Properties of all alarms by logical id."""
    return resources(template, "AWS::CloudWatch::Alarm")


def watched_by(alarm: Mapping[str, Any]) -> list[Watched]:
    """The metrics of an alarm."""
    if "MetricName" in alarm:
        return [_of_alarm(alarm, alarm["Statistic"])]
    stats = [query["MetricStat"] for query in alarm["Metrics"] if "MetricStat" in query]
    return [_of_alarm(stat["Metric"], stat["Stat"]) for stat in stats]


def _of_alarm(metric: Mapping[str, Any], statistic: str) -> Watched:
    dimensions = tuple((item["Name"], _target(item["Value"])) for item in metric["Dimensions"])
    return Watched(metric["Namespace"], metric["MetricName"], dimensions, statistic)


def _target(value: Any) -> str:
    match value:
        case {"Ref": name} | {"Fn::GetAtt": [name, _]}:
            return str(name)
    return str(value)


def widgets(template: Template) -> list[dict[str, Any]]:
    """The properties of each widget of the dashboard, with its type."""
    (dashboard,) = resources(template, "AWS::CloudWatch::Dashboard").values()
    # ${Queue.QueueName} and ${Function} become logical ids.
    body = re.sub(r"\$\{([\w:]+)(\.\w+)?\}", r"\1", dashboard["DashboardBody"]["Fn::Sub"])
    return [{"type": widget["type"], **widget["properties"]} for widget in json.loads(body)["widgets"]]


def on_dashboard(template: Template) -> list[Watched]:
    """The metrics of the dashboard."""
    found = []
    for widget in widgets(template):
        for entry in widget.get("metrics", []):
            options = entry[-1] if isinstance(entry[-1], dict) else {}
            namespace, name, *rest = [item for item in entry if isinstance(item, str)]
            pairs = tuple(zip(rest[::2], rest[1::2], strict=True))
            found.append(Watched(namespace, name, pairs, options.get("stat", widget["stat"])))
    return found


def violations(template: Template) -> list[str]:
    """Every rule of watching that the template breaks, in words."""
    return [*_names(template), *_alarms(template), *_complete(template)]


def _names(template: Template) -> Iterator[str]:
    functions = resources(template, "AWS::Lambda::Function")
    namespaces = {environment(function).get("POWERTOOLS_METRICS_NAMESPACE") for function in functions.values()}
    queues = resources(template, "AWS::SQS::Queue")
    looked_at = [(name, metric) for name, alarm in alarms(template).items() for metric in watched_by(alarm)]
    looked_at += [("Dashboard", metric) for metric in on_dashboard(template)]
    for name, function in functions.items():
        if environment(function).get("POWERTOOLS_SERVICE_NAME") != STACK:
            yield f"{name}: its metrics are not kept apart from another stack's"
    for where, metric in looked_at:
        match metric:
            case Watched("AWS/Lambda", own, (("FunctionName", target),)) if own in AWS_METRICS["AWS/Lambda"]:
                known = target in functions
            case Watched("AWS/SQS", own, (("QueueName", target),)) if own in AWS_METRICS["AWS/SQS"]:
                known = target in queues
            case Watched(namespace, own, (("service", "AWS::StackName"),)):
                known = namespaces == {namespace} and own in set(Metric)
            case _:
                known = False
        if not known:
            yield f"{where}: nobody tells {metric.namespace} {metric.name} {dict(metric.dimensions)}"
        elif metric.namespace in namespaces and not _fits(metric):
            yield f"{where}: {metric.statistic} of {metric.name} says nothing"


def _fits(watched: Watched) -> bool:
    """Whether the statistic says something: a sum of what each tick sees anew does not, nor a maximum of counts."""
    metric = Metric(watched.name)
    if metric.unit == "Milliseconds":
        return watched.statistic in ("p50", "p90", "p99")
    if metric.unit == "Count" and metric not in GAUGES.values():
        return watched.statistic == "Sum"
    if metric in (Metric.DRAINED, Metric.CHECKS_CLAIMED):
        return watched.statistic == "Sum"
    return watched.statistic in ("Maximum", "SampleCount")


def _alarms(template: Template) -> Iterator[str]:
    for name, alarm in alarms(template).items():
        if alarm.get("AlarmActions") != ACTIONS:
            yield f"{name}: nobody hears of it"
        if not alarm.get("AlarmDescription"):
            yield f"{name}: says nothing"
        silence = any(metric.name in BREAKS_IN_SILENCE for metric in watched_by(alarm))
        if alarm.get("TreatMissingData") != ("breaching" if silence else "notBreaching"):
            yield f"{name}: takes silence for the wrong thing"


def _complete(template: Template) -> Iterator[str]:
    on_board = on_dashboard(template)
    for metric in Metric:
        if metric not in {watched.name for watched in on_board}:
            yield f"Dashboard: does not show {metric}"
    shown = {arn for widget in widgets(template) for arn in widget.get("alarms", [])}
    for name in alarms(template).keys() - shown:
        yield f"Dashboard: does not show {name}"
    rings = {(watched.name, watched.dimensions) for alarm in alarms(template).values() for watched in watched_by(alarm)}
    for metric in BREAKS_IN_SILENCE:
        if (metric, (("service", "AWS::StackName"),)) not in rings:
            yield f"no alarm when {metric} is not told"
    for function in resources(template, "AWS::Lambda::Function"):
        for name in ("Errors", "Throttles"):
            if (name, (("FunctionName", function),)) not in rings:
                yield f"{function}: no alarm on its {name}"
    for name, queue in resources(template, "AWS::SQS::Queue").items():
        if "RedrivePolicy" in queue and ("ApproximateAgeOfOldestMessage", (("QueueName", name),)) not in rings:
            yield f"{name}: no alarm on the age of its messages"
