"""Making, changing and deleting applets, with their triggers kept in step in the same transaction."""

import json
import secrets
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import batched
from typing import Any

from whenthen.clock import Deadline, now_ms
from whenthen.engine.checks import Checks
from whenthen.engine.connections.referring import connections_of, services_by_connection, wrong_connection
from whenthen.engine.identity import identity_of
from whenthen.engine.listening import catch_up, listen, make_trigger, stop_listening
from whenthen.engine.validation import validate
from whenthen.errors import NotFound, Stale
from whenthen.model.applet import MAX_NAME, Applet, TriggerRef
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store import applets as store
from whenthen.store.applet_runs import forget_failures
from whenthen.store.applets import AppletRow
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate
from whenthen.store.profiles import find_zone
from whenthen.store.statements import MAX_SELECTS, Script
from whenthen.store.units import run_unit

RESTORABLE_DAYS = 7
"""For how many days a deleted applet can be had back."""

_TIMEOUT_SECONDS = 10.0
_ID_BYTES = 8
_RESTORABLE_MS = RESTORABLE_DAYS * 24 * 3_600_000
_COPY = " (copy)"


def parse(row: AppletRow) -> Applet:
    """Return the applet that a row holds."""
    return Applet.model_validate_json(row.definition).model_copy(update={"enabled": row.enabled})


def get(database: Database, owner_id: str, applet_id: str) -> AppletRow:
    """Return the owner's applet.

    Raises
    ------
    NotFound
        There is none, it is deleted, or it is another owner's.
    """
    row = store.find_applet(database, applet_id)
    if row is None or row.owner_id != owner_id or row.deleted_at is not None:
        raise NotFound("There is no such applet.")
    return row


def applet_names(database: Database, owner_id: str, applet_ids: Collection[str]) -> dict[str, str]:
    """Return the names of the owner's applets by id, of deleted ones, too."""
    names: dict[str, str] = {}
    for ids in batched(sorted(applet_ids), MAX_SELECTS, strict=False):
        rows = store.read_applets(database, set(ids), timeout_seconds=_TIMEOUT_SECONDS)
        names |= {row.applet_id: parse(row).name for row in rows.values() if row.owner_id == owner_id}
    return names


def create(
    database: Database, owner_id: str, applet: Applet, *, checks: Checks | None = None, applet_id: str = ""
) -> AppletRow:
    """Store a new applet and let it listen.

    Parameters
    ----------
    checks:
        Asks the source of a trigger that is checked, so that the applet begins at once and a source that can't be
        read is told. Without it the next tick makes the first check.
    applet_id:
        Of an applet that is made once, however often it is asked for; a new one when it is empty. What has it
        already stays as it is.

    Raises
    ------
    FieldError
        See `validate`; or the trigger's source can't be read.
    StoreError
        See `store.errors`.
    """
    applet = _validate(database, owner_id, applet)
    applet_id = applet_id or new_id()
    now = now_ms()
    identity = identity_of(owner_id, applet.trigger)
    row = AppletRow(applet_id, owner_id, identity, applet.model_dump_json(), applet.enabled, 1, now, now, None)

    def unit() -> AppletRow:
        beginning = catch_up(database, row, checks, must_work=True)
        script = Script()
        store.insert_applet(script, row)
        listen(database, script, row, beginning, checks)
        insert_once(database, script)
        return row

    make_trigger(database, row, applet, checks)
    return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)


def update(
    database: Database,
    owner_id: str,
    applet_id: str,
    applet: Applet,
    *,
    seen_version: int | None = None,
    checks: Checks | None = None,
) -> AppletRow:
    """Replace an applet's definition; its trigger's other applets are untouched.

    Parameters
    ----------
    seen_version:
        The version that the caller has read, or None to replace any.
    checks:
        As of `create`. A source that can't be read is an error only for a trigger that the applet did not have.

    Raises
    ------
    FieldError
        See `create`.
    NotFound
        See `get`.
    Stale
        The applet's version is not `seen_version`.
    """
    known = parse(get(database, owner_id, applet_id)).trigger
    applet = _validate(database, owner_id, applet, known=known)
    identity = identity_of(owner_id, applet.trigger)

    def change(row: AppletRow) -> AppletRow:
        return replace(
            row,
            trigger_id=identity,
            definition=applet.model_dump_json(),
            enabled=applet.enabled,
            version=row.version + 1,
            updated_at=now_ms(),
        )

    return _change(database, owner_id, applet_id, change, seen_version, checks)


def delete(database: Database, owner_id: str, applet_id: str, *, seen_version: int | None = None) -> None:
    """Delete an applet. What it has run stays in the activity. Raises as `update`."""

    def change(row: AppletRow) -> AppletRow:
        now = now_ms()
        return replace(row, enabled=False, version=row.version + 1, updated_at=now, deleted_at=now)

    _change(database, owner_id, applet_id, change, seen_version, None)


def restore(
    database: Database, owner_id: str, applet_id: str, *, enabled: bool, checks: Checks | None = None
) -> AppletRow:
    """Undo that an applet was deleted. Turned on it begins after now, as any applet that is turned on.

    Parameters
    ----------
    enabled:
        Whether it is on from now on.
    checks:
        As of `update`.

    Raises
    ------
    FieldError
        It is to be on, and is not valid any more: a connection that it uses is gone.
    NotFound
        There is no such applet, or it is another owner's.
    Stale
        It is not deleted, or was deleted more than `RESTORABLE_DAYS` ago.
    """
    if enabled:
        applet = parse(_get_deleted(database, owner_id, applet_id)).model_copy(update={"enabled": True})
        _validate(database, owner_id, applet, known=applet.trigger)

    def change(row: AppletRow) -> AppletRow:
        return replace(row, enabled=enabled, version=row.version + 1, updated_at=now_ms(), deleted_at=None)

    return _change(database, owner_id, applet_id, change, None, checks, find=_get_deleted)


def _get_deleted(database: Database, owner_id: str, applet_id: str) -> AppletRow:
    row = store.find_applet(database, applet_id)
    if row is None or row.owner_id != owner_id:
        raise NotFound("There is no such applet.")
    if row.deleted_at is None:
        raise Stale("The applet is not deleted.")
    if row.deleted_at + _RESTORABLE_MS < now_ms():
        raise Stale(f"The applet was deleted more than {RESTORABLE_DAYS} days ago.")
    return row


def duplicate(database: Database, owner_id: str, applet_id: str) -> AppletRow:
    """Store a copy of an applet under another name. It is off, so that nothing runs twice.

    Raises
    ------
    NotFound
        See `get`.
    """
    old = get(database, owner_id, applet_id)
    applet = parse(old)
    name = applet.name[: MAX_NAME - len(_COPY)].rstrip() + _COPY
    definition = applet.model_copy(update={"name": name, "enabled": False}).model_dump_json()
    now = now_ms()
    # Its trigger is that of the other, and has a row already.
    row = AppletRow(new_id(), owner_id, old.trigger_id, definition, False, 1, now, now, None)
    script = Script()
    store.insert_applet(script, row)
    run_unit(lambda: insert_once(database, script), deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)
    return row


def turn_off(database: Database, row: AppletRow, also: Callable[[Script], None]) -> None:
    """Turn an applet off as it is in `row`, with what `also` adds to the same script. Raises as `update`."""

    def change(row: AppletRow) -> AppletRow:
        return replace(row, enabled=False, version=row.version + 1, updated_at=now_ms())

    _change(database, row.owner_id, row.applet_id, change, row.version, None, also)


def _change(
    database: Database,
    owner_id: str,
    applet_id: str,
    change: Callable[[AppletRow], AppletRow],
    seen_version: int | None,
    checks: Checks | None,
    also: Callable[[Script], None] | None = None,
    find: Callable[[Database, str, str], AppletRow] = get,
) -> AppletRow:
    def unit() -> AppletRow:
        old = find(database, owner_id, applet_id)
        if seen_version is not None and old.version != seen_version:
            raise Stale("The applet has changed since it was read.")
        new = change(old)
        beginning = None
        if new.deleted_at is None:
            make_trigger(database, new, parse(new), checks)
            beginning = catch_up(database, new, checks, must_work=new.trigger_id != old.trigger_id)
        script = Script()
        write = store.update_applet if old.deleted_at is None else store.restore_applet
        write(script, new, seen_version=old.version)
        if new.trigger_id != old.trigger_id:
            stop_listening(database, script, old)
        listen(database, script, new, beginning, checks)
        if new.enabled and not old.enabled:
            forget_failures(script, applet_id)
        if also is not None:
            also(script)
        database.execute(script.sql)
        return new

    return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)


def _validate(database: Database, owner_id: str, applet: Applet, *, known: TriggerRef | None = None) -> Applet:
    connections = services_by_connection(database, owner_id, connections_of(applet))
    if applet.enabled and known is not None and wrong_connection(known, connections):
        # Imported without its connection, or restored when that was gone: nothing to be turned on.
        known = None
    return validate(applet, zone=find_zone(database, owner_id) or DEFAULT_ZONE, connections=connections, known=known)


def new_id() -> str:
    """Return the id of a new applet."""
    return secrets.token_hex(_ID_BYTES)


def insert_once(database: Database, script: Script) -> None:
    """Run a script that inserts an applet whose id is random, unless that was done by a try with an unknown outcome."""
    try:
        database.execute(script.sql)
    except Duplicate as error:
        if error.columns != ("applet_id",):
            raise


def definition_json(applet: Applet) -> dict[str, Any]:
    """Return the applet as plain JSON values. What its parts don't have is left out of them."""
    document: dict[str, Any] = json.loads(applet.model_dump_json())
    document["trigger"] = _given(document["trigger"])
    for parts in ("queries", "actions"):
        document[parts] = [_given(part) for part in document[parts]]
    return document


def _given(part: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in part.items() if value is not None}
    return given | {"delay": _given(given["delay"])} if "delay" in given else given
