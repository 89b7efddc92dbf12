"""The poller's minute."""

import logging
from dataclasses import asdict, dataclass

from whenthen.clock import Deadline, now_ms
from whenthen.engine import watching
from whenthen.engine.arrivals import Arrival
from whenthen.engine.checks import Checks
from whenthen.engine.closer import close_slots, merge_stats
from whenthen.engine.erasure import erase_owners
from whenthen.engine.failing import turn_off_failing
from whenthen.engine.housekeeping import Housekeeping
from whenthen.engine.intake import Intake
from whenthen.engine.listeners import UnknownKey
from whenthen.engine.retention import expire_payloads
from whenthen.engine.sizes import is_rare, measure
from whenthen.engine.sweep import settle_slots, sweep
from whenthen.errors import TooLarge, WhenthenError
from whenthen.queues import Queue
from whenthen.store.closing import drop_copies
from whenthen.store.erasing import finish_erasing
from whenthen.store.errors import InvalidText, LogFull, ScriptTooLong, StoreError
from whenthen.store.history import History
from whenthen.store.inbox import trim
from whenthen.store.slots import SLOT_MINUTES, open_slot, slot_at
from whenthen.store.test_calls import delete_over

logger = logging.getLogger(__name__)

_SECONDS_FOR_ONE_ARRIVAL = 10.0


@dataclass(frozen=True, slots=True)
class TickReport:
    """What a tick has done and seen: numbers alone, None where it does not know. `engine.watching` has their metrics.

    `slots_stuck` are open two hours after their end. `wal_bytes`, `sst_bytes` and `sst_files` are those of the
    fullest server's data directory, as the hosts said at most `report_age_seconds` ago.
    """

    overdue: int
    drained: int
    checks: int
    slots_open: int | None = None
    slots_stuck: int | None = None
    seen_events: int | None = None
    dead_rows: int | None = None
    wal_bytes: int | None = None
    sst_bytes: int | None = None
    sst_files: int | None = None
    report_age_seconds: float | None = None


def tick(
    history: History,
    intake: Intake,
    wakeups: Queue,
    arrivals: Queue,
    checks: Checks,
    housekeeping: Housekeeping,
    *,
    now: int,
    deadline: Deadline,
) -> TickReport:
    """Open the next slot, check what is due, sweep, turn off what fails, close old slots, drain the intake queue.

    Before all that, look after the hosts. Ticks may repeat, overlap and come late.

    Parameters
    ----------
    history:
        The database, and where its old executions go.
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
    database = history.hot
    present = now_ms()
    past = min(now, present)
    overdue = drained = checked = 0
    sizes: dict[str, int] = {}
    failures: list[WhenthenError] = []

    def keeping() -> None:
        housekeeping.run(deadline)

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

    def closing() -> None:
        close_slots(history, past, Deadline(deadline.left() / 2))

    def merging() -> None:
        if is_rare(past):
            merge_stats(history.log, past, Deadline(deadline.left() / 2))

    def erasing() -> None:
        # First what an erasing that broke off hides from everybody.
        finish_erasing(history)
        if is_rare(past):
            expire_payloads(history, past)
            delete_over(database, past)
            erase_owners(history)
            if history.is_apart:
                drop_copies(history.log)

    def measuring() -> None:
        nonlocal sizes
        sizes = asdict(measure(database, past))

    def draining() -> None:
        nonlocal drained
        drained = drain(intake, arrivals, deadline)

    def settling() -> None:
        settle_slots(database, past)

    def reviewing() -> None:
        turn_off_failing(history, Deadline(deadline.left() / 2))

    def trimming() -> None:
        trim(database)

    # One that fails does not keep the others from their turn. Keeping is first: what the hosts say matters most when
    # nothing else works. Draining is last: it may take all that is left.
    stages = (
        keeping, opening, checking, sweeping, settling, reviewing, closing, merging, trimming, erasing, measuring,
        draining,
    )  # fmt: skip
    for stage in stages:
        try:
            stage()
        except WhenthenError as error:
            logger.error("a part of the tick failed: %s", error)
            failures.append(error)
    if any(isinstance(error, LogFull) for error in failures):
        housekeeping.free_logs(deadline)
    report = TickReport(overdue, drained, checked, **asdict(housekeeping.gauges), **sizes)
    # Also of a tick that fails: the numbers say why.
    watching.tick_done(report)
    if failures:
        raise failures[0]
    return report


def drain(intake: Intake, arrivals: Queue, deadline: Deadline) -> int:
    """Reserve the arrivals that wait in the intake queue and return how many have left it.

    A message is deleted only after its event is stored, or when it can never be. Any other stays in the queue: it
    comes again, or ends in the dead-letter queue, and does not hold up the others.

    Raises
    ------
    Unavailable
        The queue can't be reached.
    LogFull
        The database takes no arrival before its next export.
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
    about: dict[str, str] = {}
    try:
        arrival = Arrival.from_json(body)
        about = watching.arrival(arrival)
        intake.accept(arrival, Deadline(_SECONDS_FOR_ONE_ARRIVAL))
    except UnknownKey:
        logger.warning("dropped an arrival with an invalid key", extra=about)
    except (TooLarge, ScriptTooLong, InvalidText) as error:
        logger.error("dropped an arrival that can't be stored: %s", error, extra=about)
    except ValueError as error:
        logger.error("left an unreadable arrival in the queue: %s", error, extra=about)
        return False
    except LogFull:
        # The others find it full, too; the tick has to know.
        raise
    except StoreError as error:
        logger.warning("left an arrival in the queue: %s", error, extra=about)
        return False
    return True
