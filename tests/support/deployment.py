"""The whole product as deployed: the built functions, AWS around them, the real database behind them."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import alopex

from tests.support.alopex import AlopexServer
from tests.support.aws import Aws
from tests.support.emulator import Emulated
from tests.support.processes import ROOT
from tests.support.template import Template, environment, resources

EVENTS = ROOT / "events"
STACK_NAME = "whenthen-test"

type Change = Callable[[dict[str, Any]], object]


@dataclass(frozen=True)
class Built:
    """What `scripts/sam-build` made, and what it takes to run it.

    Attributes:
        directory: of the functions and layers.
        template: the built template, as AWS understands it.
        runtime: what the Lambda runtime brings, see `emulator.runtime_packages`.
        emulator: the emulator's binary.
    """

    directory: Path
    template: Template
    runtime: Path
    emulator: Path


class Answer(NamedTuple):
    """An HTTP answer of a function."""

    status: int
    body: str
    headers: dict[str, str]
    cookies: list[str]


@dataclass
class Deployment:
    """The stack of the template, on one machine.

    Its functions get the variables that the template gives them, and start when they are first used.
    """

    built: Built
    server: AlopexServer
    aws: Aws
    log_dir: Path
    api_key: str = ""
    webhook_key: str = ""
    _running: dict[str, Emulated] = field(default_factory=dict)

    def whenthen(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the real command against the database."""
        command: list[str | Path] = [Path(sys.executable).with_name("whenthen"), *arguments]
        env = os.environ | {"ALOPEX_URL": self.server.url, "ALOPEX_API_KEY": self.server.api_key}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    def migrate(self) -> None:
        """Bring the schema up to date, as docs/aws.md says."""
        migrated = self.whenthen("db", "migrate")
        assert migrated.returncode == 0, migrated.stderr

    def become(self, owner: str) -> None:
        """Make an owner and use its keys from now on; nothing of other owners is seen."""
        created = self.whenthen("owner", "create", owner)
        assert created.returncode == 0, created.stderr
        keys = dict(line.split(" key: ") for line in created.stdout.splitlines())
        self.api_key, self.webhook_key = keys["api"], keys["webhook"]

    def function(self, name: str, **variables: str) -> Emulated:
        """The function, started with these variables besides its own if it does not run yet."""
        if name not in self._running:
            properties = resources(self.built.template, "AWS::Lambda::Function")[name]
            self._running[name] = Emulated(
                name,
                build=self.built.directory,
                runtime=self.built.runtime,
                emulator=self.built.emulator,
                environment=self._environment(properties) | variables,
                log_dir=self.log_dir,
                handler=properties["Handler"],
                timeout=properties["Timeout"],
                memory=properties["MemorySize"],
            )
            self._running[name].start()
        return self._running[name]

    def drop(self, name: str) -> None:
        """SIGKILL the function's instance; the next use starts another."""
        self._running.pop(name).kill9()

    def event(self, name: str, change: Change | None = None) -> dict[str, Any]:
        """A sample event of `events/`, with this deployment's keys, changed in place by `change`."""
        text = (EVENTS / f"{name}.json").read_text()
        text = text.replace("WEBHOOK_KEY", self.webhook_key).replace("API_KEY", self.api_key)
        event: dict[str, Any] = json.loads(text)
        if change is not None:
            change(event)
        return event

    def webhook(self, name: str, *, delivery: str = "") -> Answer:
        """Send a sample event to the trigger function, named by an Idempotency-Key if one is given."""
        event = self.event(name)
        if delivery:
            event["headers"]["idempotency-key"] = delivery
        return _answer(self.function("TriggerFunction").invoke(event))

    def api(self, method: str, path: str, document: Any = None) -> Any:
        """Call the management API through the console function; the answer's document.

        Raises:
            AssertionError: it answered an error.
        """

        def change(event: dict[str, Any]) -> None:
            http = event["requestContext"]["http"]
            event["rawPath"] = http["path"] = path
            event["rawQueryString"] = ""
            event.pop("queryStringParameters", None)
            http["method"] = method
            if document is not None:
                event["headers"]["content-type"] = "application/json"
                event["body"] = json.dumps(document)

        answer = _answer(self.function("ConsoleFunction").invoke(self.event("console_activity", change)))
        assert answer.status < 300, answer
        return json.loads(answer.body)

    def page(self, path: str, form: dict[str, str] | None = None, cookies: Sequence[str] = ()) -> Answer:
        """Ask the console function for a page, or send it a form, as API Gateway does for a browser."""

        def change(event: dict[str, Any]) -> None:
            http = event["requestContext"]["http"]
            event["rawPath"] = http["path"] = path
            event["rawQueryString"] = ""
            event.pop("queryStringParameters", None)
            event["cookies"] = list(cookies)
            if form is not None:
                http["method"] = "POST"
                event["headers"]["content-type"] = "application/x-www-form-urlencoded"
                # API Gateway sends the body of a form in base64.
                event["body"] = base64.b64encode(urlencode(form).encode()).decode()
                event["isBase64Encoded"] = True

        return _answer(self.function("ConsoleFunction").invoke(self.event("console_page", change)))

    def work(self) -> dict[str, Any]:
        """Deliver up to ten waiting wake-ups to the worker, as the event source does; what it returned."""
        messages = self.aws.receive("WakeupQueue")
        assert messages, "no wake-up waits"
        answer: dict[str, Any] = self.function("WorkerFunction").invoke(self.aws.event("WakeupQueue", messages))
        again = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        for message in messages:
            if message["MessageId"] not in again:
                self.aws.delete("WakeupQueue", message)
        return answer

    def tick(self, when: datetime | None = None) -> dict[str, int]:
        """Let the poller do the minute of `when`, now by default."""
        time = (when or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
        event = self.event("poller_tick", lambda event: event.update(time=time))
        report: dict[str, int] = self.function("PollerFunction").invoke(event)
        return report

    def check(self) -> dict[str, Any]:
        """Deliver up to ten waiting orders to the poller, as the event source does; what it returned."""
        messages = self.aws.receive("CheckQueue")
        assert messages, "no order waits"
        answer: dict[str, Any] = self.function("PollerFunction").invoke(self.aws.event("CheckQueue", messages))
        again = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        for message in messages:
            if message["MessageId"] not in again:
                self.aws.delete("CheckQueue", message)
        return answer

    def sql(self, statement: str) -> list[dict[str, Any]]:
        """Run a statement on the database, past the product."""
        database = alopex.connect(self.server.url, api_key=self.server.api_key)
        try:
            rows = database.execute_sql(statement)
            return rows if isinstance(rows, list) else []
        finally:
            database.close()

    def executions(self) -> list[dict[str, Any]]:
        """All executions, in detail."""
        items = self.api("GET", "/api/activity")["items"]
        return [self.api("GET", f"/api/executions/{item['execution_id']}") for item in items]

    def close(self) -> None:
        """End every function."""
        while self._running:
            self._running.popitem()[1].kill9()

    def _environment(self, properties: dict[str, Any]) -> dict[str, str]:
        values = self.aws.queues | {
            "AWS::StackName": STACK_NAME,
            "AlopexUrl": self.server.url,
            "AlopexApiKeySecret": self.aws.secret,
            "AllowedNetworks": "127.0.0.0/8",
            "SecretsKey": self.aws.kms_key,
            "PublicUrl": "",
            "WeatherUrl": "http://127.0.0.1:9",
            "AlopexHistoryUrl": "",
            "CopyDir": str(self.server.copy_dir),
            "LogLevel": "INFO",
        }
        variables = {
            name: values[value["Ref"]] if isinstance(value, dict) else str(value)
            for name, value in environment(properties).items()
        }
        return variables | self.aws.environment


def _answer(answer: dict[str, Any]) -> Answer:
    assert answer["isBase64Encoded"] is False
    return Answer(answer["statusCode"], answer["body"], answer.get("headers", {}), answer.get("cookies", []))
