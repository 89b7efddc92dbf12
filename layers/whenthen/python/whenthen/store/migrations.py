"""The schema, as numbered .sql files that are applied once each, in order."""

import re
from importlib import resources

from whenthen.clock import Deadline, now_ms
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.errors import Duplicate, MissingTable, StoreError
from whenthen.store.statements import Script, Statement, load
from whenthen.store.units import run_unit

_S = load("migrations")
_FILE = re.compile(r"(\d{4})_\w+\.sql")
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_TIMEOUT_SECONDS = 30.0


def _read_schema() -> dict[int, list[Statement]]:
    steps = {}
    for file in resources.files("whenthen.store").joinpath("sql/schema").iterdir():
        if match := _FILE.fullmatch(file.name):
            text = _COMMENT.sub("", file.read_text("utf-8"))
            steps[int(match[1])] = [Statement(file.name, part.strip()) for part in text.split(";") if part.strip()]
    return dict(sorted(steps.items()))


SCHEMA = _read_schema()
"""The statements of each schema version."""

LATEST = max(SCHEMA)
"""The schema version that this code needs."""


def schema_version(database: Database, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> int:
    """Return the version the database is at, 0 for an empty one."""
    try:
        rows = database.execute(Script().add(_S["read_version"]).sql, timeout_seconds=timeout_seconds)
    except MissingTable:
        return 0
    return int(rows[0]["schema_version"] or 0)


def migrate(database: Database) -> list[int]:
    """Bring the schema to `LATEST` and return the versions that this call applied.

    Safe to run twice and by two at once: a version's row stands in the same script as its tables, so the
    second to arrive is refused whole and goes on with the next version.

    Raises
    ------
    StoreError
        The database refused a step; the steps before it hold.
    """
    for name in ("create_meta", "create_schema_versions", "create_probes"):
        run_unit(
            lambda name=name: database.execute(Script().add(_S[name]).sql),  # type: ignore[misc]
            deadline=Deadline(_TIMEOUT_SECONDS),
            repeatable=True,
        )
    return [
        version
        for version in SCHEMA
        if version > schema_version(database)
        and run_unit(
            lambda version=version: _apply(database, version),  # type: ignore[misc]
            deadline=Deadline(_TIMEOUT_SECONDS),
            repeatable=True,
        )
    ]


def _apply(database: Database, version: int) -> bool:
    script = Script()
    for statement in SCHEMA[version]:
        script.add(statement)
    script.add(_S["record_version"], schema_version=version, applied_at=now_ms())
    try:
        database.execute(script.sql, timeout_seconds=_TIMEOUT_SECONDS)
    except Duplicate:
        return False
    except StoreError:
        # "Table exists" is how the database says that another migration was first: its plan is checked
        # before the key is.
        if schema_version(database) >= version:
            return False
        raise
    return True
