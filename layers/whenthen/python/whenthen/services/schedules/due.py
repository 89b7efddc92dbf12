"""Which slots are due, and what becomes of those that were missed."""

from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from whenthen.services.schedules.slots import Scheduled, Slot
from whenthen.services.schedules.texts import time_text

type CatchUp = Literal["last", "all", "none"]

ON_TIME_MS = 90_000
"""How late a slot is still on time: the clock is looked at each minute."""

NEVER = 253_370_764_800_000
"""The instant for what does not come again: the year 9999."""

MAX_AT_ONCE = 50
"""How many slots one check returns: as many as the engine lets fire. The others follow at the next one."""

_MAX_COUNTED = 1000
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Due:
    """What is due.

    Parameters
    ----------
    slots:
        To be run now, oldest first.
    after:
        The last instant that has been considered: where the next look begins. Unchanged when nothing was due.
    next_at:
        The instant of the next look; `NEVER` when there is no other slot.
    missed:
        How many slots will not be run any more; counted up to a thousand and one.
    missed_since:
        The first of them; epoch milliseconds.
    """

    slots: tuple[Slot, ...]
    after: int
    next_at: int
    missed: int = 0
    missed_since: int = 0

    def note(self, zone: ZoneInfo) -> str:
        """Return words about what was missed, for the owner; empty when nothing was."""
        if not self.missed:
            return ""
        since = time_text(self.missed_since, zone)
        if self.missed == 1:
            return f"The run of {since} was missed."
        count = f"{self.missed}" if self.missed <= _MAX_COUNTED else f"More than {_MAX_COUNTED}"
        return f"{count} runs were missed, the first of {since}."


def find_due(scheduled: Scheduled, after: int, now: int, *, catch_up: CatchUp, grace_minutes: int) -> Due:
    """Return the slots later than `after` and not later than `now` that are to be run.

    The effort is bounded however long nobody has looked.

    Parameters
    ----------
    scheduled:
        The schedule.
    after:
        The last instant that has been considered, epoch milliseconds. One later than `now` says that the clock
        was turned back: nothing is due.
    now:
        The present instant, epoch milliseconds.
    catch_up:
        What becomes of slots that are late but within the grace: ``all`` are run; with ``last`` the newest one
        alone, if any is late; with ``none`` only those on time.
    grace_minutes:
        How late a slot may be run. What is on time is run in any case.
    """
    first = scheduled.next_slot(after)
    if first is None or first.at > now:
        return Due((), after, first.at if first else NEVER)
    on_time = now - ON_TIME_MS
    start = on_time if catch_up == "none" else min(on_time, now - grace_minutes * _MINUTE_MS)
    begin = max(after, start - 1)
    if catch_up == "last" and first.at < on_time:
        oldest = _until(scheduled.next_slot(begin), now)
        slots = [_newest(scheduled, oldest, now)] if oldest else []
        considered = now
    else:
        slots, considered = _slots(scheduled, begin, now)
    missed = _count(scheduled, first, slots[0].at if slots else now + 1)
    if considered < now:
        return Due(tuple(slots), considered, now, missed, first.at)
    following = scheduled.next_slot(now)
    return Due(tuple(slots), now, following.at if following else NEVER, missed, first.at)


def _until(slot: Slot | None, end: int) -> Slot | None:
    return slot if slot and slot.at <= end else None


def _slots(scheduled: Scheduled, begin: int, now: int) -> tuple[list[Slot], int]:
    """Return the slots after `begin`, at most so many, and up to where that was."""
    slots: list[Slot] = []
    while slot := _until(scheduled.next_slot(begin), now):
        if len(slots) == MAX_AT_ONCE:
            return slots, begin
        slots.append(slot)
        begin = slot.at
    return slots, now


def _newest(scheduled: Scheduled, newest: Slot, now: int) -> Slot:
    """Return the last slot until `now`, of which `newest` is one."""
    # From `end` until now there is none.
    end = now + 1
    while end - newest.at > 1:
        middle = (newest.at + end) // 2
        if found := _until(scheduled.next_slot(middle - 1), now):
            newest = found
        else:
            end = middle
    return newest


def _count(scheduled: Scheduled, first: Slot, end: int) -> int:
    """Return how many slots there are from `first` until before `end`, not counting on for ever."""
    count = 0
    slot: Slot | None = first
    while slot and slot.at < end and count <= _MAX_COUNTED:
        count += 1
        slot = scheduled.next_slot(slot.at)
    return count
