"""The catalogue: services, what each can do, and whether there is a connection."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from whenthen.errors import NotFound
from whenthen.services.contract import Action, Ingredient, Query, Service, Trigger
from whenthen.services.registry import SERVICES
from whenthen.store.connections import ConnectionState
from whenthen.web.console.field_forms import FormField, form_fields
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit

type _Part = Trigger | Query[Any] | Action[Any]


@dataclass(frozen=True, slots=True)
class _Tile:
    service: Service
    connects: tuple[Service, ...]
    """The services of which it takes connections."""
    connections: int
    is_troubled: bool


@dataclass(frozen=True, slots=True)
class _Shown:
    """A trigger, query or action with what it asks for and gives."""

    part: _Part
    fields: list[FormField]
    ingredients: tuple[Ingredient, ...]


def show_list(visit: Visit) -> Response:
    """All services, or those that a search finds."""
    wanted = visit.query.get("q", "").strip()[:100]
    rows = visit.runtime.connections.list_all(visit.owner)
    found = []
    for service in SERVICES.values():
        if not _fits(service, wanted.casefold().split()):
            continue
        connects = _connects(service)
        states = [row.state for row in rows if any(row.service == other.slug for other in connects)]
        found.append(_Tile(service, connects, len(states), any(s is not ConnectionState.WORKING for s in states)))
    return visit.page("services/list.html", tiles=found, wanted=wanted)


def show_service(visit: Visit) -> Response:
    """One service: its triggers, queries and actions, and its connections."""
    service = SERVICES.get(visit.path["slug"])
    if service is None:
        raise NotFound(_("There is no such service."))
    connects = _connects(service)
    slugs = {other.slug for other in connects}
    rows = [row for row in visit.runtime.connections.list_all(visit.owner) if row.service in slugs] if slugs else []
    return visit.page(
        "services/service.html",
        service=service,
        connects=connects,
        connections=rows,
        parts=(
            ("trigger", _("Triggers"), _("They start an applet."), _shown(service.triggers)),
            ("query", _("Queries"), _("They look something up while an applet runs."), _shown(service.queries)),
            ("action", _("Actions"), _("They are what an applet does."), _shown(service.actions)),
        ),
    )


def _fits(service: Service, words: Sequence[str]) -> bool:
    if not words:
        return True
    texts = [service.slug, service.name, _(service.name)]
    for part in _parts(service):
        texts += [part.name, part.description, _(part.name), _(part.description)]
    everything = "\n".join(texts).casefold()
    return all(word in everything for word in words)


def _connects(service: Service) -> tuple[Service, ...]:
    slugs = dict.fromkeys(part.connects for part in _parts(service) if part.connects)
    if service.connection is not None:
        slugs.setdefault(service.slug)
    return tuple(SERVICES[slug] for slug in slugs)


def _parts(service: Service) -> tuple[_Part, ...]:
    return (*service.triggers, *service.queries, *service.actions)


def _shown(parts: Sequence[_Part]) -> list[_Shown]:
    return [
        _Shown(part, form_fields(part.fields, {}, {}, ""), () if isinstance(part, Action) else part.ingredients)
        for part in parts
    ]
