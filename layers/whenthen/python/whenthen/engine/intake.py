"""Intake: an arrival becomes an event and its executions in one transaction, once (DESIGN.md 2, steps 1 to 3)."""

import json
import logging
from dataclasses import dataclass

from whenthen.clock import Deadline, now_ms
from whenthen.engine import watching
from whenthen.engine.arrivals import MAX_INGREDIENTS_BYTES, Arrival
from whenthen.engine.arrived import note_arrival
from whenthen.engine.identity import event_id, execution_id
from whenthen.engine.listeners import Listeners
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.errors import TooLarge
from whenthen.metrics import Metric, count
from whenthen.queues import Queue
from whenthen.store.database import Database
from whenthen.store.errors import Conflict, Duplicate, GuardFailed, MissingTable, OutcomeUnknown
from whenthen.store.events import EventRow, find_event, reserve_event
from whenthen.store.reservations import reserve_execution
from whenthen.store.slots import open_slot, slot_at
from whenthen.store.statements import Script
from whenthen.store.triggers import TriggerRow, guard
from whenthen.store.units import run_unit

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reservation:
    """What became of an arrival.

    `event_id` is None when no applet listens: then nothing is stored, unless somebody waits for a test call.
    `duplicate` says that the event had arrived before, and `execution_ids` are those of its first arrival.
    """

    event_id: str | None
    execution_ids: tuple[str, ...]
    duplicate: bool


class Intake:
    """Reserves arrivals.

    Parameters
    ----------
    database:
        Where events are reserved.
    wakeups:
        The queue that wakes the worker.
    """

    def __init__(self, database: Database, wakeups: Queue) -> None:
        self._database = database
        self._wakeups = wakeups
        self._listeners = Listeners(database)

    def accept(self, arrival: Arrival, deadline: Deadline) -> Reservation:
        """Reserve the arrival's event and executions, or find that they are reserved already, and wake the worker.

        The unit is idempotent by the event's id, so it runs again also after an unknown outcome.

        Raises
        ------
        UnknownKey
            The key opens nothing.
        TooLarge
            The ingredients don't fit a script.
        InvalidText
            An ingredient can't be stored.
        StoreError
            The database did not take it in time; the arrival may or may not be stored.
        """
        ingredients = json.dumps(arrival.ingredients, ensure_ascii=False, separators=(",", ":"))
        if len(ingredients.encode("utf-8", "surrogatepass")) > MAX_INGREDIENTS_BYTES:
            raise TooLarge("the values are too large once they are written as JSON")
        uncertain = False

        def unit() -> Reservation:
            nonlocal uncertain
            try:
                return self._reserve(arrival, ingredients, deadline)
            except OutcomeUnknown:
                uncertain = True
                raise

        reservation = run_unit(unit, deadline=deadline, repeatable=True)
        # After an unknown outcome a duplicate may be our own first try, which has woken nobody.
        if not reservation.duplicate or uncertain:
            send_wakeups(self._wakeups, reservation.execution_ids)
        self._tell(arrival, reservation, is_new=not reservation.duplicate or uncertain)
        return reservation

    @staticmethod
    def _tell(arrival: Arrival, reservation: Reservation, *, is_new: bool) -> None:
        if reservation.event_id is None:
            logger.info("no applet listens to an event", extra=watching.arrival(arrival))
            return
        count(Metric.ACCEPTED if is_new else Metric.DUPLICATE)
        logger.info(
            "an event was accepted" if is_new else "an event had arrived before",
            extra=watching.event(reservation.event_id)
            | watching.arrival(arrival)
            | {"execution_ids": reservation.execution_ids},
        )

    def _reserve(self, arrival: Arrival, ingredients: str, deadline: Deadline) -> Reservation:
        listening = self._listeners.find(arrival, deadline)
        if listening.trigger is None or not listening.trigger.listeners:
            note_arrival(self._database, listening.trigger_id, arrival, deadline)
            return Reservation(None, (), duplicate=False)
        now = now_ms()
        slot = slot_at(now)
        event = event_id(listening.trigger.trigger_id, delivery_id(arrival, listening.delivery_id_header))
        executions = {applet: execution_id(slot, event, applet) for applet in listening.trigger.listeners}
        row = EventRow(
            event,
            listening.trigger.trigger_id,
            arrival.occurred_at,
            now,
            tuple(executions.values()),
            ingredients,
        )
        script = self._script(row, listening.trigger, executions, now)
        try:
            self._database.execute(script.sql, timeout_seconds=deadline.left())
        except Duplicate as error:
            if error.columns != ("event_id",):
                raise
            return self._first_arrival(event, deadline)
        except GuardFailed:
            self._listeners.forget(arrival)
            raise
        except MissingTable:
            open_slot(self._database, slot, now, timeout_seconds=deadline.left())
            raise Conflict from None
        return Reservation(event, row.execution_ids, duplicate=False)

    @staticmethod
    def _script(row: EventRow, trigger: TriggerRow, executions: dict[str, str], now: int) -> Script:
        script = Script()
        reserve_event(script, row)
        for applet, execution in executions.items():
            reserve_execution(
                script,
                execution_id=execution,
                applet_id=applet,
                owner_id=trigger.owner_id,
                occurred_at=row.occurred_at,
                now=now,
                wake_at=now + WAKE_GRACE_MS,
                ingredients=row.ingredients,
            )
        guard(script, trigger)
        return script

    def _first_arrival(self, event: str, deadline: Deadline) -> Reservation:
        first = find_event(self._database, event, timeout_seconds=deadline.left())
        if first is None:
            # The key was refused and the row is not there: only a lost write does that (ALOPEX.md 2).
            count(Metric.LOST_WRITES)
            logger.error("an event was refused as a duplicate but is not stored", extra=watching.event(event))
            raise Conflict
        return Reservation(event, first.execution_ids, duplicate=True)


def delivery_id(arrival: Arrival, header: str) -> str:
    """Return what makes the arrival unique: the header that the key's owner has named, or `arrival.unique`."""
    named = arrival.headers.get(header, "").strip() if header else ""
    return f"{header}:{named}" if named else arrival.unique
