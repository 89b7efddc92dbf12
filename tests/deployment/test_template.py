"""The template: what AWS makes of it, and what `sam` says to it."""

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import template as rules
from tests.support.processes import ROOT
from tests.support.template import Template
from whenthen.engine.orders import LEASE_MS

SECRET = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${AlopexApiKeySecret}-??????"
OPEN = {"kms:Decrypt": {"SecretsKey"}}
SEAL = OPEN | {"kms:GenerateDataKey": {"SecretsKey"}}
READ_KEY = {"secretsmanager:GetSecretValue": {SECRET}}


def validate(path: Path) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [ROOT / "scripts" / "sam", "validate", "--lint", "--template", path]
    env = os.environ | {"AWS_DEFAULT_REGION": "eu-central-1"}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_sam_finds_nothing_to_say() -> None:
    done = validate(ROOT / "template.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_sam_would_say_so(tmp_path: Path) -> None:
    broken = tmp_path / "template.yaml"
    broken.write_text((ROOT / "template.yaml").read_text().replace("maxReceiveCount: 5", "maxReceiveTimes: 5"))
    done = validate(broken)
    assert done.returncode != 0
    assert "maxReceiveTimes" in done.stdout + done.stderr


def test_the_template_keeps_every_rule(translated: Template) -> None:
    assert rules.violations(translated) == []


@pytest.mark.parametrize(
    ("function", "allowed"),
    [
        ("TriggerFunction", OPEN | {"sqs:SendMessage": {"WakeupQueue", "IntakeQueue", "CheckQueue"}}),
        ("WorkerFunction", SEAL | {"sqs:SendMessage": {"WakeupQueue"}}),
        (
            "PollerFunction",
            SEAL
            | {
                "sqs:SendMessage": {"WakeupQueue", "CheckQueue"},
                "sqs:ReceiveMessage": {"IntakeQueue"},
                "sqs:DeleteMessage": {"IntakeQueue"},
                "sqs:GetQueueAttributes": {"IntakeQueue"},
            },
        ),
        ("ConsoleFunction", SEAL | {"sqs:SendMessage": {"WakeupQueue"}}),
    ],
)
def test_a_function_may_do_this_and_nothing_else(
    translated: Template, function: str, allowed: dict[str, set[str]]
) -> None:
    assert rules.grants(translated, function) == allowed | READ_KEY


def test_only_worker_and_poller_may_read_queues_that_feed_functions(translated: Template) -> None:
    readers = {
        name
        for name, role in rules.resources(translated, "AWS::IAM::Role").items()
        for arn in role["ManagedPolicyArns"]
        if arn.endswith("AWSLambdaSQSQueueExecutionRole")
    }
    assert readers == {"WorkerFunctionRole", "PollerFunctionRole"}


def test_routes(translated: Template) -> None:
    assert rules.routes(translated) == {
        ("GET", "/trigger/{proxy+}"): "TriggerFunction",
        ("POST", "/trigger/{proxy+}"): "TriggerFunction",
        ("GET", "/use/{proxy+}"): "TriggerFunction",
        ("POST", "/v1/notifications"): "TriggerFunction",
        ("POST", "/hooks/{proxy+}"): "TriggerFunction",
        ("GET", "/hooks/{proxy+}"): "TriggerFunction",
        ("GET", "/button/{proxy+}"): "TriggerFunction",
        ("POST", "/button/{proxy+}"): "TriggerFunction",
        ("POST", "/location/{proxy+}"): "TriggerFunction",
        ("ANY", "/api/{proxy+}"): "ConsoleFunction",
        ("GET", "/oauth/callback"): "ConsoleFunction",
        ("GET", "/"): "ConsoleFunction",
        ("GET", "/{proxy+}"): "ConsoleFunction",
        ("POST", "/{proxy+}"): "ConsoleFunction",
    }


def test_the_key_of_secrets_outlives_the_stack(translated: Template) -> None:
    (name,) = rules.resources(translated, "AWS::KMS::Key")
    assert translated["Resources"][name]["DeletionPolicy"] == "Retain"
    assert translated["Resources"][name]["UpdateReplacePolicy"] == "Retain"


def test_the_poller_ticks_each_minute(translated: Template) -> None:
    (rule,) = rules.resources(translated, "AWS::Events::Rule").values()
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert rule["Targets"][0]["Arn"] == {"Fn::GetAtt": ["PollerFunction", "Arn"]}
    # The tick's time is that of the event: an input of our own would replace it.
    assert "Input" not in rule["Targets"][0]


def test_checks_feed_the_poller(translated: Template) -> None:
    source = rules.resources(translated, "AWS::Lambda::EventSourceMapping")["PollerFunctionChecks"]
    assert source["EventSourceArn"] == {"Fn::GetAtt": ["CheckQueue", "Arn"]}
    # An order that comes again finds its claim gone.
    assert rules.resources(translated, "AWS::SQS::Queue")["CheckQueue"]["VisibilityTimeout"] * 1000 > LEASE_MS


def _statement(template: Template, function: str, number: int) -> dict[str, Any]:
    role = template["Resources"][f"{function}Role"]["Properties"]
    statement: dict[str, Any] = role["Policies"][0]["PolicyDocument"]["Statement"][number]
    return statement


def _properties(template: Template, name: str) -> dict[str, Any]:
    properties: dict[str, Any] = template["Resources"][name]["Properties"]
    return properties


def _variables(template: Template, name: str) -> dict[str, Any]:
    variables: dict[str, Any] = _properties(template, name)["Environment"]["Variables"]
    return variables


@pytest.mark.parametrize(
    ("breaks", "said"),
    [
        (lambda t: _statement(t, "WorkerFunction", 1).update(Action="sqs:*"), "wildcard action sqs:*"),
        (lambda t: _statement(t, "ConsoleFunction", 1).update(Resource="*"), "wildcard resource *"),
        (
            lambda t: _statement(t, "WorkerFunction", 1).update(Resource={"Fn::GetAtt": ["IntakeQueue", "Arn"]}),
            "which WorkerFunction does not use",
        ),
        (lambda t: _statement(t, "TriggerFunction", 0).update(Resource="arn:other"), "on another secret"),
        (
            lambda t: _properties(t, "PollerFunctionRole")["ManagedPolicyArns"].append("policy/AmazonSQSFullAccess"),
            "managed policy policy/AmazonSQSFullAccess",
        ),
        (lambda t: _properties(t, "WakeupQueue").pop("RedrivePolicy"), "WakeupQueue: no dead-letter queue"),
        (lambda t: _properties(t, "IntakeQueue").pop("SqsManagedSseEnabled"), "IntakeQueue: not encrypted"),
        (lambda t: _properties(t, "IntakeQueue").pop("MaximumMessageSize"), "takes other sizes"),
        (lambda t: t["Resources"].pop("IntakeDeadLettersAlarm"), "IntakeDeadLetters: no alarm"),
        (lambda t: _properties(t, "WakeupDeadLetters").pop("MessageRetentionPeriod"), "not kept for 14 days"),
        (lambda t: _properties(t, "WorkerFunctionWakeups").pop("FunctionResponseTypes"), "fails its whole batch"),
        (lambda t: _properties(t, "WorkerFunctionWakeups").pop("ScalingConfig"), "no limit on concurrent workers"),
        (lambda t: _properties(t, "WorkerFunctionWakeups").update(BatchSize=100), "batches of more than 10"),
        (lambda t: _properties(t, "WakeupQueue").update(VisibilityTimeout=359), "less than six times"),
        (lambda t: _properties(t, "CheckQueue").update(VisibilityTimeout=329), "less than six times"),
        (lambda t: t["Resources"].pop("CheckDeadLettersAlarm"), "CheckDeadLetters: no alarm"),
        (lambda t: _properties(t, "ConsoleFunction").update(Timeout=30), "not below that of the HTTP API"),
        (lambda t: _properties(t, "PollerFunction").pop("LoggingConfig"), "its log has no retention"),
        (lambda t: _properties(t, "WorkerFunction").update(Architectures=["arm64"]), "something else than"),
        (lambda t: _variables(t, "WorkerFunction").update(WHENTHEN_WAKUP_QUEUE_URL=""), "is no setting"),
        (lambda t: _variables(t, "PollerFunction").pop("WHENTHEN_INTAKE_QUEUE_URL"), "is not set"),
        (lambda t: _variables(t, "TriggerFunction").update(ALOPEX_API_KEY="k"), "stands in its configuration"),
    ],
)
def test_a_broken_rule_is_seen(translated: Template, breaks: Callable[[Template], object], said: str) -> None:
    broken = copy.deepcopy(translated)
    breaks(broken)
    assert any(said in violation for violation in rules.violations(broken))


def test_sample_settings_are_settings_of_the_template(translated: Template) -> None:
    """`sam local` ignores a variable that no function has."""
    functions = rules.resources(translated, "AWS::Lambda::Function").values()
    names = {name for function in functions for name in rules.environment(function)}
    sample = json.loads((ROOT / "events" / "env.json").read_text())["Parameters"]
    assert sample.keys() == names - rules.POWERTOOLS_NAMES
