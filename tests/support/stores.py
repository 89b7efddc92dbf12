"""The places that the store's contract holds in: both engines, and both storage regimes of the server."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier

import pytest

from tests.support.alopex import AlopexServer
from whenthen.store.database import Database, connect
from whenthen.store.executions import ExecutionRow
from whenthen.store.migrations import migrate
from whenthen.store.reservations import reserve_execution
from whenthen.store.slots import open_slot
from whenthen.store.statements import Script
from whenthen.store.stream import Wanted, read_places

PLACES = ["embedded in memory", "embedded in a file", "server, memory", "server, checkpointed"]
SLOT = "202601312330"
T0 = 1_769_902_200_000
"""The slot's first millisecond."""
APPLET = "applet"
INGREDIENTS = '{"Value1":"short"}'


@dataclass(frozen=True)
class Place:
    """A migrated database, and `boundary()`: what was written so far moves to where the place keeps it."""

    name: str
    database: Database
    boundary: Callable[[], None]


@contextmanager
def open_place(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """One of `PLACES`, empty but for the schema and one slot."""
    boundary: Callable[[], None] = lambda: None  # noqa: E731
    if name.startswith("server"):
        server: AlopexServer = request.getfixturevalue("server")
        database = connect(server.url, api_key=server.api_key)
        if name.endswith("checkpointed"):
            boundary = server.checkpoint
    else:
        database = connect(":memory:" if name.endswith("memory") else str(tmp_path / "store.alopex"))
    with closing(database):
        migrate(database)
        open_slot(database, SLOT, T0)
        yield Place(name, database, boundary)


def id_of(name: str, applet: str = APPLET) -> str:
    """The id of the execution of `applet` that the event `name` sets off, in `SLOT`."""
    return f"{SLOT}.{name}.{applet}"


def reserve(
    database: Database, name: str, *, now: int = T0, applet: str = APPLET, ingredients: str = INGREDIENTS
) -> str:
    """Put a queued execution there, due `now`; its id."""
    execution_id = id_of(name, applet)
    script = Script()
    reserve_execution(
        script,
        execution_id=execution_id,
        applet_id=applet,
        owner_id="owner",
        occurred_at=now,
        now=now,
        wake_at=now + 60_000,
        ingredients=ingredients,
    )
    database.execute(script.sql)
    return execution_id


def executions_in(
    database: Database,
    place: str = SLOT,
    owner: str = "owner",
    *,
    applet_id: str = "",
    state: str = "",
    before: tuple[int, str] = (2**63 - 1, ""),
) -> list[ExecutionRow]:
    """Up to 200 of the owner's executions in a slot, newest first, that come after `before`, a time and an id."""
    wanted = Wanted(place, applet_id, state)
    return read_places(database, [wanted], owner, before=(place, *before)).rows[place]


def at_once[T](count: int, work: Callable[[int], T]) -> list[T]:
    """What `work(0)` … `work(count - 1)` return, all begun at the same moment in threads of their own."""
    start = Barrier(count)

    def run(number: int) -> T:
        start.wait(timeout=30)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))
