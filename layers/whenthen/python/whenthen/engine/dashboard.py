"""The numbers of the dashboard: what ran in the last days, what waits, and what is not checked as it should be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import batched

from whenthen.engine.applets import applet_names
from whenthen.engine.check_results import LATE_MS
from whenthen.engine.days import day_of_hour, last_days
from whenthen.engine.recent import count_recent
from whenthen.store.checks import CheckRow, list_troubled
from whenthen.store.database import Database
from whenthen.store.history import History
from whenthen.store.statements import MAX_SELECTS
from whenthen.store.stats import STATES, Numbers, sum_stats
from whenthen.store.triggers import TriggerRow, read_triggers

MAX_DAYS = 90
"""The longest time that is shown: each month's rollups are read."""

MAX_APPLETS = 50
"""The most applets that are named."""

MAX_TRIGGERS = 50
"""The most triggers that are shown."""

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class AppletNumbers:
    """How an applet's executions ended; `name` is empty when its row is gone."""

    applet_id: str
    name: str
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Waiting:
    """Executions of an applet in one state that are not final. Times are epoch milliseconds.

    `since` is when the event of the oldest one occurred, and `due_at` when the first one is due, None while they run.
    """

    applet_id: str
    name: str
    state: str
    runs: int
    since: int
    due_at: int | None


@dataclass(frozen=True, slots=True)
class TroubledTrigger:
    """A trigger whose checks are late or failing, how they stand, and the names of its applets that are on, by id."""

    trigger: TriggerRow
    check: CheckRow
    applets: Mapping[str, str]


@dataclass(slots=True)
class Dashboard:
    """The owner's last days. All numbers are without attempts and durations.

    Parameters
    ----------
    days:
        By day in the owner's zone, oldest first, also those on which nothing ran. The hours of a zone that is half an
        hour off are counted to the day in which they begin (`days.day_of_hour`).
    applets, applets_left_out:
        Those with most failures first, at most `MAX_APPLETS`, and how many there are besides.
    services:
        By the service that decided how it ended.
    waiting:
        What is not final, the oldest first, at most `MAX_APPLETS`.
    triggers:
        The owner's triggers that are late or failing, in the order in which they are due, at most `MAX_TRIGGERS`.
    """

    days: dict[date, Numbers]
    applets: list[AppletNumbers] = field(default_factory=list)
    applets_left_out: int = 0
    services: dict[str, Numbers] = field(default_factory=dict)
    waiting: list[Waiting] = field(default_factory=list)
    triggers: list[TroubledTrigger] = field(default_factory=list)


def read_dashboard(history: History, owner_id: str, *, days: int, zone: str, now: int) -> Dashboard:
    """Return the owner's dashboard.

    Three statements scan: the rollups of the log, the open slots, and the checks. Applets are counted by days of UTC,
    as their rollups are: at the first day's edge they may differ from `days` and `services`.

    Parameters
    ----------
    days:
        1 to `MAX_DAYS`, the present one included.
    zone:
        The owner's IANA time zone.
    now:
        Epoch milliseconds.
    """
    board = Dashboard({day: Numbers() for day in last_days(now, zone, days)})
    first = min(board.days)
    # A zone's first day may begin on the day of UTC before it, and its last one end on the one after it. The log first:
    # a slot that goes there in between is missing for once, and not counted twice.
    from_day, applets_from, to_day = (f"{day:%Y%m%d}" for day in (first - _DAY, first, max(board.days) + _DAY))
    sums = sum_stats(history.log, owner_id, from_day, to_day, applets_from=applets_from)
    recent = count_recent(history.hot, owner_id, now)
    for one in recent:
        if one.state in STATES:
            numbers = sums.services.setdefault(one.service, {}).setdefault(one.hour, Numbers())
            numbers.count(one.state, one.runs)
            if one.hour >= applets_from:
                sums.applets.setdefault(one.applet_id, Numbers()).count(one.state, one.runs)
    for service, hours in sums.services.items():
        for hour, numbers in hours.items():
            if (day := day_of_hour(hour, zone)) in board.days:
                board.days[day].add_all(numbers)
                board.services.setdefault(service, Numbers()).add_all(numbers)
    open_ones = sorted((one for one in recent if one.state not in STATES), key=lambda one: one.first_at)
    ranked = sorted(sums.applets.items(), key=lambda item: (-_failures(item[1]), -item[1].runs, item[0]))
    board.applets_left_out = len(ranked[MAX_APPLETS:])
    troubled = _find_troubled(history.hot, owner_id, now)
    named = {applet_id for applet_id, _ in ranked[:MAX_APPLETS]} | {one.applet_id for one in open_ones[:MAX_APPLETS]}
    names = applet_names(history.hot, owner_id, named.union(*(trigger.listeners for trigger, _ in troubled)))
    board.applets = [
        AppletNumbers(applet_id, names.get(applet_id, ""), numbers) for applet_id, numbers in ranked[:MAX_APPLETS]
    ]
    board.waiting = [
        Waiting(one.applet_id, names.get(one.applet_id, ""), one.state, one.runs, one.first_at, one.due_at)
        for one in open_ones[:MAX_APPLETS]
    ]
    board.triggers = [
        TroubledTrigger(trigger, check, {name: names.get(name, "") for name in trigger.listeners})
        for trigger, check in troubled
    ]
    return board


def _failures(numbers: Numbers) -> int:
    return numbers.failed + numbers.unknown


def _find_troubled(database: Database, owner_id: str, now: int) -> list[tuple[TriggerRow, CheckRow]]:
    checks = {row.check_id: row for row in list_troubled(database, now - LATE_MS)}
    found = []
    for some in batched(
        sorted(checks, key=lambda check_id: checks[check_id].next_check_at or 0), MAX_SELECTS, strict=False
    ):
        triggers = read_triggers(database, some)
        found += [(triggers[name], checks[name]) for name in some if name in triggers]
    return [pair for pair in found if pair[0].owner_id == owner_id][:MAX_TRIGGERS]
