"""Activity: what ran, was skipped or failed, newest first, wherever it stands by now.

A page is put together from the open slots, from those that have outlived their slot, and from the log. An execution
only moves from one to the next in this order, so they are read in this order, and none is missed in between. Its place
in the stream never changes: slot, time and id.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from whenthen.clock import Deadline, now_ms
from whenthen.engine.cursors import LATEST, decode_cursor, encode_cursor
from whenthen.errors import FieldError
from whenthen.store.errors import MissingTable
from whenthen.store.executions import WAITING, ExecutionRow, list_activity, list_moved
from whenthen.store.history import History
from whenthen.store.log import PAGE, Filters, LogRow, list_log, list_months, list_reruns
from whenthen.store.slots import CLOSE_AFTER_MS, SLOT_NAME_LENGTH, last_slot, list_slots, slot_at, slot_before, slot_end

MAX_PAGE = 200
"""The most executions in one page: what the store reads of a place at once."""

SECONDS = 1.5
"""How long slots and log are read for one page. Every scan holds up everybody (ALOPEX.md 2)."""

_FIRST_WINDOW_MS = 6 * 3_600_000
_SHORT_SECONDS = 0.2


class Position(NamedTuple):
    """A place in the stream: slot, time in epoch milliseconds, id of an execution."""

    slot: str
    at: int
    execution_id: str


EARLIEST = -LATEST
"""Before every time that something has: with it a position is after all of its slot."""

NEWEST = Position("999912312330", LATEST, "")
"""Before everything."""


@dataclass(frozen=True, slots=True)
class Item:
    """An execution in the stream. Fields as in `store.log.LogRow`; `finished_at` is None while it is under way."""

    execution_id: str
    applet_id: str
    state: str
    reason: str
    note: str
    occurred_at: int
    finished_at: int | None
    attempts: int
    service: str
    trigger_service: str
    run: int

    @property
    def position(self) -> Position:
        """Its place in the stream."""
        return Position(self.execution_id[:SLOT_NAME_LENGTH], self.occurred_at, self.execution_id)

    def matches(self, filters: Filters) -> bool:
        """Return whether it is to be shown."""
        text = filters.text.lower()
        return (
            filters.applet_id in ("", self.applet_id)
            and filters.state in ("", self.state)
            and filters.service in ("", self.service, self.trigger_service)
            and (not text or text in self.reason.lower() or text in self.note.lower())
        )


@dataclass(frozen=True, slots=True)
class Page:
    """A page of executions, and the cursor of the next one or None."""

    items: list[Item]
    next: str | None


def of_row(row: ExecutionRow) -> Item:
    """Return an execution that is not in the log as an item of the stream."""
    progress = row.progress
    return Item(
        execution_id=row.execution_id,
        applet_id=row.applet_id,
        state=row.state,
        reason=progress.reason,
        note=progress.note,
        occurred_at=row.occurred_at,
        finished_at=progress.finished_at,
        attempts=len(progress.attempts),
        service=progress.service,
        trigger_service=progress.trigger_service,
        run=progress.run,
    )


def of_log(row: LogRow) -> Item:
    """Return an execution of the log as an item of the stream."""
    return Item(
        execution_id=row.execution_id,
        applet_id=row.applet_id,
        state=row.state,
        reason=row.reason,
        note=row.note,
        occurred_at=row.occurred_at,
        finished_at=row.finished_at or None,
        attempts=row.attempts,
        service=row.service,
        trigger_service=row.trigger_service,
        run=row.run,
    )


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
    stream.read_open_slots(deadline)
    stream.read_moved()
    stream.read_log(deadline)
    return stream.page()


class _Stream:
    """What has been read for a page, by id, and how far back that is complete: to `horizon`, None for all the way."""

    def __init__(self, history: History, owner_id: str, filters: Filters, limit: int, before: Position) -> None:
        self._history = history
        self._owner = owner_id
        self._filters = filters
        self._limit = limit
        self._before = before
        # A cursor at the very beginning of a slot has nothing of it left.
        self._newest_slot = before.slot if before.at > EARLIEST else slot_before(before.slot)
        self._found: dict[str, tuple[int, int, Item]] = {}
        self._horizon: Position | None = None

    def _take(self, items: Iterable[Item], rank: int) -> None:
        """Keep the latest of each execution: that of the higher rank, and of equals that of the later run."""
        for item in items:
            seen = self._found.get(item.execution_id)
            if seen is None or seen[:2] < (rank, item.run):
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

    def read_open_slots(self, deadline: Deadline) -> None:
        """Read slots, newest first, until there is enough or the time is up."""
        slots = [
            row.slot for row in list_slots(self._history.hot) if not row.is_batch and row.slot <= self._newest_slot
        ]
        for slot in slots:
            place = self._before if slot == self._before.slot else NEWEST
            try:
                rows = list_activity(
                    self._history.hot,
                    slot,
                    self._owner,
                    applet_id=self._filters.applet_id,
                    state=self._filters.state,
                    before=(place.at, place.execution_id),
                )
            except MissingTable:
                # Closed since the list was read.
                continue
            self._take(map(of_row, rows), 1)
            if len(rows) == MAX_PAGE or len(self._shown()) >= self._limit:
                self._end_at(of_row(rows[-1]).position)
                return
            if deadline.left() == 0:
                self._end_at(Position(slot, EARLIEST, f"{slot}."))
                return

    def read_moved(self) -> None:
        """Read those that have outlived their slot. All states: each stands for its rows in the log."""
        # Batches are listed after the waiting ones are read, since that is where they come from.
        self._read_place(WAITING)
        for row in list_slots(self._history.hot):
            if row.is_batch:
                self._read_place(row.slot)

    def _read_place(self, place: str) -> None:
        try:
            rows = list_moved(
                self._history.hot, place, self._owner, applet_id=self._filters.applet_id, before=self._before
            )
        except MissingTable:
            return
        self._take(map(of_row, rows), 2)
        if len(rows) == MAX_PAGE:
            self._end_at(of_row(rows[-1]).position)

    def read_log(self, deadline: Deadline) -> None:
        """Walk back in the log until there is enough, the time is up or nothing is left."""
        if self._horizon is not None and slot_end(self._horizon.slot) + CLOSE_AFTER_MS > now_ms():
            # No slot that is as new can be in the log.
            return
        lowest = self._horizon.slot if self._horizon else ""
        length = _FIRST_WINDOW_MS
        for month in list_months(self._history.log):
            last = min(self._newest_slot, last_slot(month))
            while last[:6] == month and last >= lowest:
                # The first window takes in what a clock that was wrong has put into the future.
                first = max(slot_at(min(slot_end(last), now_ms()) - length), f"{month}010000", lowest)
                begun = time.monotonic()
                if self._read_window(month, (first, last)):
                    return
                if len(self._shown()) >= self._limit or deadline.left() == 0:
                    self._end_at(Position(first, EARLIEST, f"{first}."))
                    return
                if time.monotonic() - begun < _SHORT_SECONDS:
                    length *= 4
                last = slot_before(first)

    def _read_window(self, month: str, slots: tuple[str, str]) -> bool:
        """Read what a month has of these slots, and return whether there is more than is read at once."""
        log, owner, filters = self._history.log, self._owner, self._filters
        reruns: dict[str, int] = {}
        if filters.state or filters.service or filters.text:
            # An earlier run may fit the filters when the last one, which counts, does not.
            reruns = list_reruns(log, month, owner, slots)
        rows = list_log(log, month, owner, filters, slots=slots, before=self._before)
        self._take((of_log(row) for row in rows if row.run >= reruns.get(row.execution_id, 0)), 0)
        if len(rows) == PAGE:
            self._end_at(of_log(rows[-1]).position)
        return len(rows) == PAGE

    def page(self) -> Page:
        """Return the page."""
        items = self._shown()
        if len(items) > self._limit:
            last = items[self._limit - 1].position
        elif self._horizon is not None:
            last = self._horizon
        else:
            return Page(items, None)
        return Page(items[: self._limit], encode_cursor(last.at, last.execution_id))
