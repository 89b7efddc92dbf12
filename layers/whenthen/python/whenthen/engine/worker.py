"""The worker: claims executions, does their actions, records what happened (DESIGN.md 2, steps 4 to 6).

What crosses a crash: a claim is a lease, so an execution whose worker died before anything was sent runs again.
Before a request that can't be repeated leaves, the row says so (`sending`), so after a crash it is `unknown`.
"""

import logging
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import uuid_utils

from whenthen.clock import Deadline, now_ms
from whenthen.engine import claims, watching
from whenthen.engine.asking import ask_queries
from whenthen.engine.claims import Claimed
from whenthen.engine.digests import begin_digest
from whenthen.engine.gates import cooled_down, filtered
from whenthen.engine.identity import parse_execution_id
from whenthen.engine.judging import judge, message_of, set_delay, wait_for_host
from whenthen.engine.performing import UNFORESEEN, Performer, Ready, refused
from whenthen.engine.runs import Run, begin, ended_early
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.engine.wire import Sent
from whenthen.engine.zones import OwnerZones
from whenthen.errors import FieldError
from whenthen.queues import Queue
from whenthen.queues.base import MAX_DELAY_SECONDS
from whenthen.services.work import Send, Steps, Work
from whenthen.store.database import Database
from whenthen.store.errors import MissingTable, StoreError
from whenthen.store.executions import Outcome, State
from whenthen.store.inbox import Message

logger = logging.getLogger(__name__)

BATCH = 10
"""How many executions a worker claims at once, and how many requests it has on the wire."""

RESERVE_SECONDS = 5.0
"""Time kept back for recording outcomes: no request may take longer than the deadline less this."""

_SHORTEST_SECONDS = 1.0
_TOGETHER_SECONDS = 0.005


class Worker:
    """Does executions.

    Parameters
    ----------
    database, wakeups, performer:
        What it works with.
    action_timeout_seconds:
        The longest that one action may take.
    """

    def __init__(
        self, database: Database, wakeups: Queue, performer: Performer, *, action_timeout_seconds: float
    ) -> None:
        self._database = database
        self._wakeups = wakeups
        self._performer = performer
        self._action_timeout = action_timeout_seconds
        self._zones = OwnerZones(database)
        self._pool = ThreadPoolExecutor(BATCH, thread_name_prefix="action")

    def close(self) -> None:
        """Wait for requests on the wire and let the threads go."""
        self._pool.shutdown()

    def run(self, execution_ids: Sequence[str], deadline: Deadline) -> set[str]:
        """Claim and do the executions, and return the ids of those whose wake-up must come again.

        An id that is not there, not due or claimed by another is dropped: the database is the truth.

        Parameters
        ----------
        execution_ids:
            Up to `BATCH` ids; a repeated one counts once.
        deadline:
            When the process may be stopped.
        """
        wanted = list(dict.fromkeys(execution_ids))
        # A request that is cut short may have an unknown outcome: rather in another run, with all its time.
        seconds = deadline.left() - RESERVE_SECONDS - _SHORTEST_SECONDS
        enough = max(min(self._action_timeout, seconds), _SHORTEST_SECONDS)
        try:
            claimed = claims.claim(self._database, wanted, str(uuid_utils.uuid7()), deadline)
        except MissingTable as error:
            if len(wanted) == 1:
                logger.warning("dropped a wake-up: %s", error, extra=watching.execution(wanted[0]))
                return set()
            # One bad id refuses the whole script: take them one by one.
            return set().union(*(self.run([execution], deadline) for execution in wanted))
        except StoreError as error:
            logger.warning("could not claim %d executions: %s", len(wanted), error, extra=watching.executions(wanted))
            return set(wanted)
        try:
            self._do(self._pass(self._ask(self._begin(claimed, deadline), deadline), deadline), deadline, enough)
        except StoreError as error:
            # Their leases run out and the sweep finds them.
            logger.error("outcomes could not be recorded: %s", error, extra=watching.executions(wanted))
            return set(wanted)
        return set()

    def _begin(self, claimed: Claimed, deadline: Deadline) -> list[Run]:
        """Return the runs of what was claimed, after recording what ends before its first query."""
        runs: list[Run] = []
        ended: list[Outcome] = []
        for execution in claimed.executions.values():
            applet = claimed.applets.get(execution.applet_id)
            event_id = parse_execution_id(execution.execution_id).event_id
            try:
                if execution.progress.digest:
                    begun = begin_digest(execution, claimed.digests[event_id])
                else:
                    begun = begin(execution, applet, claimed.long_events.get(event_id))
            except Exception:
                logger.exception("could not be begun", extra=watching.execution(execution.execution_id))
                begun = State.FAILED, UNFORESEEN
            if isinstance(begun, Run):
                begun.zone = self._zones.find(begun.owner_id)
                runs.append(begun)
            else:
                ended.append(ended_early(execution, applet, *begun, now=now_ms()))
        # The applet has not been tried: an edit must not turn it off.
        self._record(ended, [], deadline, count_failures=False)
        return runs

    def _ask(self, runs: list[Run], deadline: Deadline) -> list[Run]:
        """Ask the queries of those runs that have not passed their filter yet; return those that have all answers."""
        asking = {
            run.execution_id: self._pool.submit(
                ask_queries,
                self._performer,
                run,
                self._action_timeout,
                lambda: deadline.left() - RESERVE_SECONDS,
            )
            for run in runs
            if not run.kept.passed and run.query is not None
        }
        ended = [outcome for future in asking.values() if (outcome := future.result()) is not None]
        self._record(ended, [], deadline)
        gone = {outcome.execution_id for outcome in ended}
        return [run for run in runs if run.execution_id not in gone]

    def _pass(self, runs: list[Run], deadline: Deadline) -> list[Run]:
        """Return those runs that their applets' filters and cool-downs let through, after recording the others."""
        new = [run for run in runs if not run.kept.passed]
        ends = {run.execution_id: end for run in new if (end := filtered(run)) is not None}
        cooling = cooled_down(self._database, [run for run in new if run.execution_id not in ends], deadline)
        ends |= {execution_id: (State.SKIPPED, reason) for execution_id, reason in cooling.items()}
        for run in new:
            if run.execution_id not in ends:
                watching.first_action_begins(run)
                run.pass_on()
        now = now_ms()
        ended = [run.outcome(*ends[run.execution_id], now=now) for run in new if run.execution_id in ends]
        self._record(ended, [], deadline)
        return [run for run in runs if run.execution_id not in ends]

    def _do(self, runs: list[Run], deadline: Deadline, enough: float) -> None:
        """Do the next action of every run, together, until none is left, or less than `enough` seconds for one."""
        while runs:
            if deadline.left() < RESERVE_SECONDS + enough:
                self._give_back(runs, deadline)
                return
            outcomes: list[Outcome] = []
            due: list[Run] = []
            for run in runs:
                try:
                    waiting = set_delay(run)
                except FieldError as error:
                    run.tries += 1
                    waiting = judge(run, None, refused(str(error)), deadline)
                except Exception:
                    # What one execution holds must not end its neighbours in the batch.
                    logger.exception("a delay could not be set", extra=watching.execution(run.execution_id))
                    run.tries += 1
                    waiting = judge(run, None, refused(UNFORESEEN), deadline)
                if waiting is None:
                    due.append(run)
                else:
                    outcomes.append(waiting)
            ready: list[tuple[Run, Ready[Work]]] = []
            for run, prepared in self._prepare(due, deadline):
                if isinstance(prepared, Sent):
                    outcomes.append(judge(run, None, prepared, deadline))
                elif (until := self._performer.left_alone_until(run, prepared)) is not None:
                    outcomes.append(wait_for_host(run, until))
                else:
                    ready.append((run, prepared))
            held = self._record(outcomes, [], deadline)
            going_on = _unfinished(runs, outcomes, held)
            runs = going_on + self._do_ready(ready, deadline, enough)

    def _prepare(self, runs: list[Run], deadline: Deadline) -> list[tuple[Run, Ready[Work] | Sent]]:
        """Prepare the runs' next actions. Those with a connection may have to wait for new tokens, so side by side."""
        before_reserve = Deadline(deadline.left() - RESERVE_SECONDS)
        for run in runs:
            run.tries += 1
        waiting = {
            run.execution_id: self._pool.submit(self._performer.prepare, run, before_reserve)
            for run in runs
            if run.action.connection is not None
        }
        return [
            (
                run,
                waiting[run.execution_id].result()
                if run.execution_id in waiting
                else self._performer.prepare(run, before_reserve),
            )
            for run in runs
        ]

    def _do_ready(self, ready: list[tuple[Run, Ready[Work]]], deadline: Deadline, enough: float) -> list[Run]:
        """Do prepared work and return the runs that have another action to do now."""
        unrepeatable = [run for run, prepared in ready if _is_unrepeatable(prepared)]
        lost = {run.execution_id for run in unrepeatable} - claims.mark_sending(self._database, unrepeatable, deadline)
        left = deadline.left() - RESERVE_SECONDS
        if left < enough:
            # The database or new tokens took their time; nothing has left yet.
            for run, _ in ready:
                run.tries -= 1
            self._give_back([run for run, _ in ready if run.execution_id not in lost], deadline)
            return []
        timeout = min(self._action_timeout, left)
        pending: dict[Future[Sent], tuple[Run, Ready[Work]]] = {}
        for run, prepared in ready:
            if run.execution_id not in lost:
                pending[self._pool.submit(self._performer.do, run, prepared, timeout, left)] = (run, prepared)
        going_on: list[Run] = []
        failure: StoreError | None = None
        while pending:
            # What comes back together is recorded in one script; a slow answer does not hold up the others.
            done, _ = wait(pending, timeout=_TOGETHER_SECONDS)
            done = done or wait(pending, return_when=FIRST_COMPLETED).done
            outcomes: list[Outcome] = []
            messages: list[Message] = []
            runs: list[Run] = []
            for future in done:
                run, prepared = pending.pop(future)
                runs.append(run)
                messages += message_of(run, prepared.prepared)
                outcomes.append(judge(run, prepared.prepared, future.result(), deadline))
            try:
                held = self._record(outcomes, messages, deadline)
            except StoreError as error:
                # Those on the wire are still recorded if they can be.
                failure = error
                continue
            going_on += _unfinished(runs, outcomes, held)
        if failure is not None:
            raise failure
        return going_on

    def _give_back(self, runs: list[Run], deadline: Deadline) -> None:
        """Return executions to the queue: there is no time left to do them."""
        now = now_ms()
        outcomes = [run.outcome(State.QUEUED, now=now, due_at=now, wake_at=now + WAKE_GRACE_MS) for run in runs]
        self._record(outcomes, [], deadline)

    def _record(
        self, outcomes: list[Outcome], messages: list[Message], deadline: Deadline, *, count_failures: bool = True
    ) -> set[str]:
        """Write outcomes and messages, wake what has to come again, and return the ids of those still held."""
        held = claims.record(self._database, outcomes, messages, deadline, count_failures=count_failures)
        watching.outcomes_recorded(outcomes, held)
        for outcome in outcomes:
            if outcome.due_at is not None:
                delay = max(0, -(-(outcome.due_at - now_ms()) // 1000))
                if delay <= MAX_DELAY_SECONDS:
                    send_wakeups(self._wakeups, [outcome.execution_id], delay_seconds=delay)
        return held


def _unfinished(runs: list[Run], outcomes: list[Outcome], held: set[str]) -> list[Run]:
    """Return the runs that have another action to do now."""
    running = {outcome.execution_id for outcome in outcomes if outcome.state is State.RUNNING} & held
    return [run for run in runs if run.execution_id in running]


def _is_unrepeatable(ready: Ready[Work]) -> bool:
    work = ready.prepared.work
    return isinstance(work, Send | Steps) and not work.repeatable
