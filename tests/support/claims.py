"""Short words for tests of claims and outcomes: changes of executions, and what has come of them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.stores import APPLET, T0, executions_in
from whenthen.engine.claims import Claimed
from whenthen.engine.runs import Run
from whenthen.model.applet import ActionRef, Applet, TriggerRef
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database, Rows
from whenthen.store.errors import GuardFailed, OutcomeUnknown
from whenthen.store.executions import (
    ExecutionRow,
    Outcome,
    State,
    claim,
    find_execution,
    mark_sending,
    read_executions,
    record_outcome,
)
from whenthen.store.inbox import Message, list_messages
from whenthen.store.progress import Progress
from whenthen.store.statements import Script

LEASE = T0 + 30_000
ALWAYS = (2**63 - 1, "")
ENDED = Progress(step=1, tries=2, reason="so", attempts=({"action": 0},), finished_at=T0 + 5)
DIED = Progress(tries=1, reason="died", attempts=({"action": "x"},))

type Change = Callable[[Script], None]


class LostAnswers:
    """A database that does what it is told, and whose first answers, by default to changes, are lost on the way.

    Attributes:
        lost: how many answers were.
        requests: how many requests there were.
    """

    embedded = True

    def __init__(self, inner: Database, to_lose: int = 1, answer_to: str = "UPDATE") -> None:
        self._inner = inner
        self._to_lose = to_lose
        self._answer_to = answer_to
        self.lost = self.requests = 0

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        self.requests += 1
        rows = self._inner.execute(sql, timeout_seconds=timeout_seconds)
        if self._answer_to in sql and self.lost < self._to_lose:
            self.lost += 1
            raise OutcomeUnknown
        return rows

    def close(self) -> None:
        """The inner one is its owner's."""


def run(database: Database, *changes: Change) -> None:
    script = Script()
    for change in changes:
        change(script)
    database.execute(script.sql)


def refused(database: Database, *changes: Change, column: str = "state") -> None:
    """Run the changes, of which one comes too late: the script is refused and no row has changed."""
    before = everything(database)
    with pytest.raises(GuardFailed) as failed:
        run(database, *changes)
    assert failed.value.column == column
    assert everything(database) == before


def everything(database: Database) -> list[ExecutionRow]:
    return executions_in(database)


def claiming(execution_id: str, token: str, now: int = T0) -> Change:
    return lambda script: claim(script, execution_id, claim=token, now=now, lease_until=now + 30_000)


def marking(execution_id: str, token: str, step: int = 0) -> Change:
    return lambda script: mark_sending(script, execution_id, claim=token, step=step)


def recording(execution_id: str, token: str, state: State = State.SUCCEEDED) -> Change:
    return lambda script: record_outcome(script, outcome(execution_id, token, state))


def try_claim(database: Database, execution_id: str, token: str, now: int = T0) -> bool:
    """Whether it is `token`'s now."""
    script = Script()
    claiming(execution_id, token, now)(script)
    try:
        rows = read_executions(database, script, [execution_id])
    except GuardFailed:
        return False
    return rows[execution_id].claim == token


def read(database: Database, execution_id: str) -> ExecutionRow:
    row = find_execution(database, execution_id)
    assert row is not None
    return row


def outcome(execution_id: str, token: str, state: State = State.SUCCEEDED, **changes: object) -> Outcome:
    return replace(Outcome(execution_id, token, state, ENDED), **changes)  # type: ignore[arg-type]


def message(execution_id: str) -> Message:
    return Message(f"{execution_id}.0", "owner", APPLET, execution_id, T0, "title", "body", "")


def message_ids(database: Database) -> list[str]:
    return sorted(found.execution_id for found in list_messages(database, "owner", before=ALWAYS))


def held(claimed: Claimed, token: str) -> set[str]:
    """The ids of what was claimed, all of which is the token's."""
    assert {(row.claim, row.state) for row in claimed.executions.values()} <= {(token, State.RUNNING)}
    assert all(execution_id == row.execution_id for execution_id, row in claimed.executions.items())
    return set(claimed.executions)


def running(execution_id: str, token: str, step: int = 0) -> Run:
    applet = Applet(
        name="a", trigger=TriggerRef(service="s", trigger="t"), actions=(ActionRef(service="s", action="a"),)
    )
    return Run(execution_id, "owner", token, applet, {}, T0, step, 0, [], Progress())
