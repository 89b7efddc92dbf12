"""Facts about the database itself: the schema's version, the single-flight proof, and exports."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import uuid_utils

from whenthen.clock import Deadline, isoformat, now_ms
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database, Rows
from whenthen.store.errors import Conflict, Duplicate, GuardFailed, MissingTable, NotReady
from whenthen.store.migrations import LATEST, schema_version
from whenthen.store.statements import Script, load

_S = load("meta")
_PROOF = "single_flight"
_SET_ASIDE = "set_aside"
_DATABASE_ID = "database_id"

PROBE_CLIENTS = 16
PROBE_INCREMENTS = 50
_EMBEDDED_INCREMENTS = 2


@dataclass(frozen=True, slots=True)
class Export:
    """The last export of a server: when it began and when it ended, epoch milliseconds of the server's host.

    `finished_at` is None while it is under way, and for ever when its poller has died.
    """

    started_at: int
    finished_at: int | None = None


def read_export(database: Database, server: str) -> Export | None:
    """Return the last export of `server`, or None before the first."""
    text = _read(database, f"export_{server}", DEFAULT_TIMEOUT_SECONDS)
    return Export(**json.loads(text)) if text is not None else None


def write_export(database: Database, server: str, export: Export, *, seen: Export | None) -> None:
    """Write down how the exports of `server` stand, if they are still as they were `seen`.

    Raises
    ------
    GuardFailed
        Another has written since.
    """
    name, value = f"export_{server}", json.dumps(asdict(export))
    script = Script()
    if seen is None:
        script.add(_S["insert_meta"], name=name, value=value)
    else:
        script.add(_S["swap_meta"], name=name, seen=json.dumps(asdict(seen)), value=value)
    try:
        database.execute(script.sql)
    except Duplicate as error:
        raise GuardFailed("value") from error


def _read(database: Database, name: str, timeout_seconds: float) -> str | None:
    rows = database.execute(Script().add(_S["read_meta"], name=name).sql, timeout_seconds=timeout_seconds)
    return str(rows[0]["value"]) if rows else None


def _write(database: Database, name: str, value: str) -> None:
    try:
        database.execute(Script().add(_S["insert_meta"], name=name, value=value).sql)
    except Duplicate:
        database.execute(Script().add(_S["update_meta"], name=name, value=value).sql)


def read_database_id(database: Database) -> str:
    """Return what tells this database from others; made at the first call, and not copied with its tables."""
    if known := _read(database, _DATABASE_ID, DEFAULT_TIMEOUT_SECONDS):
        return known
    _write(database, _DATABASE_ID, str(uuid_utils.uuid7()))
    return read_database_id(database)


def set_aside(database: Database, words: str) -> None:
    """Let nobody use the database: `require_ready` refuses it with `words`, and no proof changes that."""
    _write(database, _PROOF, json.dumps({_SET_ASIDE: words}))


def why_set_aside(database: Database) -> str:
    """Return the words with which the database was set aside, or nothing."""
    return _words_in(_read(database, _PROOF, DEFAULT_TIMEOUT_SECONDS))


def take_back(database: Database) -> None:
    """Undo `set_aside`. The database has no proof then."""
    _write(database, _PROOF, "")


def _words_in(proof: str | None) -> str:
    return str(json.loads(proof).get(_SET_ASIDE, "")) if proof else ""


def prove_single_flight(database: Database) -> None:
    """Prove that the server runs one statement at a time, and write the proof down.

    The setting can't be read over the network, so many clients increment one row at once. A server that
    runs them in parallel loses acknowledged increments or reports conflicts; one with
    ``max_concurrency = 1`` does neither (measured, ALOPEX.md 2).

    Parameters
    ----------
    database:
        A migrated database.

    Raises
    ------
    NotReady
        Increments were lost or conflicted, and the message names the setting; or the database was set aside.
    """
    if words := why_set_aside(database):
        raise NotReady(words)
    probe_id = str(uuid_utils.uuid7())
    database.execute(Script().add(_S["insert_probe"], probe_id=probe_id).sql)
    sql = Script().add(_S["increment_probe"], probe_id=probe_id).sql
    start = threading.Barrier(PROBE_CLIENTS)
    # A write to the embedded engine takes time with the database's size, and its lock is the proof.
    increments = _EMBEDDED_INCREMENTS if database.embedded else PROBE_INCREMENTS

    def client() -> tuple[int, int]:
        acknowledged = conflicts = 0
        start.wait(timeout=30)
        for _ in range(increments):
            try:
                database.execute(sql)
                acknowledged += 1
            except Conflict:
                conflicts += 1
        return acknowledged, conflicts

    with ThreadPoolExecutor(PROBE_CLIENTS) as pool:
        counts = [future.result() for future in [pool.submit(client) for _ in range(PROBE_CLIENTS)]]
    acknowledged = sum(count[0] for count in counts)
    conflicts = sum(count[1] for count in counts)
    stored = database.execute(Script().add(_S["read_probe"], probe_id=probe_id).sql)[0]["increments"]
    if conflicts or stored != acknowledged:
        _write(database, _PROOF, "")
        raise NotReady(
            "This Alopex server is not safe: it runs statements in parallel and loses acknowledged writes "
            f"({acknowledged} increments acknowledged, {stored} stored, {conflicts} conflicts). "
            "Set max_concurrency = 1 in its alopex.toml (or ALOPEX__MAX_CONCURRENCY=1), restart it, "
            "and run `whenthen db migrate` again."
        )
    proof = {"proved_at": isoformat(now_ms()), "clients": PROBE_CLIENTS, "increments": acknowledged}
    _write(database, _PROOF, json.dumps(proof))


def require_ready(database: Database, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> None:
    """Refuse a database that is not migrated to this version or lacks the single-flight proof.

    Parameters
    ----------
    timeout_seconds:
        How long to wait for both answers together.

    Raises
    ------
    NotReady
        The message says what to run.
    """
    deadline = Deadline(timeout_seconds)
    try:
        version = schema_version(database, timeout_seconds=timeout_seconds)
        proof = _read(database, _PROOF, deadline.left())
    except MissingTable:
        version, proof = 0, None
    if version != LATEST:
        raise NotReady(
            f"The database's schema is version {version}, this whenthen needs {LATEST}: run `whenthen db migrate`."
        )
    if not proof:
        raise NotReady(
            "The database has no proof that its server runs with max_concurrency = 1: run `whenthen db migrate`."
        )
    if words := _words_in(proof):
        raise NotReady(words)


class Trusted:
    """A database that shows that it can be trusted before its first script is run, and not before it is needed.

    Parameters
    ----------
    database:
        The database. What it does not show is raised by `execute`, as `require_ready` says.
    other:
        Another database, which it must not be.
    """

    embedded = False

    def __init__(self, database: Database, *, other: Database) -> None:
        self._database = database
        self._other = other
        self._ready = False

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        """See `Database.execute`."""
        if not self._ready:
            require_ready(self._database, timeout_seconds=timeout_seconds)
            if read_database_id(self._database) == read_database_id(self._other):
                raise NotReady("ALOPEX_HISTORY_URL is another name of the database at ALOPEX_URL: leave it empty.")
            self._ready = True
        return self._database.execute(sql, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        """See `Database.close`."""
        self._database.close()
