"""Trying an applet: what it would send with some ingredients. Nothing is sent."""

import json
from dataclasses import dataclass

from starlette.responses import Response

from whenthen.engine import applets, trying
from whenthen.model.applet import Applet
from whenthen.model.values import compact_json
from whenthen.services.registry import find_trigger
from whenthen.web.console import applet_words as words
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit

_PREFIX = "ingredient."
_MAX_LINE = 60


@dataclass(frozen=True, slots=True)
class Given:
    """An ingredient to try with. `is_long` ones get more than a line."""

    name: str
    label: str
    value: str

    @property
    def is_long(self) -> bool:
        """Whether it wants more than a line."""
        return len(self.value) > _MAX_LINE or "\n" in self.value or self.value.startswith(("{", "["))


@dataclass(frozen=True, slots=True)
class Shown:
    """A query or an action in words, and what it would send."""

    role: str
    part: words.Words
    tried: trying.Tried


def show_trial(visit: Visit) -> Response:
    """The form with the samples of the trigger."""
    return _page(visit, None)


def take_trial(visit: Visit) -> Response:
    """What would be sent with what the form says."""
    applet = _applet(visit)
    given = {one.name: one.value for one in _given(visit, applet)}
    # As an event would have them: without what JSON can't hold.
    clean = json.loads(compact_json(given))
    return _page(visit, trying.try_applet(visit.runtime.accounts, visit.owner, applet, clean, visit.zone))


def _page(visit: Visit, trial: trying.Trial | None) -> Response:
    applet = _applet(visit)
    return visit.page(
        "applets/trial.html" if visit.is_fragment else "applets/try.html",
        applet_id=visit.path["id"],
        applet=applet,
        given=_given(visit, applet),
        trial=trial,
        shown=_shown(applet, trial) if trial else [],
    )


def _applet(visit: Visit) -> Applet:
    return applets.parse(applets.get(visit.runtime.database, visit.owner, visit.path["id"]))


def _given(visit: Visit, applet: Applet) -> list[Given]:
    trigger = find_trigger(applet.trigger.service, applet.trigger.trigger)
    found = []
    for ingredient in trigger.ingredients if trigger else ():
        typed = visit.form.get(_PREFIX + ingredient.slug)
        value = typed.replace("\r\n", "\n") if isinstance(typed, str) else ingredient.sample
        found.append(Given(ingredient.slug, _(ingredient.name), value))
    return found


def _shown(applet: Applet, trial: trying.Trial) -> list[Shown]:
    queries = zip(words.query_words(applet), trial.queries, strict=True)
    actions = zip(words.action_words(applet), trial.actions, strict=True)
    return [Shown(_("With"), *pair) for pair in queries] + [Shown(_("Then"), *pair) for pair in actions]
