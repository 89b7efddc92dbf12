"""Executions that are not in the log yet, of several places at one instant; see ``sql/statements/stream.sql``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whenthen.store.database import Database
from whenthen.store.executions import ExecutionRow, from_row
from whenthen.store.progress import FACTS_SEPARATOR, NO_FACTS
from whenthen.store.statements import Script, load

_S = load("stream")

MAX_ROWS = 200
"""The most executions that `read_places` returns of a place."""


@dataclass(frozen=True, slots=True)
class Places:
    """What was read: executions by place, newest slot first and in a slot the newest first.

    `open` are the names of all slots and batches that there were at that instant, newest first.
    """

    rows: dict[str, list[ExecutionRow]]
    open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """How many executions of an applet are in one `state`, of slots that began in one `hour`, ``yyyymmddhh`` UTC.

    Times are epoch milliseconds: when the last one ended, 0 while they are under way, when the last and the first one
    occurred, and when the first one is due, None when none is. `service` decided how they ended, and is empty while
    they are under way.
    """

    applet_id: str
    state: str
    service: str
    hour: str
    runs: int
    ended_at: int
    last_at: int
    first_at: int
    due_at: int | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which executions of a place to read: only those of an applet, or in a state; empty for all. At most `rows`."""

    place: str
    applet_id: str = ""
    state: str = ""
    rows: int = MAX_ROWS


def read_places(database: Database, wanted: Sequence[Wanted], owner_id: str, *, before: tuple[str, int, str]) -> Places:
    """Return the owner's executions in some places, all as they were at one instant, in one statement.

    Parameters
    ----------
    before:
        Slot, time (epoch milliseconds) and id that all returned rows come after in the order.

    Raises
    ------
    MissingTable
        One of the places is gone.
    """
    selects = [
        Script().add(
            _S["list_place"],
            place_name=one.place,
            place=one.place,
            owner_id=owner_id,
            applet_id=one.applet_id,
            state=one.state,
            before_slot=before[0],
            before_at=before[1],
            before_id=before[2],
            rows=one.rows,
        )
        for one in wanted
    ]
    found: dict[str, list[ExecutionRow]] = {one.place: [] for one in wanted}
    names = []
    for row in database.execute(Script().union([*selects, Script().add(_S["list_places"])]).sql):
        place = row.pop("place")
        if row["execution_id"]:
            found[place].append(from_row(row, place))
        else:
            names.append(place)
    return Places(found, tuple(sorted(names, reverse=True)))


def count_places(database: Database, places: Sequence[str], owner_id: str) -> list[Counted]:
    """Return how the owner's executions in some places stand, all at one instant. Raises as `read_places`."""
    selects = [
        Script().add(_S["count_place"], place=place, owner_id=owner_id, separator=FACTS_SEPARATOR, no_facts=NO_FACTS)
        for place in places
    ]
    rows: list[dict[str, Any]] = database.execute(Script().union(selects).sql)
    return [Counted(**row) for row in rows]
