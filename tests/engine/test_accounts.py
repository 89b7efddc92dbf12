"""Connections in use: tokens renewed in time, refused ones renewed once, and what is written down about it (R10)."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import time_machine

from tests.engine.test_oauth import begin, come_back, state_of
from tests.support.authorizing import CLIENT, Vendor, register
from tests.support.embedded import START, House, Json
from tests.support.scenario import OWNER
from whenthen.clock import Deadline
from whenthen.engine.connections.accounts import Account, Accounts
from whenthen.engine.connections.errors import ConnectionUnusable, RefreshFailed
from whenthen.engine.connections.opened import REMEMBERED_SECONDS
from whenthen.engine.connections.refreshing import LEASE_MS
from whenthen.store.connections import find_connection
from whenthen.store.errors import OutcomeUnknown, StoreError, Unreachable
from whenthen.wiring import Runtime


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    register(monkeypatch.setitem)
    with Vendor() as running:
        yield running


@pytest.fixture
def made(house: House, vendor: Vendor) -> Json:
    """A connection that has its first pair."""
    started = begin(house, vendor)
    assert come_back(house, vendor.consent(started["authorize_url"])).status_code == 200
    vendor.calls.clear()
    return state_of(house, started)


def another_process(house: House) -> Accounts:
    """What another worker of the same house has."""
    return Runtime(house.runtime.settings, database=house.database, wakeups=house.wakeups).accounts


def opened(accounts: Accounts, made: Json) -> Account:
    return accounts.open(OWNER, made["id"], "vendor", Deadline(10))


def token(account: Account) -> str:
    found: str = account.fields.model_dump()["token"]
    return found


def post(made: Json) -> Json:
    return {"service": "vendor", "action": "post", "fields": {"text": "{{Value1}}"}, "connection": made["id"]}


def messages(house: House) -> list[str]:
    return [item["title"] for item in house.inbox()]


def test_r6_an_action_that_is_refused_goes_on_with_new_tokens(house: House, vendor: Vendor, made: Json) -> None:
    """R6: 401 once, a refresh, and the action is done; the owner sees a success."""
    house.make_applet(actions=[post(made)])
    vendor.expire()
    house.fire(query={"value1": "hi"})
    house.work()
    assert (house.execution()["state"], vendor.posts) == ("succeeded", [b"hi"])
    assert vendor.calls == ["refresh_token"]
    assert (state_of(house, made)["state"], messages(house)) == ("working", [])


def test_f10_a_token_that_ended_with_a_403_is_renewed(house: House, vendor: Vendor, made: Json) -> None:
    """F10: what 403 means the service says."""
    house.make_applet(actions=[post(made)])
    vendor.refusal = 403
    vendor.expire()
    house.fire(query={"value1": "hi"})
    house.work()
    assert (house.execution()["state"], vendor.posts, vendor.calls) == ("succeeded", [b"hi"], ["refresh_token"])


def test_r6_an_action_refused_for_good_breaks_the_connection_and_can_run_again(
    house: House, vendor: Vendor, made: Json
) -> None:
    house.make_applet(actions=[post(made)])
    vendor.revoke()
    house.fire(query={"value1": "hi"})
    house.work()
    assert house.execution()["state"] == "failed"
    assert state_of(house, made)["state"] == "broken"
    assert messages(house) == ["The connection <b>My vendor</b> is broken"]
    repaired = house.call("POST", f"/connections/{made['id']}/authorize").json()["authorize_url"]
    assert come_back(house, vendor.consent(repaired)).status_code == 200
    assert house.call("POST", f"/executions/{house.execution()['execution_id']}/rerun").status_code in (200, 202)
    house.work()
    assert (house.execution()["state"], vendor.posts) == ("succeeded", [b"hi"])


def test_f09_tokens_are_renewed_before_they_end(house: House, vendor: Vendor) -> None:
    """F09: a service that tells expiry with 200 is never asked with a token that has ended."""
    with time_machine.travel(START, tick=False) as clock:
        started = begin(house, vendor)
        come_back(house, vendor.consent(started["authorize_url"]))
        first = opened(house.runtime.accounts, started)
        clock.shift(3600 - 61)
        assert opened(house.runtime.accounts, started) == first
        clock.shift(2)
        renewed = opened(house.runtime.accounts, started)
        assert token(renewed) != token(first)
        assert vendor.accepts(token(renewed))
        assert vendor.calls == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize(
    ("seconds", "ends"), [(None, False), (0, False), ("x", False), (-5, False), ("3600", True), (3600.5, True)]
)
def test_how_long_a_token_lives_is_read_as_services_write_it(
    house: House, vendor: Vendor, seconds: Any, ends: bool
) -> None:
    vendor.seconds = seconds
    with time_machine.travel(START, tick=False) as clock:
        started = begin(house, vendor)
        come_back(house, vendor.consent(started["authorize_url"]))
        clock.shift(3600 - 30)
        opened(house.runtime.accounts, started)
    assert (vendor.calls[1:] == ["refresh_token"]) is ends


def test_a_token_that_still_lives_outlasts_an_outage(house: House, vendor: Vendor) -> None:
    with time_machine.travel(START, tick=False) as clock:
        started = begin(house, vendor)
        come_back(house, vendor.consent(started["authorize_url"]))
        first = opened(house.runtime.accounts, started)
        vendor.said = [(503, {}), (503, {})]
        clock.shift(3600 - 30)
        assert token(opened(house.runtime.accounts, started)) == token(first)
        assert state_of(house, started)["state"] == "failing"
        clock.shift(31)
        with pytest.raises(RefreshFailed, match="503"):
            opened(house.runtime.accounts, started)
        renewed = opened(house.runtime.accounts, started)
        assert (vendor.accepts(token(renewed)), state_of(house, started)["state"]) == (True, "working")


@pytest.mark.parametrize(
    ("said", "words"),
    [((503, {}), "503"), ((429, {}), "429"), ((200, {}), "without a token"), ((404, {}), "404"), (None, "asked")],
)
def test_an_outage_of_the_service_breaks_nothing(
    house: House, vendor: Vendor, made: Json, said: Any, words: str
) -> None:
    """R10: only a valid pair is written, and only a refusal ends a connection."""
    account = opened(house.runtime.accounts, made)
    vendor.expire()
    vendor.said = [said]
    with pytest.raises(RefreshFailed, match=words):
        house.runtime.accounts.refused(account, "no", Deadline(10))
    shown = state_of(house, made)
    assert (shown["state"], messages(house)) == ("failing", [])
    assert words in shown["message"]
    renewed = house.runtime.accounts.refused(account, "no", Deadline(10))
    assert renewed is not None
    assert vendor.accepts(token(renewed))
    assert (state_of(house, made)["state"], state_of(house, made)["failing_since"]) == ("working", None)


@pytest.mark.parametrize(
    "said",
    [
        (400, {"error": "invalid_grant"}),
        (401, {}),
        (401, {"errors": [{"message": "x"}]}),
        (200, {"error": "bad_refresh_token"}),
        (400, {"error": "unauthorized_client"}),
    ],
)
def test_a_refusal_of_the_service_breaks_the_connection_once(
    house: House, vendor: Vendor, made: Json, said: Any
) -> None:
    account = opened(house.runtime.accounts, made)
    vendor.expire()
    vendor.said = [said]
    assert house.runtime.accounts.refused(account, "no", Deadline(10)) is None
    assert house.runtime.accounts.refused(account, "no", Deadline(10)) is None
    assert vendor.calls == ["refresh_token"]
    assert (state_of(house, made)["state"], len(messages(house))) == ("broken", 1)
    with pytest.raises(ConnectionUnusable, match="broken"):
        opened(house.runtime.accounts, made)


def test_an_older_refresh_token_stays_when_no_other_comes(house: House, vendor: Vendor, made: Json) -> None:
    vendor.rotates = False
    for _ in range(3):
        account = opened(house.runtime.accounts, made)
        vendor.expire()
        renewed = house.runtime.accounts.refused(account, "no", Deadline(10))
        assert renewed is not None
        assert vendor.accepts(token(renewed))


def test_f12_ten_that_are_refused_at_once_refresh_once(house: House, vendor: Vendor, made: Json) -> None:
    """F12: a refresh token that is used twice ends everything, so it is used once, by whoever claims it."""
    processes = [another_process(house) for _ in range(10)]
    accounts = [opened(process, made) for process in processes]
    vendor.expire()
    vendor.delay = 0.3
    renewed: list[Account | None] = [None] * len(processes)

    def meet_refusal(index: int) -> None:
        renewed[index] = processes[index].refused(accounts[index], "no", Deadline(20))

    threads = [threading.Thread(target=meet_refusal, args=(index,)) for index in range(len(processes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert vendor.calls == ["refresh_token"]
    assert all(account is not None and vendor.accepts(token(account)) for account in renewed)


def test_those_who_wait_for_one_who_fails_do_not_ask_again(house: House, vendor: Vendor, made: Json) -> None:
    processes = [another_process(house) for _ in range(4)]
    accounts = [opened(process, made) for process in processes]
    vendor.expire()
    vendor.delay = 0.5
    vendor.said = [(503, {})] * 4
    told: list[str] = []

    def meet_refusal(index: int) -> None:
        with pytest.raises(RefreshFailed) as failed:
            processes[index].refused(accounts[index], "no", Deadline(20))
        told.append(str(failed.value))

    threads = [threading.Thread(target=meet_refusal, args=(index,)) for index in range(len(processes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (vendor.calls, len(told)) == (["refresh_token"], 4)
    assert all("503" in words for words in told)


def test_newer_tokens_of_another_process_are_taken_without_a_call(house: House, vendor: Vendor, made: Json) -> None:
    mine, other = another_process(house), another_process(house)
    stale = opened(mine, made)
    vendor.expire()
    other.refused(opened(other, made), "no", Deadline(10))
    renewed = mine.refused(stale, "no", Deadline(10))
    assert renewed is not None
    assert vendor.accepts(token(renewed))
    assert vendor.calls == ["refresh_token"]


def test_a_refusal_after_somebody_elses_renewal_breaks_nothing(
    house: House, vendor: Vendor, made: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R10: who has used an older refresh token reads the row again before it believes invalid_grant."""
    slow, fast = another_process(house), another_process(house)
    account = opened(slow, made)
    vendor.expire()
    ask = slow._refresher._ask

    def late(*args: Any) -> Any:
        # The lease has run out meanwhile, and another one has been faster.
        house.table(f"UPDATE connections SET lease_until = 0 WHERE connection_id = '{made['id']}'")
        fast.refused(opened(fast, made), "no", Deadline(10))
        vendor.said = [(400, {"error": "invalid_grant"})]
        return ask(*args)

    monkeypatch.setattr(slow._refresher, "_ask", late)
    renewed = slow.refused(account, "no", Deadline(10))
    assert renewed is not None
    assert vendor.accepts(token(renewed))
    assert state_of(house, made)["state"] == "working"


def test_a_worker_that_died_with_the_answer_costs_a_lease_and_the_connection(
    house: House, vendor: Vendor, made: Json
) -> None:
    """Given a used refresh token whose answer nobody has, then the next one is told so, and nothing is overwritten."""
    account = opened(another_process(house), made)
    vendor.expire()
    vendor._pair(vendor._families[0])
    now = house.table("SELECT version FROM connections")[0]["version"]
    house.table("UPDATE connections SET claim = 'dead', lease_until = 9000000000000")
    with pytest.raises(RefreshFailed, match="still"):
        another_process(house).refused(account, "no", Deadline(1.5))
    house.table("UPDATE connections SET lease_until = 1")
    assert another_process(house).refused(account, "no", Deadline(10)) is None
    assert (state_of(house, made)["state"], state_of(house, made)["version"]) == ("broken", now + 1)


def test_a_claim_ends_by_itself(house: House, vendor: Vendor, made: Json) -> None:
    with time_machine.travel(START) as clock:
        account = opened(another_process(house), made)
        vendor.expire()
        until = int(START.timestamp() * 1000) + LEASE_MS
        house.table(f"UPDATE connections SET claim = 'dead', lease_until = {until}")
        clock.shift(LEASE_MS / 1000 + 1)
        assert another_process(house).refused(account, "no", Deadline(10)) is not None


def test_a_pair_that_the_database_could_not_take_is_not_lost(
    house: House, vendor: Vendor, made: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = another_process(house)
    account = opened(accounts, made)
    vendor.expire()
    monkeypatch.setattr("whenthen.engine.connections.refreshing._WRITE_SECONDS", 0.2)
    ask = accounts._refresher._ask

    def goes_down(*args: Any) -> Any:
        found = ask(*args)
        house.database.error = Unreachable()
        return found

    monkeypatch.setattr(accounts._refresher, "_ask", goes_down)
    with pytest.raises(StoreError):
        accounts.refused(account, "no", Deadline(10))
    house.database.error = None
    house.table("UPDATE connections SET lease_until = 0")
    renewed = accounts.refused(account, "no", Deadline(10))
    assert renewed is not None
    assert vendor.accepts(token(renewed))
    assert vendor.calls == ["refresh_token"]


def test_a_write_without_an_answer_is_found_when_it_is_there(
    house: House, vendor: Vendor, made: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = another_process(house)
    account = opened(accounts, made)
    vendor.expire()
    execute = house.database.execute
    lost: list[str] = []

    def loses_one(sql: str, **options: Any) -> Any:
        rows = execute(sql, **options)
        if "sealed = 'v1." in sql and not lost:
            lost.append(sql)
            raise OutcomeUnknown
        return rows

    monkeypatch.setattr(house.database, "execute", loses_one)
    renewed = accounts.refused(account, "no", Deadline(10))
    assert len(lost) == 1
    assert renewed is not None
    assert vendor.accepts(token(renewed))


def test_a_rename_during_a_refresh_is_kept_and_so_are_the_tokens(
    house: House, vendor: Vendor, made: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = another_process(house)
    account = opened(accounts, made)
    vendor.expire()
    ask = accounts._refresher._ask

    def renamed(*args: Any) -> Any:
        found = ask(*args)
        assert house.call("PATCH", f"/connections/{made['id']}", {"name": "Other"}).status_code == 200
        return found

    monkeypatch.setattr(accounts._refresher, "_ask", renamed)
    renewed = accounts.refused(account, "no", Deadline(10))
    assert renewed is not None
    assert vendor.accepts(token(opened(another_process(house), made)))
    assert state_of(house, made)["name"] == "Other"


@pytest.mark.parametrize(
    ("method", "path", "change"),
    [
        ("PATCH", "", {"name": "Other"}),
        ("PATCH", "", {"fields": {"note": "Other"}}),
        ("POST", "/authorize", None),
    ],
)
def test_r10_what_the_owner_does_during_a_refresh_starts_no_second_one(
    house: House, vendor: Vendor, made: Json, method: str, path: str, change: Json | None
) -> None:
    """R10: given a refresh on its way, when its owner changes the connection, then the pair is kept, and nobody asks
    with the older refresh token: the service would take that for a theft."""
    workers = [another_process(house) for _ in range(2)]
    accounts = [opened(worker, made) for worker in workers]
    vendor.expire()
    with ThreadPoolExecutor(2) as pool:
        with vendor.held("/token"):
            first = pool.submit(workers[0].refused, accounts[0], "no", Deadline(20))
            vendor.wait_for_one()
            assert house.call(method, f"/connections/{made['id']}{path}", change).status_code == 200
            second = pool.submit(workers[1].refused, accounts[1], "no", Deadline(20))
            time.sleep(0.5)
        renewed = [first.result(), second.result()]
    assert vendor.calls == ["refresh_token"]
    assert all(account is not None and vendor.accepts(token(account)) for account in renewed)
    assert vendor.accepts(token(opened(another_process(house), made)))
    row = find_connection(house.database, made["id"])
    assert row is not None
    assert (row.claim, row.lease_until) == ("", 0)


def test_a_refresh_that_came_to_nothing_holds_up_no_other(house: House, vendor: Vendor, made: Json) -> None:
    """Given a refresh on its way, when the connection is led elsewhere, then its new account's tokens are renewed."""
    worker = another_process(house)
    account = opened(worker, made)
    vendor.expire()
    with ThreadPoolExecutor(1) as pool, Vendor() as other:
        with vendor.held("/token"):
            refused = pool.submit(worker.refused, account, "no", Deadline(20))
            vendor.wait_for_one()
            change = {"fields": {"url": other.url, "client_secret": CLIENT[1]}}
            assert house.call("PATCH", f"/connections/{made['id']}", change).json()["state"] == "unfinished"
        assert refused.result() is None
        started = house.call("POST", f"/connections/{made['id']}/authorize").json()
        assert come_back(house, other.consent(started["authorize_url"])).status_code == 200
        other.expire()
        assert house.call("POST", f"/connections/{made['id']}/test").json()["state"] == "working"


def test_another_field_is_no_other_token(house: House, vendor: Vendor, made: Json) -> None:
    """Given an ended token, when its owner changes something else, then it is renewed, and not tried again."""
    accounts = another_process(house)
    account = opened(accounts, made)
    vendor.expire()
    house.call("PATCH", f"/connections/{made['id']}", {"fields": {"note": "Other"}})
    renewed = accounts.refused(account, "no", Deadline(10))
    assert renewed is not None
    assert vendor.accepts(token(renewed))


def test_a_token_given_by_hand_is_broken_when_it_is_refused(house: House, vendor: Vendor) -> None:
    vendor.give("by-hand")
    document = {"service": "vendor", "name": "n", "fields": {"url": vendor.url, "token": "by-hand"}}
    made = house.call("POST", "/connections", document).json()
    account = opened(house.runtime.accounts, made)
    vendor.expire()
    assert house.runtime.accounts.refused(account, "It was refused.", Deadline(10)) is None
    assert (state_of(house, made)["state"], messages(house)) == ("broken", ["The connection n is broken"])
    assert "It was refused." in house.inbox()[0]["message"]
    assert vendor.calls == []


def test_an_action_that_works_again_is_noted(house: House, vendor: Vendor, made: Json) -> None:
    accounts = another_process(house)
    account = opened(accounts, made)
    vendor.expire()
    vendor.said = [(503, {})]
    with pytest.raises(RefreshFailed):
        accounts.refused(account, "no", Deadline(10))
    failing = opened(accounts, made)
    sent = len(house.database.sent)
    accounts.worked(account)
    assert len(house.database.sent) == sent
    accounts.worked(failing)
    assert (state_of(house, made)["state"], state_of(house, made)["message"]) == ("working", "")


def test_new_tokens_that_are_refused_too_break_the_connection(house: House, vendor: Vendor, made: Json) -> None:
    account = opened(house.runtime.accounts, made)
    vendor.expire()
    renewed = house.runtime.accounts.refused(account, "no", Deadline(10))
    assert renewed is not None
    # Who speaks of older tokens says nothing about these.
    house.runtime.accounts.broken(account, "no", Deadline(10))
    assert state_of(house, made)["state"] == "working"
    house.runtime.accounts.broken(renewed, "Not even the new ones.", Deadline(10))
    assert (state_of(house, made)["state"], len(messages(house))) == ("broken", 1)


def test_what_is_remembered_costs_no_question_and_is_forgotten_soon(
    house: House, vendor: Vendor, made: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = another_process(house)
    opened(accounts, made)
    sent = len(house.database.sent)
    opened(accounts, made)
    assert len(house.database.sent) == sent
    house.call("DELETE", f"/connections/{made['id']}")
    monkeypatch.setattr("whenthen.engine.connections.opened.REMEMBERED_SECONDS", 0.0)
    assert REMEMBERED_SECONDS <= 5
    with pytest.raises(ConnectionUnusable, match="no such"):
        opened(accounts, made)
    assert accounts.remembered(made["id"], "vendor") is None


def test_an_answer_that_comes_late_does_not_replace_a_newer_one(house: House, vendor: Vendor, made: Json) -> None:
    connections = another_process(house)._opened
    older = connections.read(made["id"], Deadline(10))
    house.call("PATCH", f"/connections/{made['id']}", {"name": "Newer"})
    newer = connections.read(made["id"], Deadline(10))
    connections.remember(older, time.monotonic())
    assert connections.remembered(made["id"]) == newer


def test_another_owner_or_service_opens_nothing(house: House, vendor: Vendor, made: Json) -> None:
    for owner, service in (("other", "vendor"), (OWNER, "github")):
        with pytest.raises(ConnectionUnusable):
            house.runtime.accounts.open(owner, made["id"], service, Deadline(10))


def test_secrets_stay_out_of_words(house: House, vendor: Vendor, made: Json) -> None:
    account = opened(house.runtime.accounts, made)
    refresh = vendor._families[0].refresh
    vendor.expire()
    vendor.said = [(400, {"error": "invalid_grant", "error_description": f"no {refresh} {token(account)}"})]
    house.runtime.accounts.refused(account, "no", Deadline(10))
    told = str(state_of(house, made)) + str(house.inbox()) + repr(account) + repr(account.fields)
    assert refresh not in told
    assert token(account) not in told
