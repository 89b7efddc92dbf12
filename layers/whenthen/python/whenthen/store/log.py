"""Reading the log. Every question is bounded by slots: what it costs is the rows between them (ALOPEX.md 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from whenthen.store.database import Database
from whenthen.store.errors import MissingTable
from whenthen.store.progress import Progress
from whenthen.store.statements import Script, load
from whenthen.store.stats import Numbers

_S = load("log")
_TIMEOUT_SECONDS = 30.0

_LAST = "~"
"""After every applet's id and every state."""

PAGE = 200
"""The most rows that `list_log` returns."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """A final execution. Times are epoch milliseconds, `duration` is in milliseconds, `slot` is yyyymmddhhmm.

    `service` decided how it ended; `run` counts how often it had been put back before it ran.
    """

    execution_id: str
    slot: int
    owner_id: str
    applet_id: str
    service: str
    trigger_service: str
    occurred_at: int
    finished_at: int
    state: str
    reason: str
    note: str
    attempts: int
    duration: int
    run: int


@dataclass(frozen=True, slots=True)
class Filters:
    """Which executions to show; empty for all. `text` is looked for in reasons and notes, in whatever case.

    `first_slot` and `last_slot` bound them, both or none.
    """

    applet_id: str = ""
    state: str = ""
    service: str = ""
    text: str = ""
    first_slot: str = ""
    last_slot: str = ""


def list_months(log: Database) -> list[str]:
    """Return the months that have a log, ``yyyymm``, newest first."""
    return [row["log_month"] for row in log.execute(Script().add(_S["list_months"]).sql)]


def list_log(
    log: Database,
    month: str,
    owner_id: str,
    filters: Filters,
    *,
    slots: tuple[str, str],
    before: tuple[str, int, str],
) -> list[LogRow]:
    """Return up to `PAGE` of the owner's executions of a month: newest slot first, in a slot the newest first.

    Parameters
    ----------
    slots:
        The first and the last slot to look at.
    before:
        Slot, time (epoch milliseconds) and id that all returned rows come after in the order.
    """
    script = Script().add(
        _S["list_log"],
        month=month,
        owner_id=owner_id,
        from_slot=int(slots[0]),
        to_slot=int(slots[1]),
        before_slot=int(before[0]),
        before_at=before[1],
        before_id=before[2],
        from_applet=filters.applet_id,
        to_applet=filters.applet_id or _LAST,
        from_state=filters.state,
        to_state=filters.state or _LAST,
        service=filters.service,
        text=filters.text.lower(),
    )
    return _rows(log, script)


def list_reruns(log: Database, month: str, owner_id: str, slots: tuple[str, str]) -> dict[str, int]:
    """Return the last run of each of the owner's executions of these slots that was put back, by id."""
    script = Script().add(
        _S["list_reruns"], month=month, owner_id=owner_id, from_slot=int(slots[0]), to_slot=int(slots[1])
    )
    last: dict[str, int] = {}
    try:
        rows = log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
    except MissingTable:
        return {}
    for row in rows:
        last[row["execution_id"]] = max(row["run"], last.get(row["execution_id"], 0))
    return last


def find_logged(log: Database, execution_id: str) -> list[LogRow]:
    """Return the runs of an execution that are in the log, in order."""
    slot = execution_id[:12]
    script = Script().add(_S["find_logged"], month=slot[:6], slot=int(slot), execution_id=execution_id)
    return _rows(log, script)


def _rows(log: Database, script: Script) -> list[LogRow]:
    try:
        return [LogRow(**row) for row in log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)]
    except MissingTable:
        # Of a month that has no log, or whose log is being written anew without somebody's rows.
        return []


def find_details(log: Database, execution_id: str) -> list[tuple[str, Progress]]:
    """Return ingredients and progress of each run of an execution whose payload is kept, in order.

    Ingredients are JSON text, or empty when they stand in the event.
    """
    slot = execution_id[:12]
    script = Script().add(_S["find_details"], day=slot[:8], slot=int(slot), execution_id=execution_id)
    try:
        rows = log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
    except MissingTable:
        return []
    found = [(row["ingredients"], Progress.from_json(row["progress"])) for row in rows]
    return sorted(found, key=lambda item: item[1].run)


def count_day(log: Database, owner_id: str, day: str) -> Sequence[tuple[str, str, int, Numbers]]:
    """Return the exact numbers of a day, ``yyyymmdd``, by applet, service and hour."""
    script = Script().add(
        _S["count_log"], month=day[:6], from_slot=int(f"{day}0000"), to_slot=int(f"{day}2359"), owner_id=owner_id
    )
    try:
        rows = log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
    except MissingTable:
        return []
    found = []
    for row in rows:
        numbers = Numbers()
        numbers.add(row)
        found.append((row["applet_id"], row["service"], int(row["hour"]), numbers))
    return found
