"""Objects as the management API shows them (DESIGN.md 6)."""

from collections.abc import Sequence
from typing import Any

from whenthen.clock import isoformat
from whenthen.engine.applets import definition_json, parse
from whenthen.engine.check_results import Results, state_of
from whenthen.engine.connections.contents import read_shown
from whenthen.engine.executions import Detail
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.items import Item
from whenthen.engine.masking import without_secrets
from whenthen.engine.stats import Stats
from whenthen.engine.trying import Trial, Tried
from whenthen.services.connecting import ConnectionType
from whenthen.services.contract import Action, Ingredient, Query, Service, Trigger
from whenthen.store.applets import AppletRow
from whenthen.store.checks import CheckRow
from whenthen.store.connections import ConnectionRow
from whenthen.store.inbox import Message
from whenthen.store.keys import Key
from whenthen.store.stats import Numbers


def _time(ms: int | None) -> str | None:
    return None if ms is None else isoformat(ms)


def applet(row: AppletRow, trigger_check: CheckRow | None) -> dict[str, Any]:
    """Return an applet: its definition with id, version, times, and how its trigger's checks stand, if it has any."""
    return {
        "id": row.applet_id,
        **without_secrets(definition_json(parse(row))),
        "version": row.version,
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at),
        "check": None if trigger_check is None else check(trigger_check),
    }


def check(row: CheckRow) -> dict[str, Any]:
    """Return how the checks of a trigger stand, the words of the last one included, and what the last ones found."""
    results = Results.read(row.result)
    return {
        "state": state_of(row),
        "last_checked_at": _time(row.checked_at),
        "next_check_at": _time(row.next_check_at),
        "failures": row.failures,
        "message": results.words,
        "last_checks": [{"at": _time(one.at), "found": one.found} for one in results.last],
    }


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


def activity_item(item: Item, applet_names: dict[str, str]) -> dict[str, Any]:
    """Return an execution as an item of the activity."""
    return {
        "execution_id": item.execution_id,
        "applet_id": item.applet_id,
        "applet_name": applet_names.get(item.applet_id, ""),
        "service": item.service,
        "state": item.state,
        "reason": item.reason,
        "note": item.note,
        "occurred_at": _time(item.occurred_at),
        "finished_at": _time(item.finished_at),
        "attempts": item.attempts,
    }


def execution(detail: Detail, applet_name: str) -> dict[str, Any]:
    """Return an execution in detail: inputs, each attempt, when it runs next."""
    attempts = [
        {**attempt, "started_at": _time(attempt["started_at"]), "finished_at": _time(attempt["finished_at"])}
        for attempt in detail.attempts
    ]
    return {
        **activity_item(detail.item, {detail.item.applet_id: applet_name}),
        "event_id": parse_execution_id(detail.item.execution_id).event_id,
        "ingredients": detail.ingredients,
        "queries": list(detail.answers),
        "due_at": _time(detail.due_at),
        "attempts": attempts,
        "payload_erased": detail.is_erased,
    }


def trial(found: Trial) -> dict[str, Any]:
    """Return what an applet would do: each query and action with what it would send, or why it can't."""
    return {
        "ingredients": found.ingredients,
        "queries": [{"query": tried.name, **_tried(tried)} for tried in found.queries],
        "filter": {"passed": not found.ends, "reason": found.ends, "notes": list(found.notes)},
        "actions": [{"action": tried.name, **_tried(tried), "due_at": _time(tried.due_at)} for tried in found.actions],
    }


def _tried(tried: Tried) -> dict[str, Any]:
    return {"service": tried.service, "sends": tried.sends, "error": tried.error, "notes": list(tried.notes)}


def stats(found: Stats, applet_names: dict[str, str]) -> dict[str, Any]:
    """Return statistics: applets with most runs first, days in order, services with their hours in order."""
    applets = sorted(found.applets.items(), key=lambda item: (-item[1].runs, item[0]))
    return {
        "until": _time(found.until),
        "applets": [
            {"applet_id": applet_id, "applet_name": applet_names.get(applet_id, ""), **_numbers(numbers)}
            for applet_id, numbers in applets
        ],
        "days": [{"day": f"{day[:4]}-{day[4:6]}-{day[6:]}", **_numbers(found.days[day])} for day in sorted(found.days)],
        "services": [
            {
                "service": service,
                "hours": [
                    {"hour": f"{hour[:4]}-{hour[4:6]}-{hour[6:8]}T{hour[8:]}:00Z", **_numbers(hours[hour])}
                    for hour in sorted(hours)
                ],
            }
            for service, hours in sorted(found.services.items())
        ],
    }


def _numbers(numbers: Numbers) -> dict[str, Any]:
    rate = numbers.success_rate
    return {
        "runs": numbers.runs,
        "succeeded": numbers.succeeded,
        "failed": numbers.failed,
        "skipped": numbers.skipped,
        "unknown": numbers.unknown,
        "success_rate": None if rate is None else round(rate, 4),
        "attempts": numbers.attempts,
        "average_duration_ms": round(numbers.duration / numbers.tried) if numbers.tried else None,
        "longest_duration_ms": numbers.longest,
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


def connection(row: ConnectionRow, base_url: str) -> dict[str, Any]:
    """Return a connection: of its secrets the names of those that are set, and nothing else.

    Parameters
    ----------
    base_url:
        Where senders reach whenthen, without a slash at its end: a sender of signed webhooks needs a URL.
    """
    shown = read_shown(row)
    hook_url = {"hook_url": f"{base_url}/hooks/{row.connection_id}"} if row.service == "signed_webhooks" else {}
    return {
        "id": row.connection_id,
        "service": row.service,
        "name": row.connection_name,
        **hook_url,
        "account": row.account_name,
        "fields": shown.fields,
        "secrets": list(shown.secrets),
        "oauth": shown.oauth,
        "state": row.state,
        "failing_since": _time(row.failing_since),
        "message": row.message,
        "version": row.version,
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at),
    }


def service(item: Service) -> dict[str, Any]:
    """Return a service with what its connections are like, its triggers, actions and queries."""
    return {
        "service": item.slug,
        "name": item.name,
        "connection": None if item.connection is None else _connection_type(item.connection),
        "triggers": [_trigger(trigger) for trigger in item.triggers],
        "actions": [_action(action) for action in item.actions],
        "queries": [_query(query) for query in item.queries],
    }


def _connection_type(item: ConnectionType[Any]) -> dict[str, Any]:
    return {
        "description": item.description,
        "fields": item.fields.model_json_schema(),
        "oauth": item.oauth is not None,
    }


def _trigger(item: Trigger) -> dict[str, Any]:
    return {
        "trigger": item.slug,
        "name": item.name,
        "description": item.description,
        "fields": item.fields.model_json_schema(),
        "ingredients": _ingredients(item.ingredients),
        "connects": item.connects,
        "may_connect": item.may_connect,
    }


def _action(item: Action[Any]) -> dict[str, Any]:
    return {
        "action": item.slug,
        "name": item.name,
        "description": item.description,
        "fields": item.fields.model_json_schema(),
        "ingredients": [],
        "connects": item.connects,
        "may_connect": item.may_connect,
    }


def _query(item: Query[Any]) -> dict[str, Any]:
    return {
        "query": item.slug,
        "name": item.name,
        "description": item.description,
        "fields": item.fields.model_json_schema(),
        "ingredients": _ingredients(item.ingredients),
        "connects": item.connects,
        "may_connect": item.may_connect,
    }


def _ingredients(items: Sequence[Ingredient]) -> list[dict[str, str]]:
    return [{"ingredient": item.slug, "name": item.name, "sample": item.sample} for item in items]
