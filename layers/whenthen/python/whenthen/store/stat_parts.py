"""Rollups of a part of the log that has very many: they stand apart until their day is over, then they are merged."""

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress

from whenthen.store.database import Database
from whenthen.store.errors import MissingTable
from whenthen.store.statements import Script, load
from whenthen.store.stats import NUMBERS, Rollups, add_stats

_S = load("stat_parts")

MAX_SUMS = 36
"""The most sums that fit one request beside a part (`statements.MAX_AST_VALUES`)."""

_TIMEOUT_SECONDS = 60.0


def are_many(rollups: Rollups) -> bool:
    """Return whether these can't be added to the rollups in one request."""
    return len(rollups) > MAX_SUMS


def create_parts(script: Script, day: str) -> None:
    """Add to `script` the creation of the day's table, ``yyyymmdd``, and that readers know of it."""
    script.add(_S["create_parts"], day=day).add(_S["insert_stat_month"], month=day[:6])
    script.add(_S["name_parts"], **_named(day))


def _named(day: str) -> Mapping[str, str]:
    return {"month": day[:6], "part_day": f"{day} "}


def add_rollups(script: Script, day: str, rollups: Rollups, *, part_id: str, file: str) -> None:
    """Add to `script` numbers of a day: to the rollups of its month, or, when they are many, as rows of the part.

    Parameters
    ----------
    day:
        ``yyyymmdd``; all numbers are of it.
    part_id:
        Names the part of the log that they are of, and begins with its slot.
    file:
        Path of a file that the server writes over and reads (`History.copy_file`).
    """
    if not are_many(rollups):
        add_stats(script, day[:6], rollups)
        return
    rows = [
        [*key[:4], int(key[4] or -1), *(getattr(numbers, name) for name in NUMBERS)] for key, numbers in rollups.items()
    ]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    script.add(_S["write_parts"], part_id=part_id, rows=text, file=file).add(_S["take_parts"], day=day, file=file)


def list_part_days(log: Database) -> list[str]:
    """Return the days that have numbers apart, ``yyyymmdd``, those of the oldest month first."""
    return [day for row in log.execute(Script().add(_S["list_stat_months"]).sql) for day in row["part_days"].split()]


def merge_day(log: Database, day: str) -> None:
    """Merge a day's numbers into the rollups, one row an applet and one a service and hour, or nothing at all.

    May be done again and by two at once. What comes later for that day makes its table anew.
    """
    script = Script().add(_S["merge_parts"], month=day[:6], day=day, merge_id=f"{day}.{secrets.token_hex(8)}")
    script.add(_S["drop_parts"], day=day).add(_S["forget_parts"], **_named(day))
    # Another has merged it since it was listed.
    with suppress(MissingTable):
        log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
