"""A rebuild: every live row of a database is copied into a fresh one, since the database never compacts (ALOPEX.md 9).

The two servers share a directory. A span of a table goes to a file there, and comes into the other database in one
transaction with the row that says how far the table is copied: what was cut off goes on where it stood.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

from whenthen.clock import isoformat, now_ms
from whenthen.store import meta
from whenthen.store.comparing import Differs, compare
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed, LogFull, NotReady, Unauthorized
from whenthen.store.migrations import LATEST, migrate, schema_version
from whenthen.store.slots import list_slots
from whenthen.store.statements import Script, Statement, load
from whenthen.store.tables import STATEMENT_SECONDS, Span, Table, describe, list_tables, spans, take_span, write_span

_S = load("rebuild")

_COPIES = "rebuild_copies"
_OWN = {"meta", "schema_versions", "probes", "deletions", _COPIES}
"""What a database says of itself: not copied."""

_CHECKPOINT_BYTES = 192 * 1024 * 1024
"""Of the 512 MiB that fit the log. Rows are held in memory until then."""

_ROW_BYTES = 350
"""What a row takes of the log beside its texts, at most (measured)."""

_MADE_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS ([a-z_]+_)\{(\w+)\}")
_SLOT_TABLE = re.compile(r"executions_([0-9]+)")

_FILLING = "This database is being filled by `whenthen db rebuild`, which has not come to its end: run it again."
_REBUILT = (
    "This database was rebuilt into another one at {at}, and what has come since is there: start the server on that "
    "one's data directory (docs/rebuild.md)."
)


@dataclass(frozen=True, slots=True)
class Copy:
    """How far a table is copied: `copied_rows` rows, up to the key `copied_to`."""

    copied_table: str
    source_id: str
    copied_to: str
    copied_rows: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What a rebuild has done: the tables by name with their rows, and those that it has left behind."""

    rows: dict[str, int]
    left: tuple[str, ...]


def require_fenced(database: Database, where: str) -> None:
    """Make sure that a server refuses whoever has the key that `database` was opened with: the functions'.

    A process that is running would go on writing to rows that are copied already, or to a database that is not filled
    yet. The key is the one thing that keeps all of them out and can be checked from here.

    Raises
    ------
    NotReady
        It takes the key.
    StoreError
        It can't be asked.
    """
    try:
        list_tables(database)
    except Unauthorized:
        return
    raise NotReady(
        f"{where} takes the key that the functions have, so they could write to it. Start it with a key of its own "
        "for the time of the rebuild (docs/rebuild.md)."
    )


class Rebuild:
    """Copies `source` into `target`.

    Parameters
    ----------
    source, target:
        Two servers that nobody else uses, see `require_fenced`.
    file:
        Path, the same on both servers' hosts and in their `copy_allowed_dirs`, that no other process uses.
    checkpoint:
        Empties the target's log (`store.host.Host.export`).
    say:
        Told what goes on, in words.
    """

    def __init__(
        self,
        source: Database,
        target: Database,
        *,
        file: str,
        checkpoint: Callable[[], object],
        say: Callable[[str], object],
    ) -> None:
        self._source = source
        self._target = target
        self._file = file
        self._checkpoint = checkpoint
        self._say = say
        self._written = 0

    def run(self) -> Report:
        """Copy what is not copied yet, compare all of it, and hand over: from then on the target alone is ready.

        May be run again after it was cut off anywhere.

        Raises
        ------
        NotReady
            The databases are not what they have to be; the message says what to do.
        Differs
            The copy is not the same.
        StoreError
            See `store.errors`.
        """
        copies = self._read_copies() or self._begin()
        tables, left = self._tables()
        if set(tables) != {copy.copied_table for copy in copies}:
            raise NotReady("The source has other tables than when its rebuild began. " + _AGAIN)
        self._make_tables(tables)
        for copy in copies:
            self._copy(describe(self._source, copy.copied_table), copy)
        rows = {name: self._compare(name) for name in tables}
        if self._tables()[0] != tables:
            raise NotReady("The source has got other tables meanwhile. " + _AGAIN)
        self._hand_over()
        return Report(rows, tuple(left))

    def _read_copies(self) -> list[Copy]:
        """Return how far an earlier run has come, or nothing when the target is empty."""
        if (version := schema_version(self._source)) != LATEST:
            raise NotReady(
                f"The source's schema is version {version}, this whenthen needs {LATEST}: "
                "run `whenthen db migrate` on it first."
            )
        tables = list_tables(self._target)
        if _COPIES in tables and (rows := self._target.execute(Script().add(_S["list_copies"]).sql)):
            copies = [Copy(**row) for row in rows]
            if {copy.source_id for copy in copies} != {meta.read_database_id(self._source)}:
                raise NotReady("The target holds the rebuild of another database: start it on an empty data directory.")
            self._say("Going on with a rebuild that was cut off.")
            # How much of the log it has used is not known.
            self._empty_log()
            return copies
        if set(tables) - {_COPIES}:
            raise NotReady("The target is not empty: start it on an empty data directory.")
        if words := meta.why_set_aside(self._source):
            raise NotReady(words)
        return []

    def _begin(self) -> list[Copy]:
        source_id = meta.read_database_id(self._source)
        names = json.dumps([[name] for name in self._tables()[0]])
        self._target.execute(Script().add(_S["create_copies"]).sql)
        script = Script().add(_S["insert_copies"], source_id=source_id, names=names).add(_S["list_copies"])
        return [Copy(**row) for row in self._target.execute(script.sql)]

    def _tables(self) -> tuple[list[str], list[str]]:
        """Return the source's tables to copy, and those that nothing reads any more."""
        names = [name for name in list_tables(self._source) if name not in _OWN]
        slots = {row.slot for row in list_slots(self._source)}
        left = [name for name in names if (match := _SLOT_TABLE.fullmatch(name)) and match[1] not in slots]
        return [name for name in names if name not in left], left

    def _make_tables(self, tables: list[str]) -> None:
        migrate(self._target)
        if not meta.why_set_aside(self._target):
            meta.prove_single_flight(self._target)
            meta.set_aside(self._target, _FILLING)
        makers = _makers()
        there = set(list_tables(self._target))
        for name in tables:
            if name not in there:
                self._make_table(name, makers)
            if describe(self._target, name) != describe(self._source, name):
                raise NotReady(f"{name} has other columns than this whenthen makes: which whenthen has made it?")

    def _make_table(self, name: str, makers: list[tuple[str, str, Statement]]) -> None:
        for prefix, part, statement in makers:
            digits = name.removeprefix(prefix)
            if digits != name and digits.isdecimal():
                self._target.execute(Script().add(statement, **{part: digits}).sql)
                return
        raise NotReady(f"The source has a table {name}, which is not whenthen's: take it away, or keep it elsewhere.")

    def _copy(self, table: Table, copy: Copy) -> None:
        if copy.complete:
            return
        rows = copy.copied_rows
        for span in spans(self._source, table, copy.copied_to):
            write_span(self._source, table, span, self._file)
            self._take(table, span)
            rows += span.rows
        self._target.execute(Script().add(_S["complete_copy"], copied_table=table.name).sql)
        self._say(f"Copied {table.name}: {rows:,} rows.")

    def _take(self, table: Table, span: Span) -> None:
        script = Script().add(
            _S["advance_copy"], copied_table=table.name, after=span.after, edge=span.edge, added=span.rows
        )
        take_span(script, table, self._file)
        if self._written > _CHECKPOINT_BYTES:
            self._empty_log()
            self._written = 0
        try:
            self._target.execute(script.sql, timeout_seconds=STATEMENT_SECONDS)
        except LogFull:
            self._empty_log()
            self._target.execute(script.sql, timeout_seconds=STATEMENT_SECONDS)
        except GuardFailed as error:
            raise NotReady("Another rebuild is filling the target.") from error
        self._written += span.size + span.rows * _ROW_BYTES

    def _empty_log(self) -> None:
        self._checkpoint()
        self._say("Emptied the target's log.")

    def _compare(self, name: str) -> int:
        try:
            rows = compare(self._source, self._target, describe(self._source, name))
        except Differs as error:
            raise NotReady(f"{error}. {_AGAIN}") from error
        self._say(f"Compared {name}: {rows:,} rows are the same.")
        return rows

    def _hand_over(self) -> None:
        # At no moment both are ready.
        meta.set_aside(self._source, _REBUILT.format(at=isoformat(now_ms())))
        meta.take_back(self._target)
        meta.prove_single_flight(self._target)


_AGAIN = (
    "Something has written to a database while it was rebuilt: is the front stopped? "
    "The source is as good as it was; begin again with an empty target."
)


def _makers() -> list[tuple[str, str, Statement]]:
    """Return all statements that make a table of a slot, day or month, with its prefix and the name of the part."""
    files = resources.files("whenthen.store").joinpath("sql/statements").iterdir()
    statements = [statement for file in files for statement in load(file.name.removesuffix(".sql")).values()]
    return [(match[1], match[2], statement) for statement in statements if (match := _MADE_TABLE.match(statement.text))]
