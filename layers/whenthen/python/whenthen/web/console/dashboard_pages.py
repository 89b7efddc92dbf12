"""The dashboard: how the owner's last days went, what waits, and what is not checked as it should be."""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import Response

from whenthen.clock import now_ms
from whenthen.engine.check_results import Results, state_of
from whenthen.engine.dashboard import Dashboard, TroubledTrigger, read_dashboard
from whenthen.engine.days import day_start
from whenthen.services.registry import SERVICES, find_trigger
from whenthen.store.stats import Numbers
from whenthen.web.console.language import gettext as _
from whenthen.web.console.visit import Visit

PATH = "/dashboard"

_PERIODS = (7, 30, 90)
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class _Trouble:
    """A trigger whose checks are late or failing, as the page tells it. `since` is in epoch milliseconds."""

    name: str
    applets: list[tuple[str, str]]
    is_late: bool
    since: int | None
    message: str


def show(visit: Visit) -> Response:
    """The dashboard of the last 7, 30 or 90 days."""
    days = visit.query.get("days", str(_PERIODS[0]))
    if days not in map(str, _PERIODS):
        raise HTTPException(404, _("There is no such page."))
    board = read_dashboard(visit.runtime.history, visit.owner, days=int(days), zone=visit.zone, now=now_ms())
    return visit.page(
        "dashboard.html",
        days=int(days),
        periods=_PERIODS,
        board=board,
        total=_total(board.days.values()),
        begins_within_hours=any(day_start(day, visit.zone) % _HOUR_MS for day in board.days),
        services=_services(board),
        triggers=[_trouble(found) for found in board.triggers],
    )


def _total(numbers: Iterable[Numbers]) -> Numbers:
    total = Numbers()
    for one in numbers:
        total.add_all(one)
    return total


def _services(board: Dashboard) -> list[tuple[str, str, Numbers]]:
    """Return slug, name and numbers of the services, those with most failures first."""
    found = [
        (slug, _(SERVICES[slug].name) if slug in SERVICES else slug, numbers)
        for slug, numbers in board.services.items()
        if slug
    ]
    return sorted(found, key=lambda item: (-item[2].failed - item[2].unknown, -item[2].runs, item[1]))


def _trouble(found: TroubledTrigger) -> _Trouble:
    row, check = found.trigger, found.check
    trigger = find_trigger(row.service, row.trigger)
    is_late = state_of(check) == "overdue"
    return _Trouble(
        name=_(trigger.name) if trigger else row.trigger,
        applets=sorted(found.applets.items(), key=lambda item: item[1].casefold()),
        is_late=is_late,
        since=check.next_check_at if is_late else check.checked_at,
        message=Results.read(check.result).words if check.failures else "",
    )
