"""`whenthen status`, `doctor`, `activity` and `owner erase` as an operator runs them, on a real server."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.alopex import AlopexServer, MakeServer
from tests.support.aws import Aws
from tests.support.history import close, fill
from tests.support.local import clean_environment, run_command
from tests.support.scenario import OWNER, call_applet, executions, prepare
from tests.support.stores import id_of, reserve
from whenthen.clock import now_ms
from whenthen.engine.erasure import erase_owners
from whenthen.engine.users import Users
from whenthen.queues.depth import Depth, depth_of_sqs
from whenthen.queues.directory import DirectoryQueue
from whenthen.queues.sqs import SqsQueue
from whenthen.store.database import Database, connect
from whenthen.store.deletions import count_deleted
from whenthen.store.history import History
from whenthen.store.keys import add_user, list_keys
from whenthen.store.meta import Export, write_export
from whenthen.store.migrations import LATEST
from whenthen.store.slots import open_slot, slot_at
from whenthen.store.statements import Script
from whenthen.vault import FileKeys, Keyring, make_key_file

MINUTE = 60_000
T0 = 1_769_902_200_000
"""The first millisecond of the slot in which `tests.support.stores` puts executions, long ago."""


class Operator:
    """Somebody with a shell and the settings of a server.

    Args:
        server: the database.
        home: WHENTHEN_HOME.
        settings: more of the environment.
    """

    def __init__(self, server: AlopexServer, home: Path, **settings: str) -> None:
        self.home = home
        self.environment = clean_environment(
            ALOPEX_URL=server.url,
            ALOPEX_API_KEY=server.api_key,
            WHENTHEN_HOME=str(home),
            WHENTHEN_COPY_DIR=str(server.copy_dir),
            **settings,
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        """Run a command, which ends with this code; what it prints."""
        done = self.try_to(*arguments)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def try_to(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command to its end, whatever that is."""
        return run_command(*arguments, environment=self.environment)

    def status(self, *, code: int) -> Any:
        """The status as machines get it."""
        return json.loads(self.run("status", "--json", code=code))


@pytest.fixture
def operator(server: AlopexServer, tmp_path: Path) -> Operator:
    return Operator(server, tmp_path / "home")


@pytest.fixture
def database(server: AlopexServer) -> Iterator[Database]:
    """A migrated database with one owner."""
    with closing(connect(server.url, api_key=server.api_key)) as found:
        prepare(found)
        yield found


# Status


def test_all_is_well(operator: Operator, database: Database, server: AlopexServer) -> None:
    server.measure()
    operator.run("tick")
    page = operator.run("status")
    assert page.startswith(f"whenthen at {server.url}\n")
    assert f"schema {LATEST}, single flight proved at 20" in page
    assert "log 0% of 512 MiB, 0 table files of 0 MiB, 0 exports kept" in page
    assert "no checkpoint by the poller so far" in page
    assert "history       on the same server" in page
    assert "slots         2 open, 0 stuck" in page
    assert "executions    none due" in page
    assert "triggers      0 late" in page
    assert "intake queue  not known; WHENTHEN_INTAKE_QUEUE_URL names it" in page
    assert page.endswith("\nAll is well.\n")
    found = operator.status(code=0)
    (one,) = found["servers"]
    assert (one["server"], one["problem"], one["schema_version"], one["no_report"]) == ("database", None, LATEST, None)
    assert one["host"]["wal_limit"] == 512 * 1024 * 1024
    assert found["slots"] == {"open": 2, "stuck": 0}
    assert found["executions"] == {"due": 0, "late": 0, "oldest_at": None}
    assert found["triggers"] == {"late": 0, "oldest_at": None}
    assert (found["dead_rows"], found["intake_queue"], found["attention"]) == (0, None, [])


def test_what_needs_attention_is_named(operator: Operator, database: Database, server: AlopexServer) -> None:
    """Given one of each thing that goes wrong, then each is named at the end, and the code is 1."""
    now = now_ms()
    open_slot(database, "202601312330", T0)
    for number in range(3):
        reserve(database, f"e{number}", now=T0 + number)
    reserve(database, "later", now=now + 60 * MINUTE)
    key = f"WHERE execution_id = CAST('{id_of('e0')}' AS TEXT)"
    database.execute(f"UPDATE executions_202601312330 SET state = 'running', due_at = NULL, wake_at = {T0 + 5} {key}")
    open_slot(database, slot_at(now), now)
    script = Script()
    count_deleted(script, "slots", 100_000)
    database.execute(script.sql)
    database.execute(
        f"INSERT INTO checks (check_id, offline, host, next_check_at, lease_until) VALUES "
        f"('late', FALSE, '', {T0}, 0), ('held', FALSE, '', {T0}, {now + 5 * MINUTE}), "
        f"('soon', FALSE, '', {now - MINUTE}, 0)"
    )
    DirectoryQueue(operator.home / "intake").send(["{}"])
    write_export(database, "database", Export(T0, T0 + 1500), seen=None)
    found = operator.status(code=1)
    assert found["executions"] == {"due": 3, "late": 3, "oldest_at": "2026-01-31T23:30:00.001Z"}
    assert found["triggers"] == {"late": 1, "oldest_at": "2026-01-31T23:30:00.000Z"}
    assert found["slots"] == {"open": 2, "stuck": 1}
    assert found["dead_rows"] == 100_000
    assert found["intake_queue"]["messages"] == 1
    assert found["servers"][0]["checkpoint_ended_at"] == "2026-01-31T23:30:01.500Z"
    beginnings = [
        "database: nobody knows how full its log is: FRONT_NO_REPORT",
        "executions that are due for more than 5 minutes: 3, the oldest since 2026-01-31T23:30:00.001Z",
        "triggers that should have been checked more than 5 minutes ago: 1, the first at 2026-01-31T23:30:00.000Z",
        "slots that do not close: 1.",
        "dead rows: 100,000.",
    ]
    assert [words.startswith(start) for words, start in zip(found["attention"], beginnings, strict=True)] == [True] * 5
    page = operator.run("status", code=1)
    assert "last checkpoint by the poller at 2026-01-31T23:30:01.500Z" in page
    assert "executions    3 due, 3 of them late, the oldest since 2026-01-31T23:30:00.001Z" in page
    assert page.split("Needs attention:\n")[1].count("  - ") == 5


def test_webhooks_that_wait(operator: Operator, database: Database, server: AlopexServer) -> None:
    server.measure()
    operator.run("tick")
    DirectoryQueue(operator.home / "intake").send(["{}", "{}"])
    assert operator.status(code=0)["intake_queue"]["messages"] == 2
    oldest = sorted((operator.home / "intake").glob("*.json"))[0]
    os.utime(oldest, (T0 / 1000, T0 / 1000))
    found = operator.status(code=1)
    assert found["intake_queue"] == {"messages": 2, "oldest_at": "2026-01-31T23:30:00.000Z"}
    assert found["attention"] == ["webhooks wait in the intake queue since 2026-01-31T23:30:00.000Z"]


def test_the_intake_queue_on_aws(
    server: AlopexServer, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.measure()
    template = {"Resources": {"Intake": {"Type": "AWS::SQS::Queue", "Properties": {}}}}
    with closing(Aws(template, api_key="unused")) as aws:
        url = aws.queues["Intake"]
        operator = Operator(server, tmp_path, WHENTHEN_INTAKE_QUEUE_URL=url, **aws.environment)
        operator.run("tick")
        assert "intake queue  empty\n" in operator.run("status")
        for name, value in aws.environment.items():
            monkeypatch.setenv(name, value)
        queue = SqsQueue(url)
        queue.send([str(number) for number in range(12)])
        assert len(queue.receive(wait_seconds=0)) == 10
        assert depth_of_sqs(url) == Depth(12, None), "with those that somebody is at"
        assert "about 12 messages; since when, ApproximateAgeOfOldestMessage" in operator.run("status")
        aws.down()
        found = operator.status(code=1)
        assert (found["intake_queue"], len(found["attention"])) == (None, 1)
        assert found["attention"][0].startswith("intake queue: the queue can't be reached")


def test_a_database_that_can_not_be_used(operator: Operator, server: AlopexServer) -> None:
    server.measure()
    found = operator.status(code=1)
    assert found["servers"][0]["schema_version"] == 0
    assert found["attention"] == [
        f"database: The database's schema is version 0, this whenthen needs {LATEST}: run `whenthen db migrate`."
    ]
    server.stop_server()
    assert "can't be asked" in operator.run("status", code=1)
    server.front.stop()
    found = operator.status(code=1)
    assert (found["slots"], found["servers"][0]["schema_version"]) == (None, None)
    assert [words.partition(": ")[0] for words in found["attention"]] == ["database", "database"]
    page = operator.run("status", code=1)
    assert "No connection to the database; nothing was sent." in page
    assert server.api_key not in page


def test_the_history_on_a_server_of_its_own(
    database: Database, server: AlopexServer, make_server: MakeServer, tmp_path: Path
) -> None:
    other = make_server()
    operator = Operator(server, tmp_path, ALOPEX_HISTORY_URL=other.url)
    with closing(connect(server.url, api_key=server.api_key)) as hot:
        write_export(hot, "history", Export(T0), seen=None)
    for each in (server, other):
        each.measure()
    found = operator.status(code=1)
    assert [one["server"] for one in found["servers"]] == ["database", "history"]
    # Its key is another one.
    assert [words.partition(":")[0] for words in found["attention"]] == ["history"]
    assert found["servers"][1]["checkpoint_ended_at"] is None
    page = operator.run("status", code=1)
    assert "a checkpoint that began at 2026-01-31T23:30:00.000Z has not been ended" in page
    assert "on the same server" not in page


@pytest.mark.parametrize("command", [["status"], ["doctor"], ["activity"], ["owner", "erase", "me", "--yes"]])
def test_the_embedded_engine_belongs_to_its_process(tmp_path: Path, command: list[str]) -> None:
    done = run_command(*command, environment=clean_environment(WHENTHEN_HOME=str(tmp_path / "home")))
    assert done.returncode == 1
    assert "ALOPEX_URL is not set" in done.stderr
    assert not (tmp_path / "home").exists()


# Doctor


def test_the_doctor_repairs_what_it_can(operator: Operator, database: Database, server: AlopexServer) -> None:
    """Given a database in which much is wrong, then it is explained, repaired once, and gone."""
    assert operator.run("doctor") == "Nothing found.\n"
    applet = call_applet(database, "http://127.0.0.1:9/")
    off = call_applet(database, "http://127.0.0.1:9/", name="Off")
    database.execute(f"UPDATE applets SET enabled = FALSE WHERE applet_id = CAST('{off}' AS TEXT)")
    operator.run("tick")
    now = now_ms()
    slot = slot_at(now)
    trigger = database.execute("SELECT trigger_id FROM triggers")[0]["trigger_id"]
    lost, event = f"{slot}.{'1' * 32}.{applet}", f"{slot}.{'2' * 32}.{applet}"
    claimed = f"{slot}.{'3' * 32}.{applet}"
    database.execute(
        "INSERT INTO trigger_events (event_id, trigger_id, occurred_at, received_at, execution_ids, ingredients) "
        f"""VALUES ('{"1" * 32}', '{trigger}', {now}, {now}, '["{lost}"]', '{{}}'), """
        f"""('{"3" * 32}', '{trigger}', {now}, {now}, '["{claimed}"]', '{{}}')"""
    )
    row = (
        "INSERT INTO executions_{} (execution_id, applet_id, owner_id, occurred_at, state, wake_at, ingredients) VALUES"
    )
    database.execute(f"{row.format(slot)} ('{event}', '{applet}', '{OWNER}', {now}, 'succeeded', NULL, '{{}}')")
    database.execute(f"{row.format(slot)} ('{claimed}', '{applet}', '{OWNER}', {now}, 'running', {T0}, '{{}}')")
    fill(database, "202601312330", 3, applets=(applet,))
    database.execute(
        f"INSERT INTO checks (check_id, offline, host, next_check_at) VALUES ('{'4' * 32}', FALSE, '', {now})"
    )
    found = operator.run("doctor", code=1)
    for kind in (
        "triggers and applets that do not agree: 1",
        "checks without a trigger: 1",
        # Those of the old slot, too, which came without any.
        "executions whose event is lost: 4",
        "events whose executions are lost: 1",
        "claims of workers that are gone: 1",
        "slots that should be closed: 1",
    ):
        assert f"{kind}\n" in found
    assert found.count("Why it matters: ") == found.count("With --fix: ") == 6
    assert operator.run("doctor", code=1) == found, "looking changes nothing"
    done = operator.run("doctor", "--fix")
    for words in (
        f"trigger {trigger} does not set off applet {off}",
        f"stopped: the check {'4' * 32}",
        f"stored again: the event {'2' * 32}",
        f"stored as unknown: {lost}",
        "swept: 1 executions were overdue",
        "closed: 1 slots",
    ):
        assert f"{words}\n" in done
    assert done.endswith("What is left:\n\nNothing found.\n")
    assert operator.run("doctor") == "Nothing found.\n"
    assert operator.run("doctor", "--fix") == "Nothing found.\n"
    states = {execution.execution_id: execution.state for execution in executions(database)}
    assert states == {lost: "unknown", event: "succeeded", claimed: "queued"}


def test_what_the_doctor_can_not_do(operator: Operator, database: Database, server: AlopexServer) -> None:
    """Given a repair that fails, then its reason is told, the others are done, and the code is 1."""
    call_applet(database, "http://127.0.0.1:9/")
    database.execute(f"INSERT INTO checks (check_id, offline, host, next_check_at) VALUES ('c', FALSE, '', {T0})")
    open_slot(database, "202601312330", T0)
    fill(database, count=2)
    database.execute("DELETE FROM executions_202601312330 WHERE execution_id > 'x'")
    operator.environment["WHENTHEN_COPY_DIR"] = "/nowhere"
    done = operator.run("doctor", "--fix", code=1)
    assert "stopped: the check c\n" in done
    assert "not repaired: slots that should be closed: " in done
    left = done.partition("What is left:\n")[2]
    assert "slots that should be closed: 1\n" in left
    assert "checks without a trigger" not in left


# Activity


def test_the_activity(operator: Operator, database: Database, server: AlopexServer) -> None:
    applet = call_applet(database, "http://127.0.0.1:9/", name="Door \x1b[31mred")
    made = fill(database, "202601312330", 12, applets=(applet,))
    close(History(database, database, str(server.copy_dir / "load.parquet")))
    head, *lines = operator.run("activity").splitlines()
    assert head.split() == ["OCCURRED", "AT", "STATE", "SERVICE", "TRIES", "APPLET", "EXECUTION", "WHY"]
    assert [line.split()[0] for line in lines] == sorted((line.split()[0] for line in lines), reverse=True)
    assert {execution for line in lines for execution in line.split() if execution.startswith("2026013")} == {
        one.execution_id for one in made
    }
    assert "Door  [31mred" in lines[0]
    assert not any("\x1b" in line for line in lines)
    assert "reason 6" in lines[0]
    failed = operator.run("activity", "--state", "failed", "--service", "notifications", "--text", "REASON 5")
    assert [line.split()[1] for line in failed.splitlines()[1:]] == ["failed"]
    assert operator.run("activity", "--applet", "none") == "Nothing.\n"
    ids: list[str] = []
    before: list[str] = []
    while True:
        page = json.loads(operator.run("activity", "--json", "--limit", "5", *before))
        ids += [item["execution_id"] for item in page["items"]]
        if page["next"] is None:
            break
        before = ["--before", page["next"]]
    assert sorted(ids) == sorted(one.execution_id for one in made)
    assert page["items"][0]["applet_name"] == "Door \x1b[31mred"
    first = operator.run("activity", "--limit", "10")
    assert len(first.splitlines()) == 13
    rest = operator.run("activity", "--limit", "10", *first.splitlines()[-1].removeprefix("More: ").split())
    assert len(rest.splitlines()) == 3


def test_whose_activity(operator: Operator, database: Database) -> None:
    add_user(database, "second", "Second")
    done = operator.try_to("activity")
    assert (done.returncode, "owner, second" in done.stderr) == (2, True)
    assert operator.run("activity", "--owner", "second") == "Nothing.\n"
    assert "there is no owner third" in operator.try_to("activity", "--owner", "third").stderr
    assert "is not a cursor" in operator.try_to("activity", "--owner", "second", "--before", "x").stderr


# Users of the console


def test_a_lost_password(operator: Operator, database: Database, tmp_path: Path) -> None:
    """Given a console that is open to nobody, when its operator invites somebody, then the link lets them in."""
    make_key_file(tmp_path / "secrets.key")
    users = Users(database, Keyring(FileKeys(tmp_path / "secrets.key")))
    link = operator.run("owner", "invite", "Ada", "--owner", OWNER).strip()
    start, token = link[: link.rindex("/") + 1], link[link.rindex("/") + 1 :]
    assert start == "http://127.0.0.1:8000/invitations/"
    ada = users.accept_invitation(token, "correct horse", "")
    assert (ada.name, ada.owner_id, ada.is_admin) == ("Ada", OWNER, True)
    operator.environment["WHENTHEN_PUBLIC_URL"] = "https://example.org/whenthen/"
    link = operator.run("owner", "invite", "ada").strip()
    assert link.startswith("https://example.org/whenthen/invitations/")
    again = users.accept_invitation(link[link.rindex("/") + 1 :], "battery staple", "")
    assert users.sign_in("Ada", "battery staple", address="192.0.2.1") == again
    link = operator.run("owner", "invite", "Bob", "--admin").strip()
    bob = users.accept_invitation(link[link.rindex("/") + 1 :], "correct horse", "UTC")
    assert (bob.is_admin, bob.owner_id != OWNER) == (True, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Ada", "--owner", "nobody"), "There is no owner nobody."),
        ((" ",), "NAME: must not be empty"),
        (("a\nb\x1b",), "NAME: must not hold characters that can't be seen"),
    ],
)
def test_who_can_not_be_invited(operator: Operator, database: Database, arguments: tuple[str, ...], words: str) -> None:
    done = operator.try_to("owner", "invite", *arguments)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert database.execute("SELECT * FROM console_users") == []


# Erasing


def test_an_owner_is_erased(operator: Operator, database: Database, server: AlopexServer) -> None:
    """Given nobody who confirms it, nothing is done; then keys and applets go at once, and the poller does the rest."""
    applet = call_applet(database, "http://127.0.0.1:9/")
    fill(database, "202601312330", 2, applets=(applet,))
    done = operator.try_to("owner", "erase", OWNER)
    assert done.returncode == 1
    assert f"Of {OWNER} there are 1 keys, 1 applets" in done.stdout
    assert f"Erase {OWNER}? [y/N]" in done.stdout
    assert len(list_keys(database, OWNER)) == 1
    said = operator.run("owner", "erase", OWNER, "--yes")
    for words in ("At once: the keys", "within about two hours", "What can't be erased:", "`whenthen db rebuild`"):
        assert words in said
    assert list_keys(database, OWNER) == []
    assert database.execute("SELECT COUNT(*) AS n FROM applets WHERE deleted_at IS NULL") == [{"n": 0}]
    history = History(database, database, str(server.copy_dir / "load.parquet"))
    assert erase_owners(history) == []
    close(history)
    assert erase_owners(history) == [OWNER]
    assert operator.run("activity", "--owner", OWNER) == "Nothing.\n"
    assert operator.try_to("owner", "erase", "nobody", "--yes").returncode == 1
