"""What a list of applets shows of each besides its definition: how it went, and what comes next."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import batched

from whenthen.clock import to_datetime
from whenthen.engine.applets import parse
from whenthen.engine.connections.referring import connections_of
from whenthen.engine.recent import count_recent
from whenthen.store.applets import AppletRow
from whenthen.store.checks import CheckRow, read_checks
from whenthen.store.connections import ConnectionRow, ConnectionState, read_connections
from whenthen.store.database import Database
from whenthen.store.executions import State
from whenthen.store.history import History
from whenthen.store.statements import MAX_SELECTS
from whenthen.store.stats import STATES, Numbers, sum_stats
from whenthen.store.stream import Counted

DAYS = 7
"""How many days the numbers are of, days of UTC, the present one included."""

_TRIED = (State.SUCCEEDED, State.FAILED, State.UNKNOWN)
_TROUBLE = (ConnectionState.FAILING, ConnectionState.BROKEN)


@dataclass(frozen=True, slots=True)
class LastRun:
    """The last run. Of one in the log only its day is known, ``yyyymmdd`` of UTC: `at` is None and `state` empty.

    `at` is when it ended or, while it is under way, when its event occurred, epoch milliseconds: what a source dates
    back has still run now.
    """

    day: str
    at: int | None = None
    state: str = ""


@dataclass(slots=True)
class Summary:
    """How an applet stands.

    Parameters
    ----------
    last_run:
        None when it has not run in the last `DAYS` days.
    last_tried:
        The last run that has succeeded, failed or is unknown; None when none of these is outside the log.
    numbers:
        How its executions of these days ended; without attempts and durations.
    under_way:
        How many are queued, running or waiting.
    check:
        How its trigger is checked, None for one whose events arrive by themselves. Of one that needs the clock alone
        (`offline`) `next_check_at` is when it runs next.
    connections:
        Those that it uses and that are failing or broken.
    """

    last_run: LastRun | None = None
    last_tried: LastRun | None = None
    numbers: Numbers = field(default_factory=Numbers)
    under_way: int = 0
    check: CheckRow | None = None
    connections: tuple[ConnectionRow, ...] = ()


def summarize(history: History, owner_id: str, rows: Sequence[AppletRow], *, now: int) -> dict[str, Summary]:
    """Return the summaries of some of the owner's applets, by id.

    Two statements scan, however many applets there are: one over the rollups of the days, one over the open slots.

    Parameters
    ----------
    now:
        Epoch milliseconds.
    """
    summaries = {row.applet_id: Summary() for row in rows}
    if not rows:
        return summaries
    today = to_datetime(now)
    first = today - timedelta(days=DAYS - 1)
    # The log first: a slot that goes there in between is missing for once, and not counted twice.
    sums = sum_stats(history.log, owner_id, f"{first:%Y%m%d}", f"{today:%Y%m%d}")
    for applet_id, summary in summaries.items():
        if applet_id in sums.applets:
            summary.numbers = sums.applets[applet_id]
            summary.last_run = LastRun(sums.last_days[applet_id])
    for one in count_recent(history.hot, owner_id, now):
        if one.applet_id in summaries:
            _add(summaries[one.applet_id], one)
    checks = _by_key(read_checks, history.hot, {row.trigger_id for row in rows})
    used = {row.applet_id: connections_of(parse(row)) for row in rows}
    connections = _by_key(read_connections, history.hot, set().union(*used.values()))
    for row in rows:
        summary = summaries[row.applet_id]
        summary.check = checks.get(row.trigger_id)
        found = (connections[name] for name in sorted(used[row.applet_id]) if name in connections)
        summary.connections = tuple(
            one for one in found if one.owner_id == owner_id and one.deleted_at is None and one.state in _TROUBLE
        )
    return summaries


def _add(summary: Summary, counted: Counted) -> None:
    if counted.state in STATES:
        summary.numbers.count(counted.state, counted.runs)
    else:
        summary.under_way += counted.runs
    last_at = counted.ended_at or counted.last_at
    last = LastRun(to_datetime(last_at).strftime("%Y%m%d"), last_at, counted.state)
    if _is_later(last, summary.last_run):
        summary.last_run = last
    if counted.state in _TRIED and _is_later(last, summary.last_tried):
        summary.last_tried = last


def _is_later(last: LastRun, known: LastRun | None) -> bool:
    return known is None or known.at is None or known.at < (last.at or 0)


def _by_key[T](
    read: Callable[[Database, Collection[str]], dict[str, T]], database: Database, ids: set[str]
) -> dict[str, T]:
    found: dict[str, T] = {}
    for some in batched(sorted(ids), MAX_SELECTS, strict=False):
        found |= read(database, some)
    return found
