"""The attempts of an execution as its page tells them: by run, and in a run by query and action."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from whenthen.services.registry import SERVICES, find_action, find_query
from whenthen.store.progress import runs_of
from whenthen.web.console.language import gettext as _
from whenthen.web.console.language import ngettext


@dataclass(frozen=True, slots=True)
class Step:
    """A query or an action of a run with its attempts. `index` counts from 1 among those of its `kind`."""

    kind: str
    index: int
    service: str
    name: str
    tries: tuple[dict[str, Any], ...]


def read_runs(attempts: Sequence[dict[str, Any]]) -> list[list[Step]]:
    """Return the steps of each run, the last one first.

    Parameters
    ----------
    attempts:
        As `engine.attempts` keeps them. Each gets `took`, how long it took in words.
    """
    return [
        [_step(kind, index, list(tries)) for (kind, index), tries in groupby(run, _place)]
        for run in reversed(runs_of(attempts))
    ]


def _place(attempt: dict[str, Any]) -> tuple[str, int]:
    return attempt.get("kind", "action"), attempt["action"]


def _step(kind: str, index: int, tries: list[dict[str, Any]]) -> Step:
    service, slug = tries[-1].get("service", ""), tries[-1].get("name", "")
    found = find_query(service, slug) if kind == "query" else find_action(service, slug)
    return Step(
        kind,
        index + 1,
        _(SERVICES[service].name) if service in SERVICES else service,
        _(found.name) if found else slug,
        tuple({**tried, "took": time_words(tried["finished_at"] - tried["started_at"])} for tried in tries),
    )


def time_words(ms: int) -> str:
    """Return a length of time in words, as exact as people want it.

    Parameters
    ----------
    ms:
        Milliseconds.
    """
    if ms < 1000:
        return _("%(number)d ms") % {"number": ms}
    if ms < 60_000:
        return _("%(number)s s") % {"number": f"{ms / 1000:.1f}"}
    minutes = ms // 60_000
    if minutes < 60:
        return ngettext("%(number)d minute", "%(number)d minutes", minutes) % {"number": minutes}
    hours = minutes // 60
    if hours < 48:
        return ngettext("%(number)d hour", "%(number)d hours", hours) % {"number": hours}
    return ngettext("%(number)d day", "%(number)d days", hours // 24) % {"number": hours // 24}
