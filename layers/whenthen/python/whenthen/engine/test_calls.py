"""Test calls: while an applet is being made, what arrives for its trigger is shown, though nobody listens yet.

An arrival that nobody listens to is stored nowhere, unless somebody waits for it here; the sender's answer is the same.
Of a trigger that an applet has already the newest event counts. What went to the intake queue, since the database was
down, is shown when it is drained, if somebody still waits then. A process that still remembers listeners finds out by
its guard that they are gone, and then comes here.
"""

import json
from dataclasses import dataclass

from whenthen.engine.arrived import Arrived, shown
from whenthen.engine.drafts import check_trigger
from whenthen.engine.identity import identity_of, parse_execution_id
from whenthen.errors import FieldError, FieldErrors
from whenthen.model.applet import TriggerRef
from whenthen.services.registry import find_trigger
from whenthen.store import test_calls as store
from whenthen.store.database import Database
from whenthen.store.events import find_event
from whenthen.store.slots import slot_at, slot_before
from whenthen.store.triggers import find_trigger as find_trigger_row

WAIT_MS = 10 * 60_000
"""How long it is waited after somebody has asked last, milliseconds."""

_RENEWED_MS = 9 * 60_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """Until when it is waited, epoch milliseconds, and what has come last since somebody has asked first."""

    waits_until: int
    arrived: Arrived | None


def wait(database: Database, owner_id: str, trigger: TriggerRef, now: int) -> Waiting:
    """Wait for a call of a trigger of the owner's, or go on waiting. Made to be asked every few seconds.

    Parameters
    ----------
    trigger:
        With its fields as the owner has written them.
    now:
        Epoch milliseconds.

    Raises
    ------
    FieldErrors
        The trigger can't be used, see `check_trigger`, or finds its events by itself.
    StoreError
        See `store.errors`.
    """
    trigger = check_trigger(database, owner_id, trigger)
    definition = find_trigger(trigger.service, trigger.trigger)
    if definition is None or definition.check is not None:
        raise FieldErrors([FieldError("trigger.trigger", "finds its events by itself: there is no call to wait for")])
    identity = identity_of(owner_id, trigger)
    awaited = store.find_test_call(database, identity)
    # Not written each time: whoever watches asks every few seconds.
    if awaited is None or awaited.waits_until < now + _RENEWED_MS:
        awaited = store.wait_for_call(database, identity, owner_id, now=now, waits_until=now + WAIT_MS)
    arrived = _newest_event(database, awaited, now)
    if awaited.arrived and (arrived is None or arrived.at < awaited.arrived_at):
        arrived = Arrived.read(awaited.arrived_at, awaited.arrived)
    return Waiting(awaited.waits_until, arrived)


def _newest_event(database: Database, awaited: store.AwaitedCall, now: int) -> Arrived | None:
    """Return the newest event of a trigger that an applet has, of this slot and the one before."""
    trigger = find_trigger_row(database, awaited.awaited_trigger_id)
    if trigger is None or not trigger.listeners:
        return None
    slot = slot_at(now)
    for place in (slot, slot_before(slot)):
        if place < slot_at(awaited.asked_at):
            return None
        # Every event of the trigger is an execution of each applet that listens.
        if newest := store.find_newest(database, place, trigger.listeners[0], since=awaited.asked_at):
            text = newest.ingredients or _ingredients_of_event(database, newest.execution_id)
            return shown(newest.occurred_at, json.loads(text))
    return None


def _ingredients_of_event(database: Database, execution_id: str) -> str:
    event = find_event(database, parse_execution_id(execution_id).event_id)
    return event.ingredients if event is not None else "{}"
