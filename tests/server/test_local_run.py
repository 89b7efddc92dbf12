"""`whenthen run`: from an empty directory to a demo that works, through restarts, signals and mistakes."""

import json
import signal
import socket
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.alopex import MakeServer
from tests.support.local import LocalRun, commands, run_command, shell
from tests.support.processes import free_port
from tests.support.sink import Reply, Sink

type MakeRun = Callable[..., LocalRun]


@pytest.fixture
def make_run(tmp_path: Path) -> Iterator[MakeRun]:
    runs: list[LocalRun] = []

    def make(name: str = "with a space", **options: Any) -> LocalRun:
        runs.append(LocalRun(tmp_path / name, **options))
        return runs[-1]

    yield make
    for run in runs:
        run.process.kill9()


@pytest.mark.parametrize("engine", ["embedded", "server"])
def test_the_first_run(make_run: MakeRun, make_server: MakeServer, engine: str) -> None:
    run = make_run(server=make_server() if engine == "server" else None)
    banner = run.start()
    known = run.credentials()
    assert set(known) == {"url", "webhook_key", "api_key"}
    assert known["url"] == f"http://127.0.0.1:{run.port}"
    assert stat.S_IMODE((run.home / "credentials.json").stat().st_mode) == 0o600
    assert list(run.home.glob("*.part")) == []
    assert known["webhook_key"] in banner
    assert ("slows down" in banner) == (engine == "embedded")

    fire, inbox, activity = commands(banner)
    assert shell(f"{fire} -sS") == "Congratulations! You've fired the hello event"
    run.wait_for_message("World says hello at ")
    (item,) = json.loads(shell(f"{activity} -sS"))["items"]
    assert (item["state"], item["applet_name"]) == ("succeeded", "Hello from a webhook")
    assert json.loads(shell(f"{inbox} -sS"))["items"][0]["title"] == "hello"

    assert run.process.stop(signal.SIGTERM) == 0
    again = run.start()
    assert not any(known[name] in again for name in ("webhook_key", "api_key"))
    assert run.credentials() == known
    fire, inbox, activity = commands(again)
    assert shell(f"{fire} -sS") == "Congratulations! You've fired the hello event"
    assert len(json.loads(shell(f"{activity} -sS"))["items"]) == 2
    assert len(run.get("/applets")["items"]) == 1
    assert json.loads(shell(f"{inbox} -sS"))["items"]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it(make_run: MakeRun, sign: signal.Signals) -> None:
    run = make_run()
    run.start()
    # A kept connection and half a request hold nothing up for long.
    with socket.create_connection(("127.0.0.1", run.port)) as idle:
        idle.sendall(b"GET /api/services HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.recv(100).startswith(b"HTTP/1.1 401")
        started = time.monotonic()
        assert run.process.stop(sign) == 0
    assert time.monotonic() - started < 5
    assert "Stopping" in run.printed()
    assert "Traceback" not in run.printed()


def test_kill_9_loses_nothing(make_run: MakeRun) -> None:
    run = make_run()
    fire = commands(run.start())[0]
    for n in range(5):
        assert "Congratulations" in shell(f"{fire.replace('World', f'n{n}')} -sS")
    run.process.kill9()
    run.start()
    # What was accepted but not done is found by the sweep of the start or of the minute after.
    assert len(run.get("/activity")["items"]) == 5
    assert run.process.stop() == 0


def test_what_waited_in_the_intake_directory_is_taken_in(make_run: MakeRun) -> None:
    run = make_run()
    run.start()
    assert run.process.stop() == 0
    from whenthen.engine.arrivals import Arrival
    from whenthen.queues.directory import DirectoryQueue
    from whenthen.store.keys import hash_key

    arrival = Arrival(
        key_hash=hash_key(run.credentials()["webhook_key"]),
        service="webhooks",
        trigger="event",
        fields={"event": "hello"},
        unique="u",
        ingredients={"EventName": "hello", "Value1": "Patience", "OccurredAt": "then"},
        occurred_at=1_795_975_200_000,
        headers={},
    )
    DirectoryQueue(run.home / "intake").send([arrival.to_json()])
    (run.home / "intake" / "0.json").write_bytes(b"\xff")
    (run.home / "intake" / "1.json").write_text("{}")
    run.start()
    assert run.wait_for_message("Patience") == "Patience says hello at then"
    assert run.process.stop() == 0


def test_lost_credentials_are_made_anew(make_run: MakeRun) -> None:
    run = make_run()
    run.start()
    old = run.credentials()
    run.process.stop()
    (run.home / "credentials.json").write_text("{")
    banner = run.start()
    assert run.credentials() != old
    assert run.credentials()["webhook_key"] in banner
    assert "Congratulations" in shell(f"{commands(banner)[0]} -sS")


def test_the_port_is_taken(make_run: MakeRun) -> None:
    run = make_run()
    with socket.create_server(("127.0.0.1", run.port)):
        done = run.command("run")
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: can't listen on 127.0.0.1:{run.port}")
    assert "WHENTHEN_PORT" in done.stderr
    assert not run.home.exists()


def test_a_second_process_on_the_same_home(make_run: MakeRun) -> None:
    run = make_run()
    run.start()
    for arguments in (("run",), ("db", "check"), ("db", "migrate")):
        done = run.command(*arguments, WHENTHEN_PORT=str(free_port()))
        assert done.returncode == 1
        assert done.stderr.startswith("Error: ")
        assert "Traceback" not in done.stderr
        assert "another process" in done.stderr or "lock" in done.stderr
    assert run.get("/applets")["items"]


def test_an_unsafe_server_is_refused(make_run: MakeRun, make_server: MakeServer) -> None:
    run = make_run(server=make_server(max_concurrency=None))
    for arguments in (("run",), ("db", "migrate"), ("db", "check")):
        done = run.command(*arguments)
        assert done.returncode == 1
        assert "max_concurrency = 1" in done.stderr
    assert not (run.home / "credentials.json").exists()


def test_a_server_that_is_not_there(make_run: MakeRun) -> None:
    done = make_run().command("run", ALOPEX_URL=f"http://127.0.0.1:{free_port()}")
    assert (done.returncode, done.stderr.startswith("Error: ")) == (1, True)


def test_commands_of_the_database(make_run: MakeRun) -> None:
    run = make_run()
    done = run.command("db", "check")
    assert done.returncode == 1
    assert "whenthen db migrate" in done.stderr
    assert run.command("db", "migrate").stdout.startswith("Applied schema versions")
    assert "already" in run.command("db", "migrate").stdout
    assert run.command("db", "check").returncode == 0
    made = run.command("owner", "create", "ann", "--name", "Ann")
    assert [line.partition(":")[0] for line in made.stdout.splitlines()] == ["api key", "webhook key"]
    assert run.command("owner", "create", "ann").stderr == "Error: There is an owner ann already.\n"
    for name in ("", " ", "a\nb"):
        assert run.command("owner", "create", name).returncode == 2


SPRING = {
    "name": "Spring",
    "trigger": {
        "service": "date_time",
        "trigger": "every_day_at",
        "fields": {"time": "02:30", "zone": "Europe/Paris"},
    },
    "actions": [{"service": "notifications", "action": "send_notification", "fields": {"message": "at {{CheckTime}}"}}],
}


def test_a_tick_by_hand_does_all_by_itself(make_run: MakeRun, make_server: MakeServer) -> None:
    """Given a local run on a server, when a day in spring is replayed, then its slot runs once, at 3 o'clock."""
    run = make_run(server=make_server())
    run.start()
    made = run.post("/applets", SPRING)
    assert made["check"]["state"] == "ok"
    for _ in range(2):
        done = run.command("tick", "--time", "2027-03-28T01:00:00Z")
        assert done.returncode == 0, done.stderr
    assert "checks 0" in done.stdout
    assert run.messages() == ["at March 28, 2027 at 03:00AM"]


def test_the_local_run_checks(make_run: MakeRun) -> None:
    with Sink() as sink:
        run = make_run(WHENTHEN_ALLOWED_NETWORKS="127.0.0.0/8")
        sink.reply("/value", [Reply(body=b'{"value": 1}')])
        run.start()
        fields = {"url": f"{sink.url}/value", "expression": "value", "interval_minutes": 1}
        trigger = {"service": "web", "trigger": "json_value_changes", "fields": fields}
        actions = [{"service": "notifications", "action": "send_notification", "fields": {"message": "now {{Value}}"}}]
        made = run.post("/applets", {"name": "Value", "trigger": trigger, "actions": actions})
        sink.reply("/value", [Reply(body=b'{"value": 2}')])
        assert run.post(f"/applets/{made['id']}/check", {})["fired"] == 1
        run.wait_for_message("now 2")


@pytest.mark.parametrize("instant", ["bad", "2026-03-29", "2026-03-29T01:00:00", "2026-13-01T00:00:00Z", ""])
def test_tick_at_no_instant(make_run: MakeRun, instant: str) -> None:
    done = make_run().command("tick", "--time", instant)
    assert done.returncode == 2
    assert "--time" in done.stderr


def test_bad_settings_are_named(make_run: MakeRun) -> None:
    run = make_run()
    for name, value in (
        ("WHENTHEN_PORT", "http"),
        ("WHENTHEN_ALLOWED_NETWORKS", "10.0.0.0/99"),
        ("WHENTHEN_MAX_BODY_BYTES", "-1"),
    ):
        done = run_command("run", environment={**run.environment, name: value})
        assert done.returncode == 1
        assert done.stderr.startswith(f"Error: {name}")
    assert run_command("tick", environment=run.environment).stderr == "Error: ALOPEX_URL is not set\n"
