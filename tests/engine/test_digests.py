"""Digests: each entry in one mail, each mail sent once, whatever breaks down in between."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from tests.support.embedded import LEASE, START, House, Json, die
from tests.support.mail_server import MailServer
from whenthen.clock import now_ms
from whenthen.engine import digests
from whenthen.engine.doctor import Practice, examine
from whenthen.engine.erasure import erase_owners, request_erasure
from whenthen.engine.retention import expire_payloads
from whenthen.services.email_digest.letters import MAX_LISTED
from whenthen.store.errors import OutcomeUnknown, Unreachable

pytestmark = pytest.mark.usefixtures("clock")

DUE = datetime(2026, 11, 29, 19, 0, tzinfo=UTC)


@pytest.fixture
def mails() -> Iterator[MailServer]:
    with MailServer() as server:
        yield server


@pytest.fixture
def account(house: House, mails: MailServer) -> str:
    """A connection of the owner's to the mail server."""
    fields = {"sender": "me@example.org", "host": "127.0.0.1", "port": mails.port, "security": "none"}
    answer = house.call("POST", "/connections", {"service": "email", "name": "Mail", "fields": fields})
    assert answer.status_code == 201, answer.text
    identifier: str = answer.json()["id"]
    return identifier


def adding(account: str, **fields: str) -> Json:
    given = {"to": "ada@example.org", "subject": "News", "time": "19:00", "title": "{{Value1}}"}
    action = {"service": "email_digest", "action": "add_to_digest", "connection": account}
    return {**action, "fields": {**given, **fields}}


def fire(house: House, *values: str) -> None:
    for value in values:
        house.fire(query={"value1": value})
        house.work()


def come(house: House, clock: time_machine.Traveller, when: datetime = DUE) -> None:
    """The minute in which mails are due, with all the work that it brings."""
    clock.move_to(when)
    house.tick()
    house.work()


def titles(mails: MailServer) -> list[list[str]]:
    """The titles in each mail, in order."""
    pages = [received.message.get_body(("html",)) for received in mails.received]
    return [re.findall("<b>(.*?)</b>", page.get_content()) for page in pages if page is not None]


def states(house: House) -> list[str]:
    return [item["state"] for item in house.activity()]


def test_what_is_collected_comes_in_one_mail(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account, text="It says: {{Value2}}", link="https://example.org/{{Value1}}")])
    fire(house, "one", "two")
    assert states(house).count("queued") == 1, "the mail waits"
    come(house, clock, DUE - timedelta(minutes=1))
    assert mails.received == []
    come(house, clock)
    [received] = mails.received
    message = received.message
    assert (message["Subject"], message["To"], message["Date"]) == (
        "News",
        "ada@example.org",
        "Sun, 29 Nov 2026 19:00:00 +0000",
    )
    assert titles(mails) == [['<a href="https://example.org/one">one</a>', '<a href="https://example.org/two">two</a>']]
    text = message.get_body(("plain",)).get_content().replace("\r\n", "\n")  # type: ignore[union-attr]
    assert text == "one\nIt says:\nhttps://example.org/one\n\ntwo\nIt says:\nhttps://example.org/two\n"
    assert states(house) == ["succeeded"] * 3
    come(house, clock, DUE + timedelta(days=1))
    assert len(mails.received) == 1, "no mail without entries"


def test_what_comes_at_the_due_time_is_for_the_next_mail(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account)])
    clock.move_to(DUE - timedelta(milliseconds=1), tick=False)
    fire(house, "before")
    clock.move_to(DUE, tick=False)
    fire(house, "at")
    come(house, clock)
    come(house, clock, DUE + timedelta(days=1))
    assert titles(mails) == [["before"], ["at"]]


def test_nothing_is_added_to_a_mail_that_is_being_sent(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    """Given a mail that another clock has sent a moment early, then what comes now is for the next one."""
    house.make_applet(actions=[adding(account)])
    fire(house, "one")
    [row] = house.table("SELECT digest_id FROM digests")
    digests.close(house.database, row["digest_id"], timeout_seconds=5)
    fire(house, "two")
    come(house, clock)
    assert titles(mails) == [["one"]]
    come(house, clock, DUE + timedelta(days=1))
    assert titles(mails) == [["one"], ["two"]]


def test_each_kind_of_mail_is_its_own(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    for fields in ({}, {"to": "grace@example.org"}, {"subject": "Of {{Value1}}"}, {"time": "19:01"}):
        house.make_applet(actions=[adding(account, **fields)])
    house.make_applet(actions=[adding(account), adding(account, title="again {{Value1}}")])
    fire(house, "one", "two")
    come(house, clock)
    come(house, clock, DUE + timedelta(minutes=1))
    assert sorted(titles(mails)) == sorted(
        [["one", "two"]] * 3 + [["one"], ["two"]] + [["one", "again one", "two", "again two"]]
    )


def test_many_at_once_are_all_there(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account)])
    for number in range(30):
        house.fire(query={"value1": f"n{number}"})
    house.work()
    come(house, clock)
    assert sorted(titles(mails)[0]) == sorted(f"n{number}" for number in range(30))


def test_a_long_mail_says_how_many_are_left_out(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account)])
    fire(house, "first")
    house.table(f"UPDATE digests SET collected = {MAX_LISTED + 7}")
    [row] = house.table("SELECT digest_id FROM digests")
    for number in range(2, MAX_LISTED + 1):
        entry = f'{{"title": "n{number}", "text": "", "link": ""}}'
        house.table(f"INSERT INTO digest_entries VALUES ('{row['digest_id']}.{number}', 'k{number}', '{entry}')")
    come(house, clock)
    assert len(titles(mails)[0]) == MAX_LISTED
    assert "… and 7 more." in mails.received[0].message.get_body(("plain",)).get_content()  # type: ignore[union-attr]


def test_a_mail_of_long_entries_fits(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account, text="{{Value2}}")])
    for number in range(30):
        house.fire(method="POST", data={"value1": f"n{number}", "value2": "<&>" * 10_000})
    house.work()
    come(house, clock)
    listed = len(titles(mails)[0])
    assert 10 < listed < 30
    text = mails.received[0].message.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert f"… and {30 - listed} more." in text


HOSTILE = "{{Subject}} {% raw %} {# <script>alert(1)</script> \r\nBcc: x@evil.org &#123; ' \""


def test_entries_are_shown_as_they_came(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account, text="{{Value1}}", subject="{{Value1}}")])
    fire(house, HOSTILE)
    come(house, clock)
    [received] = mails.received
    assert received.recipients == ("ada@example.org",)
    assert "bcc" not in received.header_names
    shown = " ".join(HOSTILE.split())
    assert " ".join(received.message["Subject"].split()) == shown
    plain = received.message.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert " ".join(plain.split()) == f"{shown} {shown}"
    assert "<script" not in received.message.get_body(("html",)).get_content()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"to": "nobody"}, "to"),
        ({"time": "25:00"}, "time"),
        ({"zone": "Mars"}, "zone"),
        ({"schedule": "hourly"}, "schedule"),
        ({"link": "javascript:alert(1)"}, "link"),
    ],
)
def test_bad_fields_are_named(house: House, account: str, fields: dict[str, str], field: str) -> None:
    applet = {
        "name": "n",
        "trigger": {"service": "webhooks", "trigger": "event", "fields": {"event": "e"}},
        "actions": [adding(account, **fields)],
    }
    answer = house.call("POST", "/applets", applet)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [f"actions.0.fields.{field}"]


@pytest.mark.parametrize("fields", [{"title": ""}, {"to": "{{Value2}}"}, {"link": "{{Value1}}"}])
def test_what_can_not_be_shown_or_sent_fails_at_once(house: House, account: str, fields: dict[str, str]) -> None:
    house.make_applet(actions=[adding(account, **fields)])
    fire(house, "one")
    assert states(house) == ["failed"]
    assert house.activity()[0]["reason"].startswith(f"{next(iter(fields))}: ")


# Crashes.


def test_an_entry_is_collected_once_though_the_worker_dies(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F02: killed between collecting and writing the outcome, also where the retry falls into the next day."""
    house.make_applet(actions=[adding(account)])
    clock.move_to(DUE - timedelta(seconds=10))
    house.fire(query={"value1": "one"})
    die(house, house.activity()[0]["execution_id"], "judge", monkeypatch)
    house.wakeups.receive(wait_seconds=0)
    come(house, clock, DUE + timedelta(seconds=LEASE))
    come(house, clock, DUE + timedelta(days=1))
    assert titles(mails) == [["one"]]
    assert states(house) == ["succeeded", "succeeded"]


@pytest.mark.parametrize("error", [OutcomeUnknown, Unreachable])
def test_a_database_that_is_away_costs_no_entry(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
) -> None:  # fmt: skip
    """Given that the answer to the first script was lost, or nothing was sent, then the entry is there once."""
    house.make_applet(actions=[adding(account)])
    execute = house.database.execute
    lost: list[str] = []

    def losing(sql: str, **options: Any) -> Any:
        if "digest_entries" in sql and "INSERT INTO digests" in sql and not lost:
            lost.append(sql)
            if error is OutcomeUnknown:
                execute(sql, **options)
            raise error
        return execute(sql, **options)

    monkeypatch.setattr(house.database, "execute", losing)
    fire(house, "one")
    if error is Unreachable:
        clock.shift(60)
        house.tick()
        house.work()
    assert lost
    come(house, clock)
    assert titles(mails) == [["one"]]


@pytest.mark.parametrize(
    ("at", "state", "count"), [("prepare", "succeeded", 1), ("perform", "unknown", 0), ("judge", "unknown", 1)]
)
def test_a_mail_is_sent_once_though_the_worker_dies(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch,
    at: str, state: str, count: int,
) -> None:  # fmt: skip
    """F01, F02: before the mail may have left it is sent again, after that nobody knows."""
    house.make_applet(actions=[adding(account)])
    fire(house, "one")
    clock.move_to(DUE)
    sending = next(item["execution_id"] for item in house.activity() if item["state"] == "queued")
    die(house, sending, at, monkeypatch)
    house.wakeups.receive(wait_seconds=0)
    come(house, clock, DUE + timedelta(seconds=LEASE))
    assert len(mails.received) == count
    assert house.execution(sending)["state"] == state


def test_a_mail_server_that_is_busy_gets_it_later(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account)])
    fire(house, "one")
    mails.refusals = {"content": "452 later"}
    come(house, clock)
    assert sorted(states(house)) == ["succeeded", "waiting"]
    fire(house, "two")
    mails.refusals = {}
    come(house, clock, DUE + timedelta(minutes=2))
    come(house, clock, DUE + timedelta(days=1))
    assert titles(mails) == [["one"], ["two"]]


@pytest.mark.parametrize("change", ["DELETE", "off", "edited"])
def test_what_was_collected_is_sent_whatever_becomes_of_the_applet(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller, change: str
) -> None:
    path = f"/applets/{house.make_applet(actions=[adding(account)])['id']}"
    fire(house, "one")
    if change == "DELETE":
        house.call("DELETE", path)
    elif change == "off":
        house.call("PATCH", path, {"enabled": False})
    else:
        house.call("PATCH", path, {"actions": [adding(account, subject="Other")]})
    come(house, clock)
    assert titles(mails) == [["one"]]


def test_it_outlives_its_slot_and_runs_again_out_of_the_history(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    """Given a mail that waits for a day, then its slot is closed meanwhile; a rerun is the same mail (R5)."""
    house.make_applet(actions=[adding(account, time="18:00")])
    fire(house, "one")
    due = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)
    come(house, clock, START + timedelta(hours=3))
    come(house, clock, due)
    come(house, clock, due + timedelta(hours=3))
    come(house, clock, due + timedelta(hours=3, minutes=1))
    assert titles(mails) == [["one"]]
    sending = house.table("SELECT sending_id FROM digests")[0]["sending_id"]
    answer = house.call("POST", f"/executions/{sending}/rerun")
    assert answer.status_code in (200, 202), answer.text
    house.work()
    first, again = mails.received
    assert first.content == again.content


def test_a_sending_that_is_lost_and_found_sends_the_digest(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    """Given that the execution of a mail is lost, then what the doctor stores in its place can be run again."""
    house.make_applet(actions=[adding(account)])
    fire(house, "one")
    sending = house.table("SELECT sending_id FROM digests")[0]["sending_id"]
    house.table(f"DELETE FROM executions_202611291800 WHERE execution_id = '{sending}'")
    runtime = house.runtime
    practice = Practice(runtime.history, house.wakeups, runtime.checks, runtime.worker, now_ms())
    for finding in examine(practice, days=1).findings:
        assert finding.repair is not None
        finding.repair()
    assert house.execution(sending)["state"] == "unknown"
    assert house.call("POST", f"/executions/{sending}/rerun").status_code == 202
    house.work()
    assert titles(mails) == [["one"]]


# Erasing.


def leftovers(house: House) -> list[str]:
    """What is left of entries and of mails' contents."""
    rows = house.table("SELECT entry AS kept FROM digest_entries") + house.table("SELECT contents AS kept FROM digests")
    return [row["kept"] for row in rows if row["kept"]]


def test_erasing_an_owner_does_not_wait_for_the_mail(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account, schedule="weekly", weekday="saturday")])
    fire(house, "one", "two")
    request_erasure(house.database, "owner")
    for hours in range(5):
        clock.move_to(START + timedelta(hours=hours))
        erase_owners(house.runtime.history)
        house.tick()
        house.work()
    assert leftovers(house) == []
    assert house.table("SELECT erased_at FROM erasures")[0]["erased_at"] is not None
    assert mails.received == []


def test_sent_entries_are_erased_with_the_payloads(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    house.make_applet(actions=[adding(account)])
    fire(house, "one")
    come(house, clock)
    for hours in (3, 6):
        come(house, clock, DUE + timedelta(hours=hours))
    assert len(leftovers(house)) == 2
    clock.move_to(DUE + timedelta(days=40))
    assert expire_payloads(house.runtime.history, now_ms()) > 0
    assert leftovers(house) == []


def test_an_account_that_a_digest_still_needs_stays(
    house: House, account: str, mails: MailServer, clock: time_machine.Traveller
) -> None:
    """Given an applet that is gone and a mail that still collects, then its account stays until it is sent."""
    made = house.make_applet(actions=[adding(account)])
    house.fire(query={"value1": "one"})
    house.work()
    house.call("DELETE", f"/applets/{made['id']}")
    answer = house.call("DELETE", f"/connections/{account}")
    assert (answer.status_code, "the digest “News”" in answer.json()["detail"]) == (409, True)
    for _ in range(2):
        clock.shift(3600)
        house.tick()
    house.work()
    assert len(mails.received) == 1
    assert house.call("DELETE", f"/connections/{account}").status_code == 204
