"""Rollups of the log: what the dashboard reads, at a cost that does not depend on the log's size."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from whenthen.store.database import Database, Rows
from whenthen.store.errors import MissingTable
from whenthen.store.statements import Script, load

_S = load("stats")


MAX_SUMS = 36
"""The most sums that fit one request beside a part (`statements.MAX_AST_VALUES`)."""

STATES = ("succeeded", "failed", "skipped", "unknown")
"""How an execution can have ended."""


@dataclass(slots=True)
class Numbers:
    """Executions by how they ended, attempts, and durations in milliseconds, in all and the longest."""

    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    unknown: int = 0
    attempts: int = 0
    duration: int = 0
    longest: int = 0

    def count(self, state: str, runs: int) -> None:
        """Add `runs` executions that have ended in `state`, without attempts and durations."""
        setattr(self, state, getattr(self, state) + runs)

    def add(self, group: Mapping[str, Any]) -> None:
        """Add `runs` executions that have ended in one `state`."""
        self.count(group["state"], group["runs"])
        self.attempts += group["attempts"]
        self.duration += group["duration"]
        self.longest = max(self.longest, group["longest"])

    def add_all(self, other: "Numbers") -> None:
        """Add other numbers."""
        for name in (*STATES, "attempts", "duration"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.longest = max(self.longest, other.longest)

    @property
    def runs(self) -> int:
        """All of them."""
        return self.succeeded + self.failed + self.skipped + self.unknown

    @property
    def tried(self) -> int:
        """Those that were not skipped: it was chosen not to run the others."""
        return self.succeeded + self.failed + self.unknown

    @property
    def success_rate(self) -> float | None:
        """Which part of those that were tried has succeeded, 0 to 1; None when none was tried."""
        return self.succeeded / self.tried if self.tried else None


_NUMBERS = tuple(item.name for item in fields(Numbers))
_ZEROS = [0] * len(_NUMBERS)


@dataclass(frozen=True, slots=True)
class StatRow:
    """A rollup: of an applet and a day, or of a service and an hour. `hour` is None for a day, ``yyyymmdd``."""

    kind: str
    subject: str
    day: str
    hour: int | None
    numbers: Numbers


def create_stats(script: Script, month: str) -> None:
    """Add to `script` the creation of the month's table, ``yyyymm``."""
    script.add(_S["create_stats"], month=month)


def add_stats(script: Script, month: str, rollups: Mapping[tuple[str, ...], Numbers], *, part_id: str = "") -> None:
    """Add numbers of a month to its rollups, by owner, kind, subject, day and hour (empty for a whole day).

    Parameters
    ----------
    part_id:
        Names the part that the numbers are of. When there are more than `MAX_SUMS`, the part gets rows of its own, and
        the reader sums them.
    """
    many = len(rollups) > MAX_SUMS
    ids = {key: json.dumps([*key, part_id] if many else key, ensure_ascii=False) for key in rollups}
    values = {key: [getattr(numbers, name) for name in _NUMBERS] for key, numbers in rollups.items()}
    rows = [[ids[key], *key[:4], int(key[4] or -1), *(values[key] if many else _ZEROS)] for key in rollups]
    script.add(_S["insert_stats"], month=month, rows=json.dumps(rows, ensure_ascii=False, separators=(",", ":")))
    if not many:
        for key in rollups:
            script.add(_S["add_stats"], month=month, stat_id=ids[key], **dict(zip(_NUMBERS, values[key], strict=True)))


def list_stats(database: Database, month: str, owner_id: str, from_day: str, to_day: str) -> list[StatRow]:
    """Return an owner's rollups of a month, from one day to another, both included.

    Raises
    ------
    MissingTable
        Nothing of that month is in the log.
    """
    script = Script().add(_S["list_stats"], month=month, owner_id=owner_id, from_day=from_day, to_day=to_day)
    return [
        StatRow(
            row["kind"],
            row["subject"],
            row["day"],
            row["hour"] if row["hour"] >= 0 else None,
            Numbers(**{name: row[name] for name in _NUMBERS}),
        )
        for row in database.execute(script.sql)
    ]


@dataclass(slots=True)
class Sums:
    """What has ended in some days, UTC: by applet, with the last day on which it ran, and by service and hour.

    Days are ``yyyymmdd``, hours ``yyyymmddhh``. The numbers have neither attempts nor durations.
    """

    applets: dict[str, Numbers] = field(default_factory=dict)
    last_days: dict[str, str] = field(default_factory=dict)
    services: dict[str, dict[str, Numbers]] = field(default_factory=dict)


def sum_stats(database: Database, owner_id: str, from_day: str, to_day: str, *, applets_from: str = "") -> Sums:
    """Return the sums of an owner's rollups from one day to another, both included, in one statement.

    Parameters
    ----------
    applets_from:
        The first day of the applets' numbers; empty for that of the others.
    """
    first, last = (datetime.strptime(day, "%Y%m%d").date() for day in (from_day, to_day))
    months = sorted({f"{first + timedelta(days=n):%Y%m}" for n in range((last - first).days + 1)})
    sums = Sums()
    days = {"from_day": from_day, "to_day": to_day, "applets_from": applets_from}
    for row in _sum_months(database, months, owner_id, days):
        numbers = Numbers(**{state: row[state] for state in STATES})
        subject = row["subject"]
        if row["kind"] == "applet":
            sums.applets.setdefault(subject, Numbers()).add_all(numbers)
            sums.last_days[subject] = max(row["last_day"], sums.last_days.get(subject, ""))
        else:
            sums.services.setdefault(subject, {})[f"{row['day']}{row['hour']:02}"] = numbers
    return sums


def _sum_months(database: Database, months: list[str], owner_id: str, days: Mapping[str, str]) -> Rows:
    while months:
        selects = [Script().add(_S["sum_stats"], month=month, owner_id=owner_id, **days) for month in months]
        try:
            return database.execute(Script().union(selects).sql)
        except MissingTable as error:
            # Nothing of that month is in the log.
            months = [month for month in months if not error.table.endswith(month)]
    return []


def delete_stats(database: Database, month: str, owner_id: str) -> None:
    """Delete an owner's rollups of a month. Raises as `list_stats`."""
    database.execute(Script().add(_S["delete_stats"], month=month, owner_id=owner_id).sql)
