"""The connections that an applet names, and whether it may."""

from collections.abc import Collection, Mapping
from typing import Any

from whenthen.model.applet import ActionRef, Applet, QueryRef, TriggerRef
from whenthen.services.contract import Action, Query, Trigger
from whenthen.services.registry import find_action, find_query, find_trigger
from whenthen.store.connections import read_connections
from whenthen.store.database import Database

type Reference = TriggerRef | QueryRef | ActionRef


def connections_of(applet: Applet) -> set[str]:
    """Return the ids of the connections that the applet's trigger, queries and actions name."""
    references: tuple[Reference, ...] = (applet.trigger, *applet.queries, *applet.actions)
    return {reference.connection for reference in references if reference.connection is not None}


def services_by_connection(database: Database, owner_id: str, wanted: Collection[str]) -> dict[str, str]:
    """Return the services of those of at most 100 connections that the owner has, by id."""
    rows = read_connections(database, wanted) if wanted else {}
    own = [row for row in rows.values() if row.owner_id == owner_id and row.deleted_at is None]
    return {row.connection_id: row.service for row in own}


def wrong_connection(reference: Reference, services: Mapping[str, str]) -> str:
    """Return why a part can't use the connection that it names, or needs one; empty when all is well.

    Parameters
    ----------
    services:
        See `services_by_connection`.
    """
    part = _part(reference)
    if part is None:
        return ""
    if reference.connection is None:
        return f"is needed: a connection to {part.connects}" if part.connects and not part.may_connect else ""
    if not part.connects:
        return "takes none"
    if reference.connection not in services:
        return "there is no such connection"
    return "" if services[reference.connection] == part.connects else f"must be a connection to {part.connects}"


def _part(reference: Reference) -> Trigger | Action[Any] | Query[Any] | None:
    match reference:
        case TriggerRef():
            return find_trigger(reference.service, reference.trigger)
        case QueryRef():
            return find_query(reference.service, reference.query)
        case ActionRef():
            return find_action(reference.service, reference.action)
