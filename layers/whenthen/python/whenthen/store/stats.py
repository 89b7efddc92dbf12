"""Rollups of the log: what the dashboard reads, at a cost that does not depend on the log's size."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from whenthen.store.database import Database, Rows
from whenthen.store.errors import MissingTable
from whenthen.store.statements import Script, Statement, load

_S = load("stats")

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


NUMBERS = tuple(item.name for item in fields(Numbers))
"""Their names, which are those of columns."""

type Rollups = Mapping[tuple[str, ...], Numbers]
"""By owner, kind, subject, day and hour (empty for a whole day)."""


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


def add_stats(script: Script, month: str, rollups: Rollups) -> None:
    """Add to `script` numbers of a month, to be added to its rollups: a few, see `stat_parts.add_rollups`."""
    ids = {key: json.dumps(key, ensure_ascii=False) for key in rollups}
    rows = [[ids[key], *key[:4], int(key[4] or -1)] for key in rollups]
    script.add(_S["insert_stats"], month=month, rows=json.dumps(rows, ensure_ascii=False, separators=(",", ":")))
    for key, numbers in rollups.items():
        script.add(_S["add_stats"], month=month, stat_id=ids[key], **{name: getattr(numbers, name) for name in NUMBERS})


def list_stats(database: Database, owner_id: str, from_day: str, to_day: str) -> list[StatRow]:
    """Return an owner's rollups from one day to another, ``yyyymmdd``, both included. Several may be of the same."""
    return [
        StatRow(
            row["kind"],
            row["subject"],
            row["day"],
            row["hour"] if row["hour"] >= 0 else None,
            Numbers(**{name: row[name] for name in NUMBERS}),
        )
        for row in _read(database, _S["list_stats"], _S["list_parts"], from_day, to_day, {"owner_id": owner_id})
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
    """Return the sums of an owner's rollups from one day to another, both included: one statement scans.

    Parameters
    ----------
    applets_from:
        The first day of the applets' numbers; empty for that of the others.
    """
    sums = Sums()
    values = {"owner_id": owner_id, "applets_from": applets_from}
    for row in _read(database, _S["sum_stats"], _S["sum_parts"], from_day, to_day, values):
        numbers = Numbers(**{state: row[state] for state in STATES})
        subject = row["subject"]
        if row["kind"] == "applet":
            sums.applets.setdefault(subject, Numbers()).add_all(numbers)
            sums.last_days[subject] = max(row["last_day"], sums.last_days.get(subject, ""))
        else:
            hours = sums.services.setdefault(subject, {})
            hours.setdefault(f"{row['day']}{row['hour']:02}", Numbers()).add_all(numbers)
    return sums


def _read(
    database: Database,
    of_month: Statement,
    of_day: Statement,
    from_day: str,
    to_day: str,
    values: Mapping[str, str],
) -> Rows:
    """Return what these days have, at one instant: rollups by month, and what stands apart by day."""
    months, days = _find_tables(database, from_day, to_day)
    bounds = {"from_day": from_day, "to_day": to_day}
    selects = {f"daily_stats_{month}": Script().add(of_month, month=month, **bounds, **values) for month in months}
    selects |= {f"stat_parts_{day}": Script().add(of_day, day=day, **values) for day in days}
    while selects:
        try:
            return database.execute(Script().union(list(selects.values())).sql)
        except MissingTable as error:
            # Merged since it was found: its numbers are among those of the month.
            del selects[error.table]
    return []


def _find_tables(database: Database, from_day: str, to_day: str) -> tuple[list[str], list[str]]:
    """Return the months that have rollups and the days that have numbers apart, without a scan."""
    first, last = (datetime.strptime(day, "%Y%m%d").date() for day in (from_day, to_day))
    months = sorted({f"{first + timedelta(days=n):%Y%m}" for n in range((last - first).days + 1)})
    known = [Script().add(_S["read_month"], month=month) for month in months]
    apart = [Script().add(_S["read_part_days"], month=month) for month in months]
    rows = database.execute(Script().union(known + apart).sql)
    days = {day for row in rows for day in row["part_days"].split() if from_day <= day <= to_day}
    return sorted({row["stat_month"] for row in rows}), sorted(days)


def delete_stats(database: Database, month: str, owner_id: str) -> None:
    """Delete an owner's rollups of a month. What is not merged stays."""
    database.execute(Script().add(_S["delete_stats"], month=month, owner_id=owner_id).sql)
