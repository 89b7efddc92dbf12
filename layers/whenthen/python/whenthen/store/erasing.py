"""Erasing what the history holds of an owner: payloads of a day, or everything.

What is gone can't be asked for any more. Its bytes stay in the database's files, which are only ever added to, until
the database is rebuilt, and in exports.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from whenthen.store.database import Database
from whenthen.store.errors import MissingTable
from whenthen.store.history import History
from whenthen.store.loads import make_tables
from whenthen.store.statements import Script, Statement, load
from whenthen.store.tables import list_tables

_S = load("erasing")
_LOG = load("log")
_TIMEOUT_SECONDS = 120.0
_BLANKED_AT_ONCE = 50

_ASIDE = "00"
"""Added to a month or a day, it names the table that the rows of others stand in meanwhile."""


def list_days(log: Database) -> list[str]:
    """Return the days that have payloads, ``yyyymmdd``, oldest first."""
    return [row["detail_day"] for row in log.execute(Script().add(_S["list_days"]).sql)]


def list_owners(log: Database, day: str) -> list[str]:
    """Return the owners that have payloads of that day; none when its table is gone."""
    try:
        rows = log.execute(Script().add(_S["count_owners"], day=day).sql, timeout_seconds=_TIMEOUT_SECONDS)
    except MissingTable:
        return []
    return [row["owner_id"] for row in rows]


def list_executions(log: Database, day: str, owner_id: str) -> Iterator[list[str]]:
    """Yield the ids of the owner's executions that have payloads of that day, up to 500 at once."""
    after = ""
    while True:
        script = Script().add(_S["list_owned"], day=day, owner_id=owner_id, after=after)
        ids = [row["execution_id"] for row in log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)]
        if not ids:
            return
        yield ids
        after = ids[-1]


def list_waiting(hot: Database, owner_id: str) -> list[str]:
    """Return the ids of the owner's executions that have outlived their slot and are not in the log."""
    rows = hot.execute(Script().add(_S["list_waiting_events"], owner_id=owner_id).sql)
    return [row["execution_id"] for row in rows]


def blank_events(hot: Database, event_ids: list[str]) -> None:
    """Empty the ingredients of events. The rows stay: they are what a repeated arrival is known by."""
    for start in range(0, len(event_ids), _BLANKED_AT_ONCE):
        script = Script()
        for event_id in event_ids[start : start + _BLANKED_AT_ONCE]:
            script.add(_S["blank_event"], event_id=event_id)
        hot.execute(script.sql)


def drop_day(history: History, day: str) -> None:
    """Drop the table of a day that has no payloads.

    Raises
    ------
    GuardFailed
        It has some again.
    """
    script = Script().add(_S["guard_empty_day"], day=day)
    script.add(_S["drop_details"], day=day).add(_S["delete_day"], day=day)
    try:
        history.log.execute(script.sql)
    except MissingTable:
        history.log.execute(Script().add(_S["delete_day"], day=day).sql)
    blank_file(history)


@dataclass(frozen=True, slots=True)
class Columnar:
    """A kind of columnar table: what differs in its name, its statements, and the pattern of its names aside."""

    part: str
    create: Statement
    take: Statement
    write_others: Statement
    write_all: Statement
    drop: Statement
    pattern: re.Pattern[str]


DETAILS = Columnar(
    part="day",
    create=_LOG["create_details"],
    take=_LOG["take_details"],
    write_others=_S["write_other_details"],
    write_all=_S["write_all_details"],
    drop=_S["drop_details"],
    pattern=re.compile(rf"execution_details_(\d{{8}}){_ASIDE}"),
)
FACTS = Columnar(
    part="month",
    create=_LOG["create_log"],
    take=_LOG["take_facts"],
    write_others=_S["write_other_facts"],
    write_all=_S["write_all_facts"],
    drop=_S["drop_facts"],
    pattern=re.compile(rf"execution_log_(\d{{6}}){_ASIDE}"),
)


def erase(history: History, kind: Columnar, part: str, owner_id: str) -> None:
    """Erase an owner's rows of a day's details or a month's log. May be done again.

    Two requests, since a table can't be dropped and made again in one: between them the rows of others stand aside, and
    are hidden. Rows that are loaded meanwhile are not lost: the load makes the table that it misses.

    Parameters
    ----------
    part:
        ``yyyymmdd`` of details, ``yyyymm`` of the log.
    """
    aside, file = {kind.part: part + _ASIDE}, history.copy_file
    history.log.execute(Script().add(kind.create, **aside).sql)
    script = Script().add(kind.write_others, **{kind.part: part}, owner_id=owner_id, file=file)
    script.add(kind.take, **aside, file=file).add(kind.drop, **{kind.part: part})
    history.log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
    _put_back(history, kind, part)
    blank_file(history)


def _put_back(history: History, kind: Columnar, part: str) -> None:
    aside, file = {kind.part: part + _ASIDE}, history.copy_file
    make_tables(history.log, f"{part}01"[:8])
    script = Script().add(kind.write_all, **aside, file=file)
    script.add(kind.take, **{kind.part: part}, file=file).add(kind.drop, **aside)
    history.log.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)


def finish_erasing(history: History) -> None:
    """Put back what an `erase` that broke off has left aside."""
    for name in list_tables(history.log):
        for kind in (DETAILS, FACTS):
            if found := kind.pattern.fullmatch(name):
                _put_back(history, kind, found[1])


def blank_file(history: History) -> None:
    """Write over what the last copy has left in the file."""
    history.log.execute(Script().add(_S["write_nothing"], file=history.copy_file).sql)
