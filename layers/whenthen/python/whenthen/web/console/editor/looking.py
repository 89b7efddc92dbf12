"""Looks at a draft for the page: what its trigger's source shows, and what its actions would send."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from whenthen.clock import now_ms
from whenthen.engine.arrived import shown
from whenthen.engine.drafts import Draft as Looked
from whenthen.engine.previews import Preview, preview
from whenthen.engine.trying import Tried, try_applet
from whenthen.errors import FieldErrors
from whenthen.model.applet import TriggerRef
from whenthen.services.contract import Action, Query, Trigger
from whenthen.services.registry import SERVICES, find_action, find_query
from whenthen.services.schedules.fields import ClockFields
from whenthen.web.console import language
from whenthen.web.console.editor.draft import Draft, Part
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit


@dataclass(frozen=True, slots=True)
class Step:
    """What a query or an action would send, or why it can't."""

    name: str
    sends: dict[str, Any] | None
    error: str
    notes: tuple[str, ...]
    due_at: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """What an applet would do. `ends` is why its actions would not run."""

    ends: str
    notes: tuple[str, ...]
    queries: tuple[Step, ...]
    actions: tuple[Step, ...]


def is_checked(part: Part) -> bool:
    """Say if a trigger finds its events by itself, at a source that can be looked at."""
    item = part.item
    return isinstance(item, Trigger) and item.check is not None and part.service != "location"


def is_schedule(part: Part) -> bool:
    """Say if a trigger runs by the clock: looking at it asks nobody."""
    return part.item is not None and issubclass(part.item.fields, ClockFields)


def reference(part: Part) -> TriggerRef | None:
    """Return the trigger as the engine takes it, None while it is no trigger."""
    try:
        return TriggerRef.model_validate(part.to_json())
    except ValidationError:
        return None


def look(visit: Visit, part: Part) -> Preview | None:
    """Look at the trigger's source; None while the trigger can't be used."""
    trigger = reference(part)
    if trigger is None or not is_checked(part):
        return None
    runtime = visit.runtime
    try:
        return preview(
            runtime.database,
            runtime.checks,
            visit.owner,
            trigger,
            now=now_ms(),
            language=language.current.get(),
        )
    except FieldErrors:
        return None


def try_draft(visit: Visit, looked: Looked, samples: Mapping[str, str]) -> Shown | None:
    """Show what the applet would do with what was found or has arrived; None while something is wrong with it."""
    if looked.applet is None:
        return None
    trial = try_applet(visit.runtime.accounts, visit.owner, looked.applet, samples, visit.zone)
    queries = tuple(_step(tried, find_query(tried.service, tried.name)) for tried in trial.queries)
    actions = tuple(_step(tried, find_action(tried.service, tried.name)) for tried in trial.actions)
    return Shown(trial.ends, trial.notes, queries, actions)


def samples_of(draft: Draft, values: Mapping[str, str]) -> dict[str, str]:
    """Return those values that are ingredients of the trigger, cut so that a form can carry them."""
    item = draft.trigger.item
    known = {ingredient.slug for ingredient in item.ingredients} if isinstance(item, Trigger) else set()
    return dict(shown(0, {name: value for name, value in values.items() if name in known}).ingredients)


def _step(tried: Tried, item: Action[Any] | Query[Any] | None) -> Step:
    name = f"{_(SERVICES[tried.service].name)}: {_(item.name)}" if item is not None else tried.service
    sends = tried.sends
    if sends is not None:
        sends = {name: value for name, value in sends.items() if value not in (None, "", [], {})}
    return Step(name, sends, tried.error, tried.notes, tried.due_at)
