"""The poller's minute."""

import logging
from dataclasses import dataclass

from whenthen.clock import Deadline, now_ms
from whenthen.engine.arrivals import Arrival
from whenthen.engine.checks import Checks
from whenthen.engine.intake import Intake
from whenthen.engine.listeners import UnknownKey
from whenthen.engine.sweep import settle_slots, sweep
from whenthen.errors import TooLarge, WhenthenError
from whenthen.queues import Queue
from whenthen.store.database import Database
from whenthen.store.errors import InvalidText, ScriptTooLong, StoreError
from whenthen.store.inbox import trim
from whenthen.store.slots import SLOT_MINUTES, open_slot, slot_at

logger = logging.getLogger(__name__)

_SECONDS_FOR_ONE_ARRIVAL = 10.0


@dataclass(frozen=True, slots=True)
class TickReport:
    """What a tick has done: counts."""

    overdue: int
    drained: int
    checks: int


def tick(
    database: Database,
    intake: Intake,
    wakeups: Queue,
    arrivals: Queue,
    checks: Checks,
    *,
    now: int,
    deadline: Deadline,
) -> TickReport:
    """Open the next slot, check what is due, sweep, settle old slots, take in what waits in the intake queue.

    Ticks may repeat, overlap and come late.

    Parameters
    ----------
    now:
        The instant the tick stands for, epoch milliseconds.
    deadline:
        When to stop draining the queue; the rest waits for the next tick.

    Raises
    ------
    StoreError
        The database can't do it now; the next tick does.
    Unavailable
        The intake queue can't be reached.
    """
    # Slots, leases and waits of executions are told by this machine's clock, as intake and the worker tell them: a
    # tick that is replayed for a later instant must not end the leases of living workers.
    present = now_ms()
    past = min(now, present)
    overdue = drained = checked = 0
    failures: list[WhenthenError] = []

    def opening() -> None:
        for instant in (present, present + SLOT_MINUTES * 60_000):
            open_slot(database, slot_at(instant), present)

    def checking() -> None:
        nonlocal checked
        # Checks keep the tick's own time: a replayed instant finds what was due by then. They leave half of it to
        # the other stages: webhooks wait in the intake queue when the database is slow.
        checked = checks.tick(now, Deadline(deadline.left() / 2))

    def sweeping() -> None:
        nonlocal overdue
        overdue = sweep(database, wakeups, past)

    def draining() -> None:
        nonlocal drained
        drained = drain(intake, arrivals, deadline)

    # One that fails does not keep the others from their turn. Draining is last: it may take all that is left.
    for stage in (opening, checking, sweeping, lambda: settle_slots(database, past), lambda: trim(database), draining):
        try:
            stage()
        except WhenthenError as error:
            logger.error("a part of the tick failed: %s", error)
            failures.append(error)
    if failures:
        raise failures[0]
    return TickReport(overdue, drained, checked)


def drain(intake: Intake, arrivals: Queue, deadline: Deadline) -> int:
    """Reserve the arrivals that wait in the intake queue and return how many have left it.

    A message is deleted only after its event is stored, or when it can never be. Any other stays in the queue: it
    comes again, or ends in the dead-letter queue, and does not hold up the others.

    Raises
    ------
    Unavailable
        The queue can't be reached.
    """
    drained = 0
    while deadline.left() > _SECONDS_FOR_ONE_ARRIVAL:
        batch = arrivals.receive(wait_seconds=0)
        if not batch:
            break
        for received in batch:
            if deadline.left() <= _SECONDS_FOR_ONE_ARRIVAL:
                break
            if _take_in(intake, received.body):
                arrivals.delete(received)
                drained += 1
    return drained


def _take_in(intake: Intake, body: str) -> bool:
    """Reserve one arrival; return whether its message is done with."""
    try:
        intake.accept(Arrival.from_json(body), Deadline(_SECONDS_FOR_ONE_ARRIVAL))
    except UnknownKey:
        logger.warning("dropped an arrival with an invalid key")
    except (TooLarge, ScriptTooLong, InvalidText) as error:
        logger.error("dropped an arrival that can't be stored: %s", error)
    except ValueError as error:
        logger.error("left an unreadable arrival in the queue: %s", error)
        return False
    except StoreError as error:
        logger.warning("left an arrival in the queue: %s", error)
        return False
    return True
