"""Facts about the database itself: the schema's version and the single-flight proof."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import uuid_utils

from whenthen.clock import isoformat, now_ms
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.errors import Conflict, Duplicate, MissingTable, NotReady
from whenthen.store.migrations import LATEST, schema_version
from whenthen.store.statements import Script, load

_S = load("meta")
_PROOF = "single_flight"

PROBE_CLIENTS = 16
PROBE_INCREMENTS = 50
_EMBEDDED_INCREMENTS = 2


def _read(database: Database, name: str, timeout_seconds: float) -> str | None:
    rows = database.execute(Script().add(_S["read_meta"], name=name).sql, timeout_seconds=timeout_seconds)
    return str(rows[0]["value"]) if rows else None


def _write(database: Database, name: str, value: str) -> None:
    try:
        database.execute(Script().add(_S["insert_meta"], name=name, value=value).sql)
    except Duplicate:
        database.execute(Script().add(_S["update_meta"], name=name, value=value).sql)


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
        Increments were lost or conflicted; the message names the setting.
    """
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
        How long to wait for each of two answers.

    Raises
    ------
    NotReady
        The message says what to run.
    """
    try:
        version = schema_version(database, timeout_seconds=timeout_seconds)
        proof = _read(database, _PROOF, timeout_seconds)
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
