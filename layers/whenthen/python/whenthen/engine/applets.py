"""Making, changing and deleting applets, with their triggers kept in step in the same transaction."""

import json
import secrets
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import batched
from typing import Any

from whenthen.clock import Deadline, now_ms
from whenthen.engine.checks import Checks
from whenthen.engine.connections.referring import services_by_connection
from whenthen.engine.identity import trigger_id
from whenthen.engine.listening import catch_up, listen, make_trigger, stop_listening
from whenthen.engine.validation import validate
from whenthen.errors import NotFound, Stale
from whenthen.model.applet import Applet, TriggerRef
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store import applets as store
from whenthen.store.applet_runs import forget_failures
from whenthen.store.applets import AppletRow
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate
from whenthen.store.profiles import find_zone
from whenthen.store.statements import MAX_SELECTS, Script
from whenthen.store.units import run_unit

_TIMEOUT_SECONDS = 10.0
_ID_BYTES = 8


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


def create(database: Database, owner_id: str, applet: Applet, *, checks: Checks | None = None) -> AppletRow:
    """Store a new applet and let it listen.

    Parameters
    ----------
    checks:
        Asks the source of a trigger that is checked, so that the applet begins at once and a source that can't be
        read is told. Without it the next tick makes the first check.

    Raises
    ------
    FieldError
        See `validate`; or the trigger's source can't be read.
    StoreError
        See `store.errors`.
    """
    applet = _validate(database, owner_id, applet)
    applet_id = secrets.token_hex(_ID_BYTES)
    now = now_ms()
    identity = _identity(owner_id, applet.trigger)
    row = AppletRow(applet_id, owner_id, identity, applet.model_dump_json(), applet.enabled, 1, now, now, None)

    def unit() -> AppletRow:
        beginning = catch_up(database, row, checks, must_work=True)
        script = Script()
        store.insert_applet(script, row)
        listen(database, script, row, beginning, checks)
        try:
            database.execute(script.sql)
        except Duplicate as error:
            # Ids are random: the row with ours is what a first try with an unknown outcome has written.
            if error.columns != ("applet_id",):
                raise
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
    identity = _identity(owner_id, applet.trigger)

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
) -> AppletRow:
    def unit() -> AppletRow:
        old = get(database, owner_id, applet_id)
        if seen_version is not None and old.version != seen_version:
            raise Stale("The applet has changed since it was read.")
        new = change(old)
        beginning = None
        if new.deleted_at is None:
            make_trigger(database, new, parse(new), checks)
            beginning = catch_up(database, new, checks, must_work=new.trigger_id != old.trigger_id)
        script = Script()
        store.update_applet(script, new, seen_version=old.version)
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
    return validate(
        applet,
        zone=find_zone(database, owner_id) or DEFAULT_ZONE,
        connections=services_by_connection(database, owner_id, applet),
        known=known,
    )


def _identity(owner_id: str, reference: TriggerRef) -> str:
    return trigger_id(owner_id, reference.service, reference.trigger, reference.fields, reference.connection)


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
