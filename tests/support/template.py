"""What must hold of the template, as rules over the CloudFormation that AWS makes of it."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.processes import ROOT, ProcessFailedError
from whenthen.engine.worker import BATCH
from whenthen.settings import Settings

type Template = dict[str, Any]

FOURTEEN_DAYS = 1209600
HTTP_API_SECONDS = 30

MANAGED_POLICIES = {
    "AWSLambdaBasicExecutionRole",
    "AWSLambdaVPCAccessExecutionRole",
    "AWSLambdaSQSQueueExecutionRole",
}
"""What the transform attaches by itself: logs, network interfaces, and reading queues that feed a function."""

POWERTOOLS_NAMES = {"POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL"}
EVERYWHERE = {
    "ALOPEX_URL",
    "ALOPEX_API_KEY_SECRET",
    "WHENTHEN_WAKEUP_QUEUE_URL",
    "WHENTHEN_KMS_KEY_ID",
} | POWERTOOLS_NAMES
NEEDED = {
    "TriggerFunction": EVERYWHERE | {"WHENTHEN_INTAKE_QUEUE_URL", "WHENTHEN_CHECK_QUEUE_URL"},
    "WorkerFunction": EVERYWHERE | {"WHENTHEN_ALLOWED_NETWORKS"},
    "PollerFunction": EVERYWHERE
    | {
        "WHENTHEN_INTAKE_QUEUE_URL",
        "WHENTHEN_CHECK_QUEUE_URL",
        "WHENTHEN_ALLOWED_NETWORKS",
        "WHENTHEN_WEATHER_URL",
        "ALOPEX_HISTORY_URL",
        "WHENTHEN_COPY_DIR",
    },
    "ConsoleFunction": EVERYWHERE
    | {"WHENTHEN_ALLOWED_NETWORKS", "WHENTHEN_WEATHER_URL", "ALOPEX_HISTORY_URL", "WHENTHEN_PUBLIC_URL"},
}


def sam_environment() -> Path:
    """The environment of `scripts/sam`, made if this machine has none yet.

    Raises:
        ProcessFailedError: it can't be made; the message says why.
    """
    done = subprocess.run([ROOT / "scripts" / "install-sam"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProcessFailedError(f"scripts/install-sam failed:\n{done.stdout}{done.stderr}")
    return Path(done.stdout.strip())


def translate(template: Path) -> Template:
    """What AWS makes of the SAM template in a file.

    Raises:
        ProcessFailedError: the transform refuses it.
    """
    command = [sam_environment() / "bin" / "python", ROOT / "tests" / "support" / "translate.py", template]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProcessFailedError(f"the template can't be translated:\n{done.stdout}{done.stderr}")
    translated: Template = json.loads(done.stdout)
    return translated


def resources(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    """Properties by logical id of all resources of a type."""
    found = template["Resources"].items()
    return {name: item.get("Properties", {}) for name, item in found if item["Type"] == kind}


def environment(function: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that a function's properties set."""
    variables: dict[str, Any] = function.get("Environment", {}).get("Variables", {})
    return variables


def grants(template: Template, function: str) -> dict[str, set[str]]:
    """Resources by action that the function's own policies allow; a resource is its logical id or its ARN."""
    found: dict[str, set[str]] = {}
    for policy in resources(template, "AWS::IAM::Role")[f"{function}Role"].get("Policies", []):
        for statement in policy["PolicyDocument"]["Statement"]:
            for action in _list(statement["Action"]):
                found.setdefault(action, set()).update(map(_name, _list(statement["Resource"])))
    return found


def routes(template: Template) -> dict[tuple[str, str], str]:
    """Function by method and path."""
    found = {}
    for api in resources(template, "AWS::ApiGatewayV2::Api").values():
        for path, methods in api["Body"]["paths"].items():
            for method, operation in methods.items():
                uri = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
                match = re.search(r"\$\{(\w+)\.Arn\}", uri)
                verb = "ANY" if method == "x-amazon-apigateway-any-method" else method.upper()
                found[verb, path] = match[1] if match else uri
    return found


def violations(template: Template) -> list[str]:
    """Every rule that the template breaks, in words."""
    return [
        *_privileges(template),
        *_queues(template),
        *_event_sources(template),
        *_functions(template),
        *_variables(template),
    ]


def _privileges(template: Template) -> Iterator[str]:
    functions = resources(template, "AWS::Lambda::Function")
    for name, role in resources(template, "AWS::IAM::Role").items():
        for arn in role.get("ManagedPolicyArns", []):
            if not isinstance(arn, str) or arn.rpartition("/")[2] not in MANAGED_POLICIES:
                yield f"{name}: managed policy {arn}"
        function = name.removesuffix("Role")
        used = {_name(value) for value in environment(functions[function]).values()}
        for action, targets in grants(template, function).items():
            if "*" in action:
                yield f"{name}: wildcard action {action}"
            for target in targets:
                if "*" in target:
                    yield f"{name}: wildcard resource {target} for {action}"
                elif action.startswith(("sqs:", "kms:")) and target not in used:
                    yield f"{name}: {action} on {target}, which {function} does not use"
                elif action.startswith("secretsmanager:") and "${AlopexApiKeySecret}" not in target:
                    yield f"{name}: {action} on another secret, {target}"


def _queues(template: Template) -> Iterator[str]:
    queues = resources(template, "AWS::SQS::Queue")
    targets = {
        name: _name(queue["RedrivePolicy"]["deadLetterTargetArn"])
        for name, queue in queues.items()
        if "RedrivePolicy" in queue
    }
    dead_letters = set(targets.values())
    watched = {
        _name(dimension["Value"])
        for alarm in resources(template, "AWS::CloudWatch::Alarm").values()
        for dimension in alarm.get("Dimensions", [])
        if alarm["MetricName"] == "ApproximateNumberOfMessagesVisible" and alarm["Threshold"] == 1
    }
    for name, queue in queues.items():
        if queue.get("SqsManagedSseEnabled") is not True:
            yield f"{name}: not encrypted"
        if name not in dead_letters and targets.get(name) not in queues:
            yield f"{name}: no dead-letter queue"
        if name in dead_letters and name not in watched:
            yield f"{name}: no alarm"
        if name in dead_letters and queue.get("MessageRetentionPeriod") != FOURTEEN_DAYS:
            yield f"{name}: dead letters are not kept for 14 days"
    for name, target in targets.items():
        if target in queues and queues[name].get("MaximumMessageSize") != queues[target].get("MaximumMessageSize"):
            yield f"{name}: its dead-letter queue takes other sizes"


def _event_sources(template: Template) -> Iterator[str]:
    functions = resources(template, "AWS::Lambda::Function")
    queues = resources(template, "AWS::SQS::Queue")
    for name, source in resources(template, "AWS::Lambda::EventSourceMapping").items():
        function = functions[_name(source["FunctionName"])]
        queue = queues[_name(source["EventSourceArn"])]
        if "ReportBatchItemFailures" not in source.get("FunctionResponseTypes", []):
            yield f"{name}: a failed message fails its whole batch"
        if queue.get("VisibilityTimeout", 30) < 6 * function["Timeout"]:
            yield f"{name}: the queue's visibility timeout is less than six times the function's timeout"
        if source["BatchSize"] > BATCH:
            yield f"{name}: batches of more than {BATCH}"
        if "MaximumConcurrency" not in source.get("ScalingConfig", {}):
            yield f"{name}: no limit on concurrent workers"


def _functions(template: Template) -> Iterator[str]:
    log_groups = resources(template, "AWS::Logs::LogGroup")
    behind_http = set(routes(template).values())
    for name, function in resources(template, "AWS::Lambda::Function").items():
        if (function["Runtime"], function["Architectures"]) != ("python3.13", ["x86_64"]):
            yield f"{name}: runs on something else than Python 3.13 on x86_64"
        if name in behind_http and function["Timeout"] >= HTTP_API_SECONDS:
            yield f"{name}: its timeout is not below that of the HTTP API"
        group = _name(function.get("LoggingConfig", {}).get("LogGroup", ""))
        if "RetentionInDays" not in log_groups.get(group, {}):
            yield f"{name}: its log has no retention"


def _variables(template: Template) -> Iterator[str]:
    known = {field.alias for field in Settings.model_fields.values()} | POWERTOOLS_NAMES
    for name, function in resources(template, "AWS::Lambda::Function").items():
        variables = environment(function)
        for unknown in sorted(variables.keys() - known):
            yield f"{name}: {unknown} is no setting"
        for missing in sorted(NEEDED.get(name, EVERYWHERE) - variables.keys()):
            yield f"{name}: {missing} is not set"
        if "ALOPEX_API_KEY" in variables:
            yield f"{name}: the database's key stands in its configuration"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(value: Any) -> str:
    """The logical id that an intrinsic function names, or the text."""
    match value:
        case {"Ref": name}:
            return str(name)
        case {"Fn::GetAtt": [name, *_]}:
            return str(name)
        case {"Fn::Sub": text}:
            return str(text)
    return str(value)
