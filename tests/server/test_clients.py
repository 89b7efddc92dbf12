"""Real clients, unmodified but for the host, against the local run on both engines."""

import json
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyfttt
import pytest
import requests
from pyfttt import cmd_script

from tests.support.alopex import AlopexServer
from tests.support.local import LocalRun, clean_environment, commands, shell

OK = "Congratulations! You've fired the hello event"
MAKER = "https://maker.ifttt.com"


@pytest.fixture(scope="module", params=["embedded", "server"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    server: AlopexServer | None = None
    if request.param == "server":
        server = request.getfixturevalue("shared_server")
    run = LocalRun(tmp_path_factory.mktemp(request.param), server)
    run.start()
    try:
        show_everything(run)
        yield run
    finally:
        code = run.process.stop()
    assert code == 0


def show_everything(run: LocalRun) -> None:
    """Applets that leave what they get in the inbox."""
    known = run.credentials()
    values = "{{EventName}}[{{Value1}}|{{Value2}}|{{Value3}}]"
    for trigger, event, message in (
        ("event", "door", values),
        ("event", "front door_ü", values),
        ("json_event", "door", "json {{JsonPayload}}"),
    ):
        document: dict[str, Any] = {
            "name": "Show",
            "trigger": {"service": "webhooks", "trigger": trigger, "fields": {"event": event}},
            "actions": [{"service": "notifications", "action": "send_notification", "fields": {"message": message}}],
        }
        answer = requests.post(
            f"{known['url']}/api/applets",
            json=document,
            headers={"Authorization": f"Bearer {known['api_key']}"},
            proxies={"http": ""},
            timeout=10,
        )
        assert answer.status_code == 201, answer.text


@pytest.fixture
def elsewhere(run: LocalRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """What any program sends to maker.ifttt.com arrives at the local run: scheme and host are replaced, no more."""
    send = requests.adapters.HTTPAdapter.send

    def send_here(self: Any, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        assert request.url is not None
        assert request.url.startswith(MAKER)
        request.url = run.credentials()["url"] + request.url.removeprefix(MAKER)
        return send(self, request, **{**options, "proxies": {}})

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send_here)


@pytest.mark.usefixtures("elsewhere")
class TestPyfttt:
    def test_values(self, run: LocalRun) -> None:
        key = run.credentials()["webhook_key"]
        answer = pyfttt.send_event(key, "door", "pyfttt", "ü & =\n'\"", 21.5)
        assert (answer.status_code, answer.text) == (200, OK.replace("hello", "door"))
        assert run.wait_for_message("door[pyfttt|") == "door[pyfttt|ü & =\n'\"|21.5]"

    def test_missing_values_are_not_sent(self, run: LocalRun) -> None:
        answer = pyfttt.send_event(run.credentials()["webhook_key"], "door", value2="only two")
        assert answer.status_code == 200
        assert run.wait_for_message("door[|only two|]")

    def test_a_name_with_a_space(self, run: LocalRun) -> None:
        answer = pyfttt.send_event(run.credentials()["webhook_key"], "front door_ü", "spaced")
        assert answer.text == OK.replace("hello", "front door_ü")
        assert run.wait_for_message("front door_ü[spaced|")

    def test_a_wrong_key(self) -> None:
        answer = pyfttt.send_event("wrong", "door")
        assert (answer.status_code, answer.json()) == (401, {"errors": [{"message": "You sent an invalid key."}]})

    def test_its_command(
        self, run: LocalRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        key = run.credentials()["webhook_key"]
        monkeypatch.setattr(sys, "argv", ["pyfttt", f"--key={key}", "-e", "door", "command", "line"])
        cmd_script.main()
        assert capsys.readouterr().out == ""
        assert run.wait_for_message("door[command|line|")

    def test_its_command_as_a_program(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        program = Path(sys.executable).parent / "pyfttt"
        monkeypatch.setenv("IFTTT_API_KEY", "wrong")
        monkeypatch.setattr(sys, "argv", [str(program), "-e", "door"])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(program), run_name="__main__")
        assert ended.value.code == 8
        assert capsys.readouterr().out == "Error: You sent an invalid key.\n"


def curl(*arguments: str) -> tuple[int, str]:
    """Status and body of a request."""
    done = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code}", *arguments],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    body, _, status = done.stdout.rpartition("\n")
    return int(status), body


type Url = Callable[..., str]


@pytest.fixture
def url(run: LocalRun) -> Url:
    known = run.credentials()

    def make(event: str = "door", form: str = "", end: str = "") -> str:
        return f"{known['url']}/trigger/{event}{form}/with/key/{known['webhook_key']}{end}"

    return make


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["-d", "value1=form&value2=two"], "form|two|"),
        (["-X", "POST", "-d", "value1=plus+sign", "-d", "value3=3"], "plus sign||3"),
        (
            ["--data-urlencode", "value1=urlencoded ü&=", "--data-urlencode", "value2@{file}"],
            "urlencoded ü&=|of a file|",
        ),
        (["-G", "--data-urlencode", "value1=get ü"], "get ü||"),
        (["-F", "value1=multipart", "-F", "value2=<{file}"], "multipart|of a file|"),
        (["-F", "value1=attached", "-F", "value2=@{file}"], "attached||"),
        (["--json", '{{"value1": "json", "value2": 9007199254740993}}'], "json|9007199254740993|"),
        (
            ["-H", "Content-Type: application/json", "-d", '{{"value1": "typed", "value2": [1, true]}}'],
            "typed|[1,true]|",
        ),
        (["-H", "Transfer-Encoding: chunked", "-d", "value1=chunked"], "chunked||"),
        (["-H", "Expect: 100-continue", "-d", "value1=expected"], "expected||"),
        (["--http1.0", "-d", "value1=ten"], "ten||"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_curl_bodies(run: LocalRun, url: Url, tmp_path: Path, arguments: list[str], shown: str) -> None:
    file = tmp_path / "value.txt"
    file.write_text("of a file")
    for end in ("", "/"):
        status, body = curl(*[argument.format(file=file) for argument in arguments], url(end=end))
        assert (status, body) == (200, OK.replace("hello", "door"))
    assert run.wait_for_message(f"door[{shown.split('|')[0]}|") == f"door[{shown}]"


def test_curl_queries_and_names(run: LocalRun, url: Url) -> None:
    assert curl(url(end="?value1=query&value2=%C3%BC+x")) == (200, OK.replace("hello", "door"))
    assert run.wait_for_message("door[query|") == "door[query|ü x|]"
    for name in ("front%20door_%C3%BC", "front%20door_ü"):
        assert curl(url(name, end="/?value1=named")) == (200, OK.replace("hello", "front door_ü"))
    assert run.wait_for_message("front door_ü[named")
    assert curl(url("nobody%2Flistens")) == (200, OK.replace("hello", "nobody/listens"))


def test_curl_json_event(run: LocalRun, url: Url) -> None:
    payload = '{"id": 12345678901234567890, "list": [1.10]}'
    for arguments in (["--json", payload], ["-d", payload]):
        assert curl(*arguments, url(form="/json")) == (200, OK.replace("hello event", "door JSON event"))
    assert run.wait_for_message('json {"id": 123') == f"json {payload}"
    status, body = curl("-d", "not json", url(form="/json"))
    assert status == 400
    assert "not JSON" in json.loads(body)["errors"][0]["message"]


def test_curl_head_and_wrong_key(url: Url) -> None:
    assert curl("-I", url())[0] == 405
    status, body = curl(url()[:-5])
    assert (status, body) == (401, '{"errors":[{"message":"You sent an invalid key."}]}')
    assert curl(url().rpartition("/")[0] + "/")[0] == 404


@pytest.mark.parametrize(
    "garbage",
    [
        ["-X", "BREW"],
        ["-H", "Content-Length: 99999999999999999999999", "-d", "x"],
        ["-H", "Content-Type: multipart/form-data; boundary=", "-d", "x"],
        ["-H", "Content-Type: \xff", "-d", "x"],
        ["-H", "Host: [::1", "-d", "x"],
        ["-d", "value1=%"],
        ["-d", "value1=%ff%fe"],
        ["-G", "-d", "value1=" + "x" * 50_000],
        ["--request-target", "//trigger/../..//%00"],
        ["--request-target", "/%"],
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_garbage_is_answered(run: LocalRun, url: Url, garbage: list[str]) -> None:
    assert curl(*garbage, url())[0] in (200, 400, 404, 405, 413, 414, 431)
    assert curl(url()) == (200, OK.replace("hello", "door"))
    assert "Traceback" not in run.printed()


def test_the_banner_as_printed(run: LocalRun) -> None:
    fire, inbox, activity = commands(run.printed())
    assert shell(f"{fire} -sS") == OK
    run.wait_for_message("World says hello at ")
    assert json.loads(shell(f"{inbox} -sS"))["items"]
    assert json.loads(shell(f"{activity} -sS"))["items"]
