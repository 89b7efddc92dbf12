"""Statistics of what is in the log: from the rollups, or of one day from the log itself, exactly."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

from whenthen.clock import to_datetime
from whenthen.store.history import History
from whenthen.store.log import count_day
from whenthen.store.slots import SLOT_MINUTES, list_slots, slot_end
from whenthen.store.stats import Numbers, StatRow, list_stats

MAX_DAYS = 400
"""The longest time that is asked for at once: each month is a scan of its rollups."""


@dataclass(slots=True)
class Stats:
    """Numbers of an owner by applet, by day (``yyyymmdd``), and by service and hour (``yyyymmddhh``).

    `until` is the instant up to which they are complete, epoch milliseconds: what is newer is not in the log yet.
    """

    until: int
    applets: dict[str, Numbers] = field(default_factory=dict)
    days: dict[str, Numbers] = field(default_factory=dict)
    services: dict[str, dict[str, Numbers]] = field(default_factory=dict)

    def add(self, rows: Iterable[StatRow]) -> None:
        """Add rollups."""
        for row in rows:
            if row.hour is None:
                self.applets.setdefault(row.subject, Numbers()).add_all(row.numbers)
                self.days.setdefault(row.day, Numbers()).add_all(row.numbers)
            else:
                hours = self.services.setdefault(row.subject, {})
                hours.setdefault(f"{row.day}{row.hour:02}", Numbers()).add_all(row.numbers)


def read_stats(history: History, owner_id: str, *, days: int, now: int) -> Stats:
    """Return the owner's numbers of the last `days` days, the present one included, from the rollups.

    Parameters
    ----------
    days:
        1 to `MAX_DAYS`. Days are those of UTC.
    now:
        Epoch milliseconds.
    """
    stats = Stats(_complete_until(history, now))
    last = to_datetime(now).date()
    first = last - timedelta(days=days - 1)
    stats.add(list_stats(history.log, owner_id, f"{first:%Y%m%d}", f"{last:%Y%m%d}"))
    return stats


def count_exactly(history: History, owner_id: str, day: date, *, now: int) -> Stats:
    """Return the owner's numbers of one day, from the log itself."""
    stats = Stats(_complete_until(history, now))
    text = f"{day:%Y%m%d}"
    for applet_id, service, hour, numbers in count_day(history.log, owner_id, text):
        stats.add(
            (
                StatRow("applet", applet_id, text, None, numbers),
                StatRow("service", service, text, hour, numbers),
            )
        )
    return stats


def _complete_until(history: History, now: int) -> int:
    starts = [slot_end(row.slot) - SLOT_MINUTES * 60_000 for row in list_slots(history.hot) if not row.is_batch]
    return min([now, *starts])
