"""Objects as the management API shows them (DESIGN.md 6)."""

from typing import Any

from whenthen.clock import isoformat, now_ms
from whenthen.engine.applets import definition_json, parse
from whenthen.engine.identity import parse_execution_id
from whenthen.services.contract import Action, Service, Trigger
from whenthen.store.applets import AppletRow
from whenthen.store.checks import CheckRow
from whenthen.store.executions import ExecutionRow
from whenthen.store.inbox import Message
from whenthen.store.keys import Key

_OVERDUE_MS = 5 * 60_000
"""How late a check may be before its trigger counts as not being checked (A25)."""


def _time(ms: int | None) -> str | None:
    return None if ms is None else isoformat(ms)


def applet(row: AppletRow, trigger_check: CheckRow | None) -> dict[str, Any]:
    """Return an applet: its definition with id, version, times, and how its trigger's checks stand, if it has any."""
    return {
        "id": row.applet_id,
        **definition_json(parse(row)),
        "version": row.version,
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at),
        "check": None if trigger_check is None else check(trigger_check),
    }


def check(row: CheckRow) -> dict[str, Any]:
    """Return how the checks of a trigger stand, the words of the last one included."""
    return {
        "state": _check_state(row),
        "last_checked_at": _time(row.checked_at),
        "next_check_at": _time(row.next_check_at),
        "failures": row.failures,
        "message": row.result,
    }


def _check_state(row: CheckRow) -> str:
    if row.next_check_at is None:
        return "off"
    if row.next_check_at < now_ms() - _OVERDUE_MS:
        return "overdue"
    if row.failures:
        return "failing"
    return "waiting" if row.checked_at is None else "ok"


def key(row: Key) -> dict[str, Any]:
    """Return a key without the key itself."""
    return {
        "id": row.key_hash,
        "kind": row.kind,
        "name": row.name,
        "hint": f"{row.hint}…",
        "delivery_id_header": row.delivery_id_header,
        "created_at": _time(row.created_at),
    }


def activity_item(row: ExecutionRow, applet_names: dict[str, str]) -> dict[str, Any]:
    """Return an execution as an item of the activity."""
    return {
        "execution_id": row.execution_id,
        "applet_id": row.applet_id,
        "applet_name": applet_names.get(row.applet_id, ""),
        "state": row.state,
        "reason": row.progress.reason,
        "note": row.progress.note,
        "occurred_at": _time(row.occurred_at),
        "finished_at": _time(row.progress.finished_at),
        "attempts": len(row.progress.attempts),
    }


def execution(row: ExecutionRow, applet_name: str, ingredients: dict[str, Any]) -> dict[str, Any]:
    """Return an execution in detail: inputs, each attempt, when it runs next."""
    attempts = [
        {**attempt, "started_at": _time(attempt["started_at"]), "finished_at": _time(attempt["finished_at"])}
        for attempt in row.progress.attempts
    ]
    return {
        **activity_item(row, {row.applet_id: applet_name}),
        "event_id": parse_execution_id(row.execution_id).event_id,
        "ingredients": ingredients,
        "due_at": _time(row.due_at),
        "attempts": attempts,
    }


def message(row: Message) -> dict[str, Any]:
    """Return a message of the inbox."""
    return {
        "id": row.message_id,
        "applet_id": row.applet_id,
        "execution_id": row.execution_id,
        "title": row.title,
        "message": row.body,
        "link": row.link,
        "created_at": _time(row.created_at),
    }


def service(item: Service) -> dict[str, Any]:
    """Return a service with its triggers, actions and queries."""
    return {
        "service": item.slug,
        "name": item.name,
        "triggers": [_trigger(trigger) for trigger in item.triggers],
        "actions": [_action(action) for action in item.actions],
        "queries": [],
    }


def _trigger(item: Trigger) -> dict[str, Any]:
    return {
        "trigger": item.slug,
        "name": item.name,
        "description": item.description,
        "fields": item.fields.model_json_schema(),
        "ingredients": [
            {"ingredient": ingredient.slug, "name": ingredient.name, "sample": ingredient.sample}
            for ingredient in item.ingredients
        ],
    }


def _action(item: Action[Any]) -> dict[str, Any]:
    return {
        "action": item.slug,
        "name": item.name,
        "description": item.description,
        "fields": item.fields.model_json_schema(),
        "ingredients": [],
    }
