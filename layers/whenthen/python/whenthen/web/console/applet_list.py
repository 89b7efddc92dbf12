"""The list of applets: what is looked for, a page of it, and how each of them stands."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode

from whenthen.clock import now_ms
from whenthen.engine.applets import parse
from whenthen.engine.summaries import Summary, summarize
from whenthen.store.applets import AppletRow
from whenthen.web.console.applet_checks import CheckShown, shown
from whenthen.web.console.applet_words import sentence, service_name, services_of
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit, page_number

type State = Literal["", "on", "off", "failing"]

PAGE = 50
"""How many applets a page shows."""

_MAX_SEARCH = 200
_TROUBLE = ("failed", "unknown")


@dataclass(frozen=True, slots=True)
class Listed:
    """An applet in the list. `services` are slugs and names, `check` is how its trigger is checked or None."""

    row: AppletRow
    name: str
    sentence: str
    services: list[tuple[str, str]]
    summary: Summary
    check: CheckShown | None


@dataclass(frozen=True, slots=True)
class Looked:
    """What a visitor looks for: words, a state and a page."""

    words: str
    state: State
    page: int

    @classmethod
    def of(cls, visit: Visit) -> "Looked":
        """Return what the query asks for; a state that is none is none."""
        state = visit.query.get("state", "")
        words = visit.query.get("q", "").strip()[:_MAX_SEARCH]
        return cls(words, state if state in ("on", "off", "failing") else "", page_number(visit))  # type: ignore[arg-type]

    def address(self, page: int) -> str:
        """Return the address of a page of the same."""
        asked = {"q": self.words, "state": self.state, "page": str(page) if page > 1 else ""}
        query = urlencode({name: value for name, value in asked.items() if value})
        return f"/applets?{query}" if query else "/applets"


@dataclass(frozen=True, slots=True)
class Found:
    """A page of the list: `count` are all that were found."""

    applets: list[Listed]
    count: int
    before: str
    after: str


def find(visit: Visit, rows: Sequence[AppletRow], looked: Looked) -> Found:
    """Return a page of the applets that were looked for.

    Parameters
    ----------
    rows:
        All of the visitor's, newest first.
    """
    history, now = visit.runtime.history, now_ms()
    wanted = [row for row in rows if _fits(row, looked)]
    summaries: dict[str, Summary] = {}
    if looked.state == "failing":
        summaries = summarize(history, visit.owner, wanted, now=now)
        wanted = [row for row in wanted if is_failing(summaries[row.applet_id])]
    start = (looked.page - 1) * PAGE
    page = wanted[start : start + PAGE]
    if not summaries:
        summaries = summarize(history, visit.owner, page, now=now)
    return Found(
        [listed(row, summaries[row.applet_id]) for row in page],
        len(wanted),
        looked.address(looked.page - 1) if looked.page > 1 else "",
        looked.address(looked.page + 1) if start + PAGE < len(wanted) else "",
    )


def listed(row: AppletRow, summary: Summary) -> Listed:
    """Return an applet as the list shows it."""
    applet = parse(row)
    return Listed(row, applet.name, sentence(applet), services_of(applet), summary, shown(summary.check, applet))


def is_failing(summary: Summary) -> bool:
    """Return whether an applet needs its owner: the last run, the checks or a connection went wrong.

    Of runs that are in the log it is known how they ended, not in which order: then it is whether more went wrong.
    """
    last, check, numbers = summary.last_tried, summary.check, summary.numbers
    return (
        bool(summary.connections)
        or (check is not None and check.next_check_at is not None and check.failures > 0)
        or (last.state in _TROUBLE if last is not None else numbers.failed + numbers.unknown > numbers.succeeded)
    )


def _fits(row: AppletRow, looked: Looked) -> bool:
    if looked.state == "off":
        if row.enabled:
            return False
    elif looked.state and not row.enabled:
        return False
    if not looked.words:
        return True
    # Not `parse`: a thousand applets are looked through for each letter that is typed.
    document = json.loads(row.definition)
    parts = (document["trigger"], *document["queries"], *document["actions"])
    slugs = {part["service"] for part in parts}
    texts = [document["name"], *slugs, *map(service_name, slugs)]
    return all(any(word in text.casefold() for text in texts) for word in looked.words.casefold().split())


def states() -> list[tuple[State, str]]:
    """Return the states that can be looked for, with their names."""
    return [("", _("All")), ("on", _("On")), ("off", _("Off")), ("failing", _("Need attention"))]
