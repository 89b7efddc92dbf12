"""How executions stand that are not in the log yet, at a cost that does not depend on the log."""

from whenthen.store.database import Database
from whenthen.store.errors import MissingTable
from whenthen.store.executions import WAITING
from whenthen.store.slots import SLOT_MINUTES, find_slots, slot_at
from whenthen.store.stream import Counted, count_places

_SLOT_MS = SLOT_MINUTES * 60_000
_SLOTS_BACK = 16
"""A slot is open for an hour and a half, and longer while closing lags: what is older is not looked for."""


def count_recent(database: Database, owner_id: str, now: int) -> list[Counted]:
    """Return how the owner's executions of the last eight hours stand that are not in the log, and all that wait.

    Slots that are on their way to the log are left out: a part of them may be counted there already.

    Parameters
    ----------
    now:
        Epoch milliseconds.
    """
    names = [slot_at(now - ago * _SLOT_MS) for ago in range(-1, _SLOTS_BACK)]
    places = {row.slot for row in find_slots(database, names) if not row.is_closing} | {WAITING}
    while True:
        try:
            return count_places(database, sorted(places), owner_id)
        except MissingTable as error:
            # Closed since it was found.
            places.discard(error.table.rpartition("_")[2])
