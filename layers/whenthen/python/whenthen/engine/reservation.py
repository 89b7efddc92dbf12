"""What a check has found becomes events and executions, in bounded scripts (DESIGN.md 2, step 2)."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from whenthen.clock import Deadline, now_ms
from whenthen.engine.found import NewEvent
from whenthen.engine.identity import execution_id
from whenthen.engine.wakeups import WAKE_GRACE_MS
from whenthen.store.checks import keep
from whenthen.store.database import Database
from whenthen.store.errors import Conflict, Duplicate, GuardFailed, MissingTable
from whenthen.store.events import EventRow, read_events, reserve_events
from whenthen.store.reservations import COPIED_INGREDIENTS, NewExecution, reserve_executions
from whenthen.store.slots import open_slot, slot_at
from whenthen.store.statements import MAX_SELECTS, Script
from whenthen.store.triggers import TriggerRow, find_trigger, guard
from whenthen.store.units import run_unit

_EXECUTIONS_IN_SCRIPT = 120
_BYTES_IN_SCRIPT = 384 * 1024
"""Of ingredients as they are sent, all copies counted; a position of 10,000 events has room beside them."""


class Known(Exception):
    """An event of the script is stored already."""


class ClaimLost(Exception):
    """Another check has taken over, or nobody listens any more: what was found is not ours to store."""


class Reservation:
    """Stores what one claimed check has found.

    Parameters
    ----------
    database:
        Where to.
    trigger:
        As it was when the check was claimed: an applet that began to listen since then gets nothing of it.
    claim:
        The check's.
    deadline:
        When to stop trying.

    Attributes
    ----------
    stored:
        How many events were stored.
    """

    def __init__(self, database: Database, trigger: TriggerRow, claim: str, deadline: Deadline) -> None:
        self._database = database
        self._trigger = trigger
        self._present: TriggerRow | None = trigger
        self.stored = 0
        self._claim = claim
        self._deadline = deadline

    def store(self, events: Sequence[NewEvent], finish: Callable[[Script], None]) -> Iterator[tuple[str, ...]]:
        """Store new events; yield the ids of the executions of each script after it is stored.

        Parameters
        ----------
        events:
            Oldest first.
        finish:
            Adds the end of the check to the last script: position, next check, the claim's end.

        Raises
        ------
        Known
            An event was there already. The scripts before hold; nothing of this one.
        ClaimLost
            See there. The scripts before hold.
        StoreError
            See `store.errors`.
        """
        chunks = list(self._chunks(events)) or [()]
        for index, chunk in enumerate(chunks):
            last = index == len(chunks) - 1
            execution_ids = run_unit(
                lambda chunk=chunk, last=last: self._store(chunk, finish if last else self._go_on),  # type: ignore[misc]
                deadline=self._deadline,
                repeatable=True,
            )
            self.stored += len(chunk)
            yield execution_ids

    def known(self, event_ids: Sequence[str]) -> set[str]:
        """Return those of `event_ids` that are stored."""
        found: set[str] = set()
        for start in range(0, len(event_ids), MAX_SELECTS):
            chunk = event_ids[start : start + MAX_SELECTS]
            found |= read_events(self._database, chunk, timeout_seconds=self._deadline.left()).keys()
        return found

    def _go_on(self, script: Script) -> None:
        keep(script, self._trigger.trigger_id, claim=self._claim)

    def _chunks(self, events: Sequence[NewEvent]) -> Iterator[tuple[NewEvent, ...]]:
        chunk: list[NewEvent] = []
        size = 0
        listeners = max(len(self._trigger.listeners), 1)
        for event in events:
            copies = listeners if len(event.ingredients) <= COPIED_INGREDIENTS else 0
            length = len(json.dumps(event.ingredients)) * (1 + copies)
            if chunk and ((len(chunk) + 1) * listeners > _EXECUTIONS_IN_SCRIPT or size + length > _BYTES_IN_SCRIPT):
                yield tuple(chunk)
                chunk, size = [], 0
            chunk.append(event)
            size += length
        if chunk:
            yield tuple(chunk)

    def _store(self, events: Sequence[NewEvent], end: Callable[[Script], None]) -> tuple[str, ...]:
        now = now_ms()
        slot = slot_at(now)
        script = Script()
        executions: list[NewExecution] = []
        if events:
            trigger = self._listening()
            rows = []
            for event in events:
                new = [
                    NewExecution(
                        execution_id(slot, event.event_id, applet),
                        applet,
                        event.occurred_at,
                        event.ingredients,
                        event.note,
                    )
                    for applet in trigger.listeners
                ]
                executions += new
                ids = tuple(row.execution_id for row in new)
                rows.append(
                    EventRow(event.event_id, trigger.trigger_id, event.occurred_at, now, ids, event.ingredients)
                )
            reserve_events(script, rows)
            if executions:
                reserve_executions(script, executions, owner_id=trigger.owner_id, now=now, wake_at=now + WAKE_GRACE_MS)
        end(script)
        if events:
            guard(script, trigger)
        try:
            self._database.execute(script.sql, timeout_seconds=self._deadline.left())
        except Duplicate as error:
            if error.columns != ("event_id",):
                raise
            raise Known from error
        except GuardFailed as error:
            if error.column == "claim":
                raise ClaimLost from error
            self._present = None
            raise
        except MissingTable:
            open_slot(self._database, slot, now, timeout_seconds=self._deadline.left())
            raise Conflict from None
        return tuple(row.execution_id for row in executions)

    def _listening(self) -> TriggerRow:
        """Return the trigger as it is, with those who listened when the check was claimed and still do."""
        if self._present is None:
            found = find_trigger(self._database, self._trigger.trigger_id, timeout_seconds=self._deadline.left())
            now = found or self._trigger
            listeners = tuple(applet for applet in self._trigger.listeners if applet in now.listeners)
            self._present = replace(now, listeners=listeners)
        return self._present
