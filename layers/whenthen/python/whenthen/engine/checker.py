"""One check of a trigger: ask its service, store what is new, say when to check next."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from whenthen.clock import Deadline, now_ms
from whenthen.engine import watching
from whenthen.engine.check_results import Results
from whenthen.engine.found import NewEvent, new_event, storable_note
from whenthen.engine.identity import event_id
from whenthen.engine.intervals import LONGEST_WISH_MS, after_failure, after_success
from whenthen.engine.positions import Position, next_position
from whenthen.engine.reservation import ClaimLost, Known, Reservation
from whenthen.engine.sources import Sources, interval_minutes
from whenthen.engine.wakeups import send_wakeups
from whenthen.metrics import Metric, count, timing
from whenthen.queues import Queue
from whenthen.services.checking import CheckFailed, Found
from whenthen.store.checks import CheckRow, hold_host, record, write_position
from whenthen.store.database import Database
from whenthen.store.errors import Conflict, InvalidText, ScriptTooLong
from whenthen.store.events import remember_events
from whenthen.store.statements import Script
from whenthen.store.triggers import TriggerRow

logger = logging.getLogger(__name__)

MAX_NEW_EVENTS = 50
"""How many new items one check lets fire; the rest is next in line, oldest first (A05, A17)."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A check in our hands: how it stood, its trigger as it was at the claim, and its position as JSON text."""

    row: CheckRow
    trigger: TriggerRow
    position: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """How a check went: `fired` new events, `waiting` ones for the next check; `failure` in words, if it failed."""

    fired: int = 0
    waiting: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where the checks of a trigger begin for whoever listens from now on.

    `seen` are the events that the source shows already, with the times they occurred at (epoch milliseconds): they
    do not fire. The other fields are those of `store.checks.start`.
    """

    seen: Mapping[str, int]
    position: str
    next_check_at: int
    checked_at: int
    failures: int
    result: str


class Checker:
    """Checks triggers.

    Parameters
    ----------
    database:
        Where events are stored.
    wakeups:
        The queue that wakes the worker.
    sources:
        The services to ask.
    """

    def __init__(self, database: Database, wakeups: Queue, sources: Sources) -> None:
        self._database = database
        self._wakeups = wakeups
        self.sources = sources

    def begin(self, trigger: TriggerRow, now: int, deadline: Deadline) -> Beginning:
        """Ask a trigger's service for the first time: what it shows now will not fire (R3). Nothing is stored.

        Raises
        ------
        CheckFailed
            The source can't be read.
        """
        found = self.sources.ask(trigger, None, now, deadline)
        seen = {identity: event.occurred_at for identity, event in _events(trigger, found).items()}
        position = next_position(None, found.position, list(seen))
        return Beginning(
            seen,
            position.to_json(),
            _next_check_at(trigger, found, now),
            now,
            0,
            Results().followed_by(storable_note(found.note), now, 0).to_text(),
        )

    def begin_later(self, trigger: TriggerRow, error: CheckFailed, now: int) -> Beginning:
        """Return where checks begin when the first one has failed: the next one is the first."""
        at = after_failure(now, interval_minutes(trigger), 1, retry_at=error.retry_at)
        return Beginning({}, "", at, now, 1, Results().followed_by(storable_note(str(error)), now, None).to_text())

    @timing(Metric.CHECK_DURATION)
    def check(self, claimed: Claimed, now: int, deadline: Deadline) -> CheckReport:
        """Make a check and store what it found, or why it failed.

        Parameters
        ----------
        now:
            The instant that the check stands for, epoch milliseconds.

        Raises
        ------
        StoreError
            What was found could not be stored; it is found again when the claim has run out.
        """
        old = Position.read(claimed.position)
        reservation = Reservation(self._database, claimed.trigger, claimed.row.claim, deadline)
        try:
            try:
                found = self.sources.ask(claimed.trigger, old.service if old else None, now, deadline)
            except CheckFailed as error:
                self._fail(reservation, claimed, error, now)
                return CheckReport(failure=str(error))
            if old is None:
                events = _events(claimed.trigger, found)
                position = next_position(None, found.position, list(events))
                self._finish(reservation, claimed, [], position, found, now, seen=events)
                return CheckReport()
            return self._fire(reservation, claimed, old, found, now)
        except (ScriptTooLong, InvalidText) as error:
            # Found again and again, it would be refused again and again: the owner has to know.
            failure = CheckFailed(f"What was found can't be stored: {error}")
            self._fail(reservation, claimed, failure, now)
            return CheckReport(fired=reservation.stored, failure=str(failure))
        except ClaimLost:
            logger.info("the check of %s was taken over, or nobody listens any more", claimed.trigger.trigger_id)
            return CheckReport(failure="The check was taken over by another, or nobody listens any more.")

    def _fire(self, reservation: Reservation, claimed: Claimed, old: Position, found: Found, now: int) -> CheckReport:
        """Store the new events among `found`."""
        events = _events(claimed.trigger, found)
        unseen = old.unseen(events)
        while True:
            firing, waiting = unseen[:MAX_NEW_EVENTS], unseen[MAX_NEW_EVENTS:]
            # What waits has to be found again, so the service goes on from where it was.
            position = next_position(old, old.service if waiting else found.position, list(events), waiting)
            try:
                self._finish(
                    reservation,
                    claimed,
                    [events[identity] for identity in firing],
                    None if position == old else position,
                    found,
                    now,
                    again_at=now if waiting else None,
                )
            except Known:
                known = reservation.known(unseen)
                if not known:
                    count(Metric.LOST_WRITES)
                    # Refused as known and not there: only a lost write does that (ALOPEX.md 2).
                    raise Conflict from None
                unseen = [identity for identity in unseen if identity not in known]
                continue
            return CheckReport(fired=reservation.stored, waiting=len(waiting))

    def _finish(
        self,
        reservation: Reservation,
        claimed: Claimed,
        events: Sequence[NewEvent],
        position: Position | None,
        found: Found,
        now: int,
        *,
        again_at: int | None = None,
        seen: Mapping[str, NewEvent] = MappingProxyType({}),
    ) -> None:
        def finish(script: Script) -> None:
            remember_events(
                script, claimed.trigger.trigger_id, {i: event.occurred_at for i, event in seen.items()}, now_ms()
            )
            if position is not None:
                write_position(script, claimed.row.check_id, position.to_json())
            record(
                script,
                claimed.row.check_id,
                claim=claimed.row.claim,
                now=now,
                next_check_at=_next_check_at(claimed.trigger, found, now) if again_at is None else again_at,
                failures=0,
                result=_result(claimed.row, found.note, now, len(events)),
            )

        for execution_ids in reservation.store(events, finish):
            send_wakeups(self._wakeups, execution_ids)
            watching.events_found(claimed.trigger.trigger_id, execution_ids)

    def _fail(self, reservation: Reservation, claimed: Claimed, error: CheckFailed, now: int) -> None:
        row = claimed.row
        count(Metric.CHECK_FAILED)
        logger.info("the check of %s failed: %s", row.check_id, error)
        result = _result(row, str(error), now, None)
        failures = row.failures + 1
        at = after_failure(now, interval_minutes(claimed.trigger), failures, retry_at=error.retry_at)

        def finish(script: Script) -> None:
            if error.retry_at is not None and error.host:
                hold_host(script, error.host, min(error.retry_at, now + LONGEST_WISH_MS))
            record(script, row.check_id, claim=row.claim, now=now, next_check_at=at, failures=failures, result=result)

        for _ in reservation.store([], finish):
            pass


def _events(trigger: TriggerRow, found: Found) -> dict[str, NewEvent]:
    events: dict[str, NewEvent] = {}
    for item in found.items:
        identity = event_id(trigger.trigger_id, item.unique)
        events.setdefault(identity, new_event(identity, item))
    return events


def _result(row: CheckRow, words: str, now: int, found: int | None) -> str:
    return Results.read(row.result).followed_by(storable_note(words), now, found).to_text()


def _next_check_at(trigger: TriggerRow, found: Found, now: int) -> int:
    return after_success(now, interval_minutes(trigger), wanted=found.next_check_at, not_before=found.not_before)
