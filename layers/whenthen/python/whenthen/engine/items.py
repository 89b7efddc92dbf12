"""Executions as items of the activity, and their places in its stream, which never change."""

from dataclasses import dataclass
from typing import NamedTuple

from whenthen.engine.cursors import LATEST
from whenthen.store.executions import ExecutionRow
from whenthen.store.log import Filters, LogRow
from whenthen.store.slots import SLOT_NAME_LENGTH


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
            filters.first_slot <= self.position.slot <= (filters.last_slot or NEWEST.slot)
            and filters.applet_id in ("", self.applet_id)
            and filters.state in ("", self.state)
            and filters.service in ("", self.service, self.trigger_service)
            and (not text or text in self.reason.lower() or text in self.note.lower())
        )


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
