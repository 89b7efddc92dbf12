"""How one applet's executions of the last days have ended."""

from collections.abc import Collection
from datetime import timedelta

from whenthen.clock import to_datetime
from whenthen.engine.recent import count_recent
from whenthen.store.history import History
from whenthen.store.stats import STATES, Numbers, sum_stats


def read_numbers(
    history: History, owner_id: str, applet_id: str, *, days: Collection[int], now: int
) -> dict[int, Numbers]:
    """Return the numbers of an applet by how many days they are of, without attempts and durations.

    A statement for each of `days` scans the rollups, and one the open slots.

    Parameters
    ----------
    days:
        Days of UTC, the present one included.
    now:
        Epoch milliseconds.
    """
    today = to_datetime(now)
    found = {}
    for count in days:
        # The log first, as in `summaries`: what goes there in between is missing for once, and not counted twice.
        sums = sum_stats(history.log, owner_id, f"{today - timedelta(days=count - 1):%Y%m%d}", f"{today:%Y%m%d}")
        found[count] = sums.applets.get(applet_id, Numbers())
    for one in count_recent(history.hot, owner_id, now):
        if one.applet_id == applet_id and one.state in STATES:
            for numbers in found.values():
                numbers.count(one.state, one.runs)
    return found
