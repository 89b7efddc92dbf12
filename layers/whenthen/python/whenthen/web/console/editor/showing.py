"""Renders the editor's page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.responses import Response

from whenthen.engine.drafts import Draft as Looked
from whenthen.engine.previews import Preview
from whenthen.errors import FieldError
from whenthen.model.applet import MAX_ACTIONS, MAX_QUERIES
from whenthen.services.zones import list_zones
from whenthen.store.applets import AppletRow
from whenthen.web.console import reasons
from whenthen.web.console.editor import looking
from whenthen.web.console.editor.calls import calls_of, is_called
from whenthen.web.console.editor.chips import chips_for
from whenthen.web.console.editor.draft import UNITS, Draft, suggested_name
from whenthen.web.console.editor.parts import Page, PartView, choose_only_connections, connects, view
from whenthen.web.console.editor.problems import placed, warnings_below
from whenthen.web.console.editor.reading import read_samples
from whenthen.web.console.editor.saving import draft_token
from whenthen.web.console.language import gettext as _
from whenthen.web.console.mistakes import Mistake
from whenthen.web.console.schedule_words import when
from whenthen.web.console.visit import Visit

_SEARCH = "search."
_OWN = ("name", "filter", "cool_down_minutes", "off_after_failures")


@dataclass
class Turn:
    """One turn of the form.

    Parameters
    ----------
    operation:
        The button's value; empty when the page is opened.
    token:
        The name of a new applet's draft.
    applet_id, version:
        Of the stored applet that is edited, and the version that was read; empty for a new one.
    was_tried:
        Whether it was tried to save: from then on all that is missing is told.
    samples:
        Values of the trigger's ingredients that were found or have arrived.
    focus:
        The id of the element to go on with.
    """

    operation: str = ""
    token: str = ""
    applet_id: str = ""
    version: str = ""
    was_tried: bool = False
    samples: dict[str, str] = field(default_factory=dict)
    focus: str = ""
    notice: str = ""
    is_stale: bool = False

    @classmethod
    def of_form(cls, visit: Visit) -> "Turn":
        """Return the turn that a form asks for."""
        return cls(
            operation=visit.text("op"),
            token=draft_token(visit),
            version=visit.text("version"),
            was_tried=visit.text("was_tried") == "1",
            samples=read_samples(visit.form),
        )

    def become_edit_of(self, row: AppletRow) -> None:
        """Go on with a stored applet, in its present version."""
        self.applet_id, self.version, self.token = row.applet_id, str(row.version), ""

    @property
    def path(self) -> str:
        """Where the form is sent."""
        return f"/applets/{self.applet_id}/edit" if self.applet_id else "/applets/new"


def show(
    visit: Visit,
    draft: Draft,
    looked: Looked,
    turn: Turn,
    *,
    further: Sequence[FieldError] = (),
    status: int = 200,
) -> Response:
    """Return the page of a draft.

    Parameters
    ----------
    further:
        What else is wrong, for example with the trigger's source.
    """
    rows = visit.runtime.connections.list_all(visit.owner) if connects(draft) else []
    choose_only_connections(draft, rows)
    seen = _look(visit, draft, turn)
    called = calls_of(visit, draft.trigger, turn.operation)
    if called is not None and called.arrived is not None:
        turn.samples = dict(called.arrived.ingredients)
    samples = looking.samples_of(draft, turn.samples)
    errors = placed(draft, [*looked.problems, *further], all_of_them=turn.was_tried)
    if seen is not None and seen.failure is not None:
        errors.setdefault(seen.failure.field, reasons.translated(seen.failure.message))
    page = Page(rows, errors, samples, _searches(visit), visit.zone, turn.focus if visit.is_fragment else "")
    views = {path: view(draft, path, page) for path in draft.parts()}
    return visit.page(
        "editor/page.html",
        status=status,
        turn=turn,
        draft=draft,
        trigger=views["trigger"],
        queries=[views[f"queries.{index}"] for index in range(len(draft.queries))],
        actions=[views[f"actions.{index}"] for index in range(len(draft.actions))],
        warnings={path: warnings_below(path, looked.warnings) for path in [*views, "filter"]},
        errors=errors,
        told={name: errors.get(name, "") for name in _OWN},
        mistakes=_mistakes(errors, views) if turn.was_tried else [],
        focus=page.focus,
        chips_ids=["samples", "filter-chips", *(name for part in views.values() for name in part.chips_ids)],
        filter_chips=chips_for(draft, "filter", samples),
        samples=samples,
        samples_text=json.dumps(samples, ensure_ascii=False) if samples else "",
        is_schedule=looking.is_schedule(draft.trigger),
        is_called=is_called(draft.trigger),
        seen=seen,
        schedule_words=when(draft.trigger.item.fields, draft.trigger.fields) if draft.trigger.item else "",
        calls=called,
        trial=looking.try_draft(visit, looked, samples) if turn.operation == "preview" else None,
        suggested_name=suggested_name(draft),
        units=list(UNITS),
        zones=list_zones(),
        fragment=visit.is_fragment,
        most={"queries": MAX_QUERIES, "actions": MAX_ACTIONS},
    )


def _look(visit: Visit, draft: Draft, turn: Turn) -> Preview | None:
    """Look at the trigger when that costs nothing, or when it is asked for."""
    if turn.operation != "look" and not looking.is_schedule(draft.trigger):
        return None
    seen = looking.look(visit, draft.trigger)
    if seen is not None and seen.items:
        turn.samples = dict(seen.items[0].ingredients)
    return seen


def _searches(visit: Visit) -> dict[str, str]:
    return {name.removeprefix(_SEARCH): visit.text(name) for name in visit.form if name.startswith(_SEARCH)}


def _mistakes(errors: dict[str, str], views: dict[str, PartView]) -> list[Mistake]:
    """Return the lines of the summary in the order of the page, each with the place that it is about."""
    places = _places(views)
    order = list(places)
    found = []
    for error, message in errors.items():
        at = error
        while at not in places and "." in at:
            at = at.rpartition(".")[0]
        anchor, label = places.get(at, ("", ""))
        found.append((order.index(at) if at in places else -1, Mistake(anchor, label, message)))
    return [mistake for _place, mistake in sorted(found, key=lambda item: item[0])]


def _places(views: dict[str, PartView]) -> dict[str, tuple[str, str]]:
    """Return the ids of the page's fields and their labels, by path."""
    places = {}
    for path, part in views.items():
        if path == "actions.0":
            places["filter"] = ("filter", _("Only if"))
        places[path] = (part.id, "")
        places[f"{path}.connection"] = (f"{part.id}-connection", _("Connection"))
        places[f"{path}.name"] = (f"{part.id}-name", _("Name of its rows"))
        places |= {item.name: (item.id, item.label) for item in [*part.main_fields, *part.further_fields]}
        places[f"{path}.delay"] = (f"{part.id}-delay-kind", _("Wait before this"))
    for name, label in (
        ("name", _("Name")),
        ("cool_down_minutes", _("Cool-down")),
        ("off_after_failures", _("Turn off after failures in a row")),
    ):
        places[name] = (name, label)
    return places
