"""How large what grows has become: numbers to watch."""

from dataclasses import dataclass

from whenthen.clock import to_datetime
from whenthen.store.database import Database
from whenthen.store.deletions import sum_deleted
from whenthen.store.events import estimate_events
from whenthen.store.slots import CLOSE_AFTER_MS, SlotRow, batch_made_at, list_slots, slot_end

RARE_MINUTE = 13
"""The minute of an hour in which is done what need not be done more often."""

_STUCK_AFTER_MS = 2 * CLOSE_AFTER_MS


@dataclass(frozen=True, slots=True)
class Sizes:
    """Counts.

    `slots_stuck` have not been closed two hours after their end; a batch ends when it is made. `dead_rows` were deleted
    of small tables and slow down their scans. `seen_events` is None when it was not measured.
    """

    slots_open: int
    slots_stuck: int
    dead_rows: int
    seen_events: int | None


def is_rare(now: int) -> bool:
    """Return whether `now`, epoch milliseconds, is in the `RARE_MINUTE`."""
    return to_datetime(now).minute == RARE_MINUTE


def measure(database: Database, now: int) -> Sizes:
    """Return the sizes at the instant `now`, epoch milliseconds."""
    slots = list_slots(database)
    return Sizes(
        slots_open=len(slots),
        slots_stuck=sum(_end(slot) + _STUCK_AFTER_MS <= now for slot in slots),
        dead_rows=sum_deleted(database),
        seen_events=estimate_events(database) if is_rare(now) else None,
    )


def _end(slot: SlotRow) -> int:
    return batch_made_at(slot.slot) if slot.is_batch else slot_end(slot.slot)
