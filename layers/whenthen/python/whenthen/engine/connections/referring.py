"""The connections that an applet names, and whether it may."""

from collections.abc import Iterator, Mapping
from typing import Any

from whenthen.errors import FieldError
from whenthen.model.applet import ActionRef, Applet, QueryRef, TriggerRef
from whenthen.services.contract import Action, Query, Trigger
from whenthen.services.registry import find_action, find_query, find_trigger
from whenthen.store.connections import read_connections
from whenthen.store.database import Database

type Reference = TriggerRef | QueryRef | ActionRef


def connections_of(applet: Applet) -> set[str]:
    """Return the ids of the connections that the applet's trigger, queries and actions name."""
    return {reference.connection for _, reference in _references(applet) if reference.connection is not None}


def services_by_connection(database: Database, owner_id: str, applet: Applet) -> dict[str, str]:
    """Return the services of those connections that the applet names and its owner has, by id."""
    wanted = connections_of(applet)
    rows = read_connections(database, wanted) if wanted else {}
    own = [row for row in rows.values() if row.owner_id == owner_id and row.deleted_at is None]
    return {row.connection_id: row.service for row in own}


def check_connections(applet: Applet, services: Mapping[str, str], *, known: TriggerRef | None) -> None:
    """Refuse an applet whose parts lack a connection, or name one that they can't use.

    Parameters
    ----------
    services:
        See `services_by_connection`.
    known:
        A trigger that is taken as it is.

    Raises
    ------
    FieldError
        At ``trigger.connection``, ``actions.0.connection`` and so on.
    """
    for path, reference in _references(applet):
        part = _part(reference)
        if part is None or reference == known:
            continue
        if reason := _wrong(part, reference.connection, services):
            raise FieldError(f"{path}.connection", reason)


def _wrong(part: Trigger | Action[Any] | Query[Any], connection: str | None, services: Mapping[str, str]) -> str:
    if connection is None:
        return f"is needed: a connection to {part.connects}" if part.connects and not part.may_connect else ""
    if not part.connects:
        return "takes none"
    if connection not in services:
        return "there is no such connection"
    return "" if services[connection] == part.connects else f"must be a connection to {part.connects}"


def _references(applet: Applet) -> Iterator[tuple[str, Reference]]:
    yield "trigger", applet.trigger
    for index, query in enumerate(applet.queries):
        yield f"queries.{index}", query
    for index, action in enumerate(applet.actions):
        yield f"actions.{index}", action


def _part(reference: Reference) -> Trigger | Action[Any] | Query[Any] | None:
    match reference:
        case TriggerRef():
            return find_trigger(reference.service, reference.trigger)
        case QueryRef():
            return find_query(reference.service, reference.query)
        case ActionRef():
            return find_action(reference.service, reference.action)
