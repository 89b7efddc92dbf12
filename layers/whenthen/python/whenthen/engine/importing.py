"""Applets out of a file that `exporting` has made: all of them or none, and all of them off."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from whenthen.clock import Deadline, now_ms
from whenthen.engine.applets import new_id
from whenthen.engine.checks import Checks
from whenthen.engine.drafts import look
from whenthen.engine.identity import identity_of
from whenthen.engine.listening import add_trigger
from whenthen.engine.masking import MASK, secret_fields
from whenthen.errors import FieldError, FieldErrors, TooLarge
from whenthen.model.applet import ActionRef, Applet, QueryRef, TriggerRef
from whenthen.services.registry import find_action, find_query, find_trigger
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.applets import AppletRow, insert_applets, read_applets
from whenthen.store.connections import list_connections
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate, ScriptTooLong
from whenthen.store.profiles import find_zone
from whenthen.store.statements import MAX_SELECTS, Script
from whenthen.store.units import run_unit

MAX_APPLETS = 200
"""The most applets of one import."""

_TIMEOUT_SECONDS = 20.0
_ID_BYTES = 8
_TRIGGERS_IN_SCRIPT = 40
"""Each is three statements of at most 435 values (`statements.MAX_AST_VALUES`)."""


class NamedConnection(BaseModel):
    """A connection that applets of a file use, where they came from."""

    model_config = ConfigDict(extra="ignore")

    id: str
    service: str
    name: str


class Document(BaseModel):
    """A file of applets. What is not known in it, and not in an applet, is left alone."""

    model_config = ConfigDict(extra="ignore")

    whenthen: Literal[1]
    applets: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MAX_APPLETS)]
    connections: list[NamedConnection] = []


@dataclass(frozen=True, slots=True)
class Imported:
    """The applets that were stored, in the file's order, and what is left to do, with paths as in the file."""

    rows: tuple[AppletRow, ...]
    notes: tuple[FieldError, ...]


def import_applets(
    database: Database, owner_id: str, document: Mapping[str, Any], *, key: str = "", checks: Checks | None = None
) -> Imported:
    """Store the applets of a file, off, in one transaction.

    A connection is the owner's one of that id, or else one of the same service and name. Where there is none the part
    has none, and the applet can't be turned on until its owner has chosen one. Masked secrets are left empty.

    Parameters
    ----------
    key:
        The same file with the same key is stored once; empty to store it each time.
    checks:
        Knows the hosts of triggers that are checked. No source is asked before an applet is turned on.

    Raises
    ------
    ValidationError
        It is not such a file.
    FieldErrors
        All that is wrong with the applets, with paths such as ``applets.3.actions.0.fields.url``. Nothing was stored.
    TooLarge
        They don't fit into one transaction.
    """
    file = Document.model_validate(dict(document))
    found = _Reader(database, owner_id, file)
    read = [found.read(index) for index in range(len(file.applets))]
    applets = [applet for applet in read if applet is not None]
    if found.problems:
        raise FieldErrors(found.problems)
    ids = _ids(owner_id, document, key, len(applets))
    now = now_ms()
    rows = [
        AppletRow(
            applet_id,
            owner_id,
            identity_of(owner_id, applet.trigger),
            applet.model_dump_json(),
            False,
            1,
            now,
            now,
            None,
        )
        for applet_id, applet in zip(ids, applets, strict=True)
    ]
    try:
        stored = _store(database, rows, applets, checks)
    except ScriptTooLong as error:
        raise TooLarge("The applets are too long for one import: import fewer of them at once.") from error
    return Imported(tuple(stored), tuple(found.notes))


def _ids(owner_id: str, document: Mapping[str, Any], key: str, count: int) -> list[str]:
    """Return ids for the applets, the same ones for the same file and key."""
    if not key:
        return [new_id() for _ in range(count)]
    parts = json.dumps([owner_id, key, document], sort_keys=True).encode()
    return [
        hashlib.blake2b(parts + f".{number}".encode(), digest_size=_ID_BYTES).hexdigest() for number in range(count)
    ]


def _store(
    database: Database, rows: Sequence[AppletRow], applets: Sequence[Applet], checks: Checks | None
) -> Sequence[AppletRow]:
    """Store the rows, and return them, or those of a first time with these ids that are not deleted."""
    # Triggers first: without listeners they do no harm, and with the applets they would not fit into one script.
    for some in batched(zip(rows, applets, strict=True), _TRIGGERS_IN_SCRIPT, strict=False):
        script = Script()
        for row, applet in some:
            add_trigger(script, row, applet, checks)
        _run(database, script)
    script = Script()
    insert_applets(script, rows[0].owner_id, rows)
    try:
        _run(database, script)
    except Duplicate as error:
        if error.columns != ("applet_id",):
            raise
        known: dict[str, AppletRow] = {}
        for ids in batched((row.applet_id for row in rows), MAX_SELECTS, strict=False):
            known |= read_applets(database, ids, timeout_seconds=_TIMEOUT_SECONDS)
        return [known[row.applet_id] for row in rows if known[row.applet_id].deleted_at is None]
    return rows


def _run(database: Database, script: Script) -> None:
    sql = script.sql
    run_unit(lambda: database.execute(sql), deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)


class _Reader:
    """Reads a file's applets for an owner; `problems` and `notes` are those of all that were read."""

    def __init__(self, database: Database, owner_id: str, file: Document) -> None:
        self.problems: list[FieldError] = []
        self.notes: list[FieldError] = []
        self._file = file
        self._zone = find_zone(database, owner_id) or DEFAULT_ZONE
        own = list_connections(database, owner_id)
        self._services = {row.connection_id: row.service for row in own}
        self._by_name = {(row.service, row.connection_name): row.connection_id for row in reversed(own)}
        self._named = {one.id: one for one in file.connections}

    def read(self, index: int) -> Applet | None:
        """Return an applet as it is to be stored, or None when something is wrong with it."""
        # A copy: the file's own values stay as they are.
        document: dict[str, Any] = json.loads(json.dumps(self._file.applets[index]))
        document.pop("id", None)
        document["enabled"] = False
        path = f"applets.{index}"
        missing: dict[str, str] = {}
        for place, kind, part in _parts(document):
            self._connect(f"{path}.{place}", kind, part, missing)
        self._empty_secrets(path, document.get("trigger"))
        # Stand-ins for connections that are missing let all else be looked at.
        draft = look(document, zone=self._zone, connections={**self._services, **missing})
        self.problems += (FieldError(f"{path}.{problem.field}", problem.message) for problem in draft.problems)
        return _without(draft.applet, missing) if draft.applet is not None else None

    def _connect(self, path: str, kind: str, part: dict[str, Any], missing: dict[str, str]) -> None:
        given = part.get("connection")
        if not isinstance(given, str) or given in self._services:
            return
        named = self._named.get(given)
        if named is not None and (own := self._by_name.get((named.service, named.name))) is not None:
            part["connection"] = own
            return
        service = _connects(kind, part)
        if not service:
            return
        part["connection"] = f"{len(missing):032x}"
        missing[part["connection"]] = service
        name = f" “{named.name}”" if named is not None else ""
        words = f"there is no connection{name} to {service}: choose one before you turn the applet on"
        self.notes.append(FieldError(f"{path}.connection", words))

    def _empty_secrets(self, path: str, trigger: Any) -> None:
        if not isinstance(trigger, dict) or not isinstance(trigger.get("fields"), dict):
            return
        for name in sorted(secret_fields(trigger)):
            if trigger["fields"].get(name) == MASK:
                trigger["fields"][name] = ""
                self.notes.append(FieldError(f"{path}.trigger.fields.{name}", "is not in the file: enter it"))


def _parts(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return place, kind and JSON of those parts of an applet that may have a connection."""
    if isinstance(trigger := document.get("trigger"), dict):
        yield "trigger", "trigger", trigger
    for name, kind in (("queries", "query"), ("actions", "action")):
        parts = document.get(name)
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict):
                yield f"{name}.{index}", kind, part


def _connects(kind: str, part: Mapping[str, Any]) -> str:
    """Return the service whose connections a part takes, empty when it takes none or is not known."""
    find = {"trigger": find_trigger, "query": find_query, "action": find_action}[kind]
    found = find(str(part.get("service")), str(part.get(kind)))
    return found.connects if found is not None else ""


def _without(applet: Applet, missing: Mapping[str, str]) -> Applet:
    """Return the applet without the stand-ins for missing connections."""

    def cleared[P: (TriggerRef, QueryRef, ActionRef)](part: P) -> P:
        return part.model_copy(update={"connection": None}) if part.connection in missing else part

    return applet.model_copy(
        update={
            "trigger": cleared(applet.trigger),
            "queries": tuple(map(cleared, applet.queries)),
            "actions": tuple(map(cleared, applet.actions)),
        }
    )
