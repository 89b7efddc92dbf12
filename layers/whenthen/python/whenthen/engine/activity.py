"""Activity: what ran, was skipped or failed, newest first, and one execution in detail."""

import base64
import json
from dataclasses import dataclass

from whenthen.clock import Deadline, now_ms
from whenthen.engine.attempts import bounded
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.errors import FieldError, NotFound, Stale
from whenthen.queues import Queue
from whenthen.store.database import Database
from whenthen.store.errors import GuardFailed, MissingTable
from whenthen.store.events import find_event
from whenthen.store.executions import ExecutionRow, find_execution, list_activity, requeue
from whenthen.store.progress import Progress
from whenthen.store.slots import SLOT_NAME_LENGTH, list_slots, reopen
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

MAX_PAGE = 200
"""The most executions in one page: what the store reads of a slot at once."""

MAX_SLOTS = 200
"""The most slots that are read for one page: about four days."""

NEWEST = (2**62, "")
"""A cursor before everything."""

_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Page:
    """A page of executions, and the cursor of the next one or None."""

    items: list[ExecutionRow]
    next: str | None


def encode_cursor(at: int, identifier: str) -> str:
    """Return the place after an item, opaque to its reader."""
    return base64.urlsafe_b64encode(json.dumps([at, identifier]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[int, str]:
    """Return what `encode_cursor` was given.

    Raises
    ------
    FieldError
        It is not a cursor of ours.
    """
    try:
        at, identifier = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if type(at) is not int or not 0 <= at <= NEWEST[0] or not isinstance(identifier, str):
            raise ValueError
    except (ValueError, TypeError, RecursionError) as error:
        raise FieldError("before", "is not a cursor from an earlier page") from error
    return at, identifier


def read_activity(
    database: Database,
    owner_id: str,
    *,
    applet_id: str = "",
    state: str = "",
    limit: int = 50,
    before: str | None = None,
) -> Page:
    """Return a page of the owner's executions: newest slot first, and in a slot the newest first.

    An event that waited in the intake queue stands in the slot in which it was stored. At most `MAX_SLOTS` are
    read, each with one bounded scan: every scan holds up everybody (ALOPEX.md 2). So a page may be short, or empty,
    and still have a next one.

    Parameters
    ----------
    applet_id, state:
        Only these; empty for all.
    limit:
        1 to `MAX_PAGE`.
    before:
        The `next` of the page before, or None for the first.

    Raises
    ------
    FieldError
        `before` is not a cursor.
    """
    at, identifier = decode_cursor(before) if before else NEWEST
    from_slot = _slot_of_cursor(identifier) if before else None
    slots = [row.slot for row in list_slots(database) if from_slot is None or row.slot <= from_slot]
    items: list[ExecutionRow] = []
    for slot in slots[:MAX_SLOTS]:
        place = (at, identifier) if slot == from_slot else NEWEST
        items += list_activity(database, slot, owner_id, applet_id=applet_id, state=state, before=place)
        if len(items) >= limit:
            last = items[limit - 1]
            return Page(items[:limit], encode_cursor(last.occurred_at, last.execution_id))
    # The next slot from its beginning.
    unread = encode_cursor(NEWEST[0], f"{slots[MAX_SLOTS]}.") if len(slots) > MAX_SLOTS else None
    return Page(items, unread)


def _slot_of_cursor(identifier: str) -> str:
    slot, dot, _ = identifier.partition(".")
    if not dot or len(slot) != SLOT_NAME_LENGTH or not slot.isascii() or not slot.isdigit():
        raise FieldError("before", "is not a cursor from an earlier page")
    return slot


def get_execution(database: Database, owner_id: str, execution_id: str) -> tuple[ExecutionRow, dict[str, object]]:
    """Return the owner's execution and its event's ingredients.

    Raises
    ------
    NotFound
        There is none, or it is another owner's.
    """
    try:
        row = find_execution(database, execution_id) if parse_execution_id(execution_id) else None
    except (ValueError, MissingTable):
        row = None
    if row is None or row.owner_id != owner_id:
        raise NotFound("There is no such execution.")
    event = find_event(database, parse_execution_id(execution_id).event_id)
    return row, json.loads(event.ingredients) if event else {}


def rerun(database: Database, wakeups: Queue, owner_id: str, execution_id: str) -> None:
    """Run a finished execution again, from its first action, with the same idempotency keys.

    Raises
    ------
    NotFound
        See `get_execution`.
    Stale
        It has not finished.
    """

    def unit() -> None:
        row, _ = get_execution(database, owner_id, execution_id)
        if row.wake_at is not None:
            raise Stale("The execution has not finished.")
        now = now_ms()
        script = Script()
        progress = Progress(attempts=bounded(row.progress.attempts), note=row.progress.note)
        requeue(script, row, progress=progress, now=now, wake_at=now + WAKE_GRACE_MS)
        reopen(script, parse_execution_id(execution_id).slot)
        try:
            database.execute(script.sql)
        except GuardFailed as error:
            raise Stale("The execution has changed meanwhile: look at it again.") from error

    run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)
    send_wakeups(wakeups, [execution_id])
