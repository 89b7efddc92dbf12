"""Making, changing and deleting applets, with their triggers kept in step in the same transaction."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from whenthen.clock import Deadline, now_ms
from whenthen.engine.identity import canonical_json, trigger_id
from whenthen.errors import FieldError, NotFound, Stale
from whenthen.model.applet import ActionRef, Applet
from whenthen.model.expressions import ExpressionError, check_expression
from whenthen.model.templates import TemplateError, check
from whenthen.services.contract import Fields
from whenthen.services.registry import SERVICES, find_action, find_trigger
from whenthen.store import applets as store
from whenthen.store.applets import AppletRow
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate, GuardFailed
from whenthen.store.statements import Script
from whenthen.store.triggers import TriggerRow, insert_trigger, set_listeners
from whenthen.store.triggers import find_trigger as find_trigger_row
from whenthen.store.units import run_unit

MAX_LISTENERS = 60
"""The most applets of one owner with the same trigger: all their executions go into one script (ALOPEX.md 3)."""

_TIMEOUT_SECONDS = 10.0
_ID_BYTES = 8


def validate(applet: Applet) -> Applet:
    """Return the applet with its fields as their services understand them, or say what is wrong with it.

    Raises
    ------
    FieldError
        The field's path is as in the applet's JSON, ``actions.0.fields.url``.
    """
    for path, text in (("name", applet.name), ("filter", applet.filter)):
        if text and "\x00" in text:
            raise FieldError(path, "must not hold a NUL character")
    trigger = find_trigger(applet.trigger.service, applet.trigger.trigger)
    _known_service("trigger.service", applet.trigger.service)
    if trigger is None:
        raise FieldError("trigger.trigger", f"{applet.trigger.service} has no trigger {applet.trigger.trigger}")
    trigger_fields = _validate_fields("trigger.fields", trigger.fields, applet.trigger.fields)
    for index, query in enumerate(applet.queries):
        _known_service(f"queries.{index}.service", query.service)
        raise FieldError(f"queries.{index}.query", f"{query.service} has no query {query.query}")
    if applet.filter is not None:
        try:
            check_expression(applet.filter)
        except ExpressionError as error:
            raise FieldError("filter", str(error)) from error
    actions = tuple(_validate_action(index, action) for index, action in enumerate(applet.actions))
    return applet.model_copy(
        update={"trigger": applet.trigger.model_copy(update={"fields": trigger_fields}), "actions": actions}
    )


def _known_service(path: str, service: str) -> None:
    if service not in SERVICES:
        raise FieldError(path, f"there is no service {service}")


def _validate_action(index: int, reference: ActionRef) -> ActionRef:
    path = f"actions.{index}"
    _known_service(f"{path}.service", reference.service)
    action = find_action(reference.service, reference.action)
    if action is None:
        raise FieldError(f"{path}.action", f"{reference.service} has no action {reference.action}")
    fields = _validate_fields(f"{path}.fields", action.fields, reference.fields)
    for name, value in fields.items():
        if isinstance(value, str):
            try:
                check(value)
            except TemplateError as error:
                raise FieldError(f"{path}.fields.{name}", str(error)) from error
    return reference.model_copy(update={"fields": fields})


def _validate_fields(path: str, model: type[Fields], values: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return model.model_validate(values).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors()[0]
        raise FieldError(
            ".".join((path, *map(str, first["loc"]))), first["msg"].removeprefix("Value error, ")
        ) from error


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


def create(database: Database, owner_id: str, applet: Applet) -> AppletRow:
    """Store a new applet and let it listen.

    Raises
    ------
    FieldError
        See `validate`.
    StoreError
        See `store.errors`.
    """
    applet = validate(applet)
    applet_id = secrets.token_hex(_ID_BYTES)
    now = now_ms()
    identity = trigger_id(owner_id, applet.trigger.service, applet.trigger.trigger, applet.trigger.fields)
    row = AppletRow(applet_id, owner_id, identity, applet.model_dump_json(), applet.enabled, 1, now, now, None)

    def unit() -> AppletRow:
        script = Script()
        store.insert_applet(script, row)
        _listen(database, script, row, applet)
        try:
            database.execute(script.sql)
        except Duplicate as error:
            # Ids are random: the row with ours is what a first try with an unknown outcome has written.
            if error.columns != ("applet_id",):
                raise
        return row

    _make_trigger(database, row, applet)
    return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)


def update(
    database: Database, owner_id: str, applet_id: str, applet: Applet, *, seen_version: int | None = None
) -> AppletRow:
    """Replace an applet's definition; its trigger's other applets are untouched.

    Parameters
    ----------
    seen_version:
        The version that the caller has read, or None to replace any.

    Raises
    ------
    FieldError
        See `validate`.
    NotFound
        See `get`.
    Stale
        The applet's version is not `seen_version`.
    """
    applet = validate(applet)
    identity = trigger_id(owner_id, applet.trigger.service, applet.trigger.trigger, applet.trigger.fields)

    def change(row: AppletRow) -> AppletRow:
        return replace(
            row,
            trigger_id=identity,
            definition=applet.model_dump_json(),
            enabled=applet.enabled,
            version=row.version + 1,
            updated_at=now_ms(),
        )

    return _change(database, owner_id, applet_id, change, seen_version)


def delete(database: Database, owner_id: str, applet_id: str, *, seen_version: int | None = None) -> None:
    """Delete an applet. What it has run stays in the activity. Raises as `update`."""

    def change(row: AppletRow) -> AppletRow:
        now = now_ms()
        return replace(row, enabled=False, version=row.version + 1, updated_at=now, deleted_at=now)

    _change(database, owner_id, applet_id, change, seen_version)


def _change(database: Database, owner_id: str, applet_id: str, change: Any, seen_version: int | None) -> AppletRow:
    def unit() -> AppletRow:
        old = get(database, owner_id, applet_id)
        if seen_version is not None and old.version != seen_version:
            raise Stale("The applet has changed since it was read.")
        new: AppletRow = change(old)
        applet = parse(new)
        _make_trigger(database, new, applet)
        script = Script()
        store.update_applet(script, new, seen_version=old.version)
        if new.trigger_id != old.trigger_id:
            _stop_listening(database, script, old)
        _listen(database, script, new, applet)
        database.execute(script.sql)
        return new

    return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)


def _make_trigger(database: Database, row: AppletRow, applet: Applet) -> None:
    """Make sure that the applet's trigger has a row. One without listeners does no harm."""
    fields = canonical_json(applet.trigger.fields)
    script = Script()
    insert_trigger(
        script,
        TriggerRow(row.trigger_id, row.owner_id, applet.trigger.service, applet.trigger.trigger, fields, (), 0),
    )
    run_unit(lambda: database.execute(script.sql), deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)


def _listen(database: Database, script: Script, row: AppletRow, applet: Applet) -> None:
    """Add to `script` that the applet listens to its trigger exactly when it is on."""
    trigger = _trigger_of(database, row)
    others = tuple(listener for listener in trigger.listeners if listener != row.applet_id)
    if applet.enabled and len(others) >= MAX_LISTENERS:
        raise FieldError("trigger", f"{MAX_LISTENERS} applets that are on have this trigger already; that is the most")
    set_listeners(script, trigger, (*others, row.applet_id) if applet.enabled else others)


def _stop_listening(database: Database, script: Script, row: AppletRow) -> None:
    trigger = _trigger_of(database, row)
    set_listeners(script, trigger, tuple(listener for listener in trigger.listeners if listener != row.applet_id))


def _trigger_of(database: Database, row: AppletRow) -> TriggerRow:
    trigger = find_trigger_row(database, row.trigger_id)
    if trigger is None:
        # Made before, and never deleted: only a lost write does this. Read again.
        raise GuardFailed("trigger_id")
    return trigger


def definition_json(applet: Applet) -> dict[str, Any]:
    """Return the applet as plain JSON values."""
    return dict(json.loads(applet.model_dump_json()))
