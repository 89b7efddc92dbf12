"""Activity: what ran, was skipped or failed, newest first, wherever it stands by now.

A page is put together from the open slots, from those that have outlived their slot, and from the log. An execution
only moves from one to the next in this order, so they are read in this order or at once, and none is missed in between.
Its place in the stream never changes: slot, time and id.
"""

import hashlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from whenthen.clock import Deadline, now_ms
from whenthen.engine.cursors import LATEST, decode_cursor, encode_cursor
from whenthen.engine.items import EARLIEST, NEWEST, Item, Position, of_log, of_row
from whenthen.errors import FieldError
from whenthen.store.errors import MissingTable
from whenthen.store.executions import WAITING
from whenthen.store.history import History
from whenthen.store.log import PAGE, Filters, list_log, list_months, list_reruns
from whenthen.store.slots import CLOSE_AFTER_MS, SLOT_NAME_LENGTH, last_slot, list_slots, slot_at, slot_before, slot_end
from whenthen.store.stats import STATES, Numbers, sum_stats
from whenthen.store.stream import MAX_ROWS, Places, Wanted, read_places

MAX_PAGE = MAX_ROWS
"""The most executions in one page: what the store reads of a place at once."""

SECONDS = 1.5
"""How long slots and log are read for one page. Every scan holds up everybody (ALOPEX.md 2)."""

_FIRST_WINDOW_MS = 6 * 3_600_000
_FIRST_FILTERED_MS = 4 * 24 * 3_600_000
"""Of what is looked for there is less: fewer statements, of which each opens every file (ALOPEX.md 4)."""

_SHORT_SECONDS = 0.2
_MARK_BYTES = 16
_SLOTS_AT_ONCE = 6
"""More are open only where closing lags."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of executions, and the cursor of the next one or None. `mark` is what `read_mark` has said then."""

    items: list[Item]
    next: str | None
    mark: str


def _position(cursor: str | None) -> Position:
    if not cursor:
        return NEWEST
    at, identifier = decode_cursor(cursor)
    slot, dot, _ = identifier.partition(".")
    try:
        if not dot or not slot.isascii() or not slot.isdigit():
            raise ValueError
        slot_before(slot)
    except (ValueError, OverflowError) as error:
        raise FieldError("before", "is not a cursor from an earlier page") from error
    return Position(slot, at, identifier)


def read_activity(
    history: History, owner_id: str, filters: Filters, *, limit: int = 50, before: str | None = None
) -> Page:
    """Return a page of the owner's executions: newest slot first, and in a slot the newest first.

    An event that waited in the intake queue stands in the slot in which it was stored. Slots and log are read for
    `SECONDS`, so a page may be short, or empty, and still have a next one.

    Parameters
    ----------
    limit:
        1 to `MAX_PAGE`.
    before:
        The `next` of the page before, or None for the first.

    Raises
    ------
    FieldError
        `before` is not a cursor.
    """
    stream = _Stream(history, owner_id, filters, limit, _position(before))
    deadline = Deadline(SECONDS)
    stream.read_open(deadline)
    mark = stream.mark()
    stream.read_log(deadline)
    return stream.page(mark)


def read_mark(history: History, owner_id: str, filters: Filters, *, limit: int = 50) -> str:
    """Return a text that changes when the first page does, without a look into the log: only slots that close go there.

    Parameters
    ----------
    limit:
        As of the page.
    """
    stream = _Stream(history, owner_id, filters, limit, NEWEST)
    stream.read_open(Deadline(SECONDS))
    return stream.mark()


class _Stream:
    """What has been read for a page, by id, and how far back that is complete: to `horizon`, None for all the way."""

    def __init__(self, history: History, owner_id: str, filters: Filters, limit: int, before: Position) -> None:
        self._history = history
        self._owner = owner_id
        self._filters = filters
        self._limit = limit
        if filters.last_slot:
            before = min(before, Position(filters.last_slot, LATEST, ""))
        self._before = before
        # A cursor at the very beginning of a slot has nothing of it left.
        self._newest_slot = before.slot if before.at > EARLIEST else slot_before(before.slot)
        self._found: dict[str, tuple[int, int, Item]] = {}
        self._horizon: Position | None = None

    def _take(self, items: Iterable[Item], rank: int) -> None:
        """Keep the latest of each execution: that of the higher rank, and of equals that of the later run."""
        for item in items:
            seen = self._found.get(item.execution_id)
            # Of equals the one that was read last.
            if seen is None or seen[:2] <= (rank, item.run):
                self._found[item.execution_id] = (rank, item.run, item)

    def _end_at(self, position: Position) -> None:
        self._horizon = max(self._horizon or position, position)

    def _shown(self) -> list[Item]:
        items = [item for _, _, item in self._found.values() if item.matches(self._filters)]
        return sorted(
            (item for item in items if self._horizon is None or item.position >= self._horizon),
            key=lambda item: item.position,
            reverse=True,
        )

    def read_open(self, deadline: Deadline) -> None:
        """Read what is not in the log: slots, newest first, until there is enough or the time is up.

        Each statement also reads those that have outlived their slot: one that has left a slot since that was read is
        among them. Batches are listed in the same statement, since one may have been made since.
        """
        hot = self._history.hot
        places = tuple(row.slot for row in list_slots(hot))
        read: set[str] = set()
        gone: set[str] = set()
        while True:
            batches = {place for place in places if len(place) != SLOT_NAME_LENGTH} - gone
            slots = [slot for slot in self._open_slots(places) if slot not in read | gone]
            following = slots[:_SLOTS_AT_ONCE] if read else _begun_last(slots)
            try:
                found = read_places(hot, self._wanted(following, batches), self._owner, before=self._before)
            except MissingTable as error:
                # Closed since the list was read.
                gone.add(error.table.rpartition("_")[2])
                continue
            read.update(following)
            self._take_places(found, following)
            places = found.open
            if any(len(place) != SLOT_NAME_LENGTH and place not in batches | gone for place in places):
                continue
            rest = slots[len(following) :]
            if not rest or (self._horizon is not None and self._horizon.slot > rest[0]):
                return
            if len(self._shown()) >= self._limit or deadline.left() == 0:
                self._end_at(_end_of(following[-1]))
                return

    def _open_slots(self, places: Iterable[str]) -> list[str]:
        slots = (place for place in places if len(place) == SLOT_NAME_LENGTH)
        return [slot for slot in slots if self._filters.first_slot <= slot <= self._newest_slot]

    def _wanted(self, slots: Iterable[str], batches: Iterable[str]) -> list[Wanted]:
        applet, state = self._filters.applet_id, self._filters.state
        # Service and text are looked for here, so there may have to be more rows than are shown.
        rows = MAX_ROWS if self._filters.service or self._filters.text else min(self._limit + 1, MAX_ROWS)
        # Of what has left its slot all states: each stands for its rows in the log.
        moved = [Wanted(place, applet) for place in (WAITING, *batches)]
        return [*(Wanted(slot, applet, state, rows) for slot in slots), *moved]

    def _take_places(self, found: Places, slots: Iterable[str]) -> None:
        for wanted in self._wanted(slots, found.rows.keys() - set(slots) - {WAITING}):
            rows = found.rows[wanted.place]
            self._take(map(of_row, rows), 1 if len(wanted.place) == SLOT_NAME_LENGTH else 2)
            if len(rows) == wanted.rows:
                self._end_at(of_row(rows[-1]).position)

    def read_log(self, deadline: Deadline) -> None:
        """Walk back in the log until there is enough, the time is up or nothing is left."""
        lowest = max(self._horizon.slot if self._horizon else "", self._filters.first_slot)
        if lowest and slot_end(lowest) + CLOSE_AFTER_MS > now_ms():
            # No slot that is as new can be in the log.
            return
        filters = self._filters
        if filters.state and filters.state not in STATES:
            # What is in the log has ended.
            return
        is_filtered = filters.applet_id or filters.state or filters.service or filters.text
        length = _FIRST_FILTERED_MS if is_filtered else _FIRST_WINDOW_MS
        can_jump = bool(filters.applet_id or filters.state) and not filters.first_slot
        is_rare = False
        for month in self._months():
            last = min(self._newest_slot, last_slot(month))
            has_jumped = False
            while last[:6] == month and last >= lowest:
                if is_rare and not has_jumped:
                    last, has_jumped = min(last, self._last_with_any(month, last)), True
                    continue
                # The first window takes in what a clock that was wrong has put into the future.
                first = max(slot_at(min(slot_end(last), now_ms()) - length), f"{month}010000", lowest)
                begun, known = time.monotonic(), len(self._found)
                if self._read_window(month, (first, last)):
                    return
                if len(self._shown()) >= self._limit or deadline.left() == 0:
                    self._end_at(_end_of(first))
                    return
                if time.monotonic() - begun < _SHORT_SECONDS:
                    length *= 4
                is_rare = can_jump and len(self._found) == known
                last = slot_before(first)

    def _months(self) -> list[str]:
        """Return the months to look into, newest first. Those of a day are known without a look at the database."""
        first, last = self._filters.first_slot[:6], self._filters.last_slot[:6]
        return sorted({first, last}, reverse=True) if first else list_months(self._history.log)

    def _last_with_any(self, month: str, last: str) -> str:
        """Return the last slot of the newest day, up to that of `last`, that may have what is asked for, or empty text.

        The rollups know the days of each state, and of each applet; of an applet's states how many there were.
        """
        applet, state = self._filters.applet_id, self._filters.state
        sums = sum_stats(self._history.log, self._owner, f"{month}01", last[:8])
        if applet:
            numbers = sums.applets.get(applet, Numbers())
            has_any = getattr(numbers, state) if state else numbers.runs
            days = [sums.last_days[applet]] if has_any else []
        else:
            hours = (item for by_hour in sums.services.values() for item in by_hour.items())
            days = [hour[:8] for hour, numbers in hours if getattr(numbers, state)]
        return f"{max(days)}2330" if days else ""

    def _read_window(self, month: str, slots: tuple[str, str]) -> bool:
        """Read what a month has of these slots, and return whether there is more than is read at once."""
        log, owner, filters = self._history.log, self._owner, self._filters
        reruns: dict[str, int] = {}
        rows = list_log(log, month, owner, filters, slots=slots, before=self._before)
        if rows and (filters.state or filters.service or filters.text):
            # An earlier run may fit the filters when the last one, which counts, does not. One that has come to the log
            # since was read where it has been before.
            reruns = list_reruns(log, month, owner, slots)
        self._take((of_log(row) for row in rows if row.run >= reruns.get(row.execution_id, 0)), 0)
        if len(rows) == PAGE:
            self._end_at(of_log(rows[-1]).position)
        return len(rows) == PAGE

    def mark(self) -> str:
        """Return a digest of what is shown by now."""
        shown = [(item.execution_id, item.state, item.run, item.attempts) for item in self._shown()[: self._limit]]
        return hashlib.blake2b(json.dumps(shown).encode(), digest_size=_MARK_BYTES).hexdigest()

    def page(self, mark: str) -> Page:
        """Return the page."""
        items = self._shown()
        if len(items) > self._limit:
            last = items[self._limit - 1].position
        elif self._horizon is not None and self._horizon > _end_of(self._filters.first_slot):
            last = self._horizon
        else:
            return Page(items, None, mark)
        return Page(items[: self._limit], encode_cursor(last.at, last.execution_id), mark)


def _end_of(slot: str) -> Position:
    """Return the position after all of a slot."""
    return Position(slot, EARLIEST, f"{slot}.")


def _begun_last(slots: list[str]) -> list[str]:
    """Return the slots, newest first, up to the last one that has begun: there is little in those that are to come."""
    present = slot_at(now_ms())
    coming = list(takewhile(lambda slot: slot > present, slots))
    return slots[: len(coming) + 1]
