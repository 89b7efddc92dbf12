"""The worker: claims executions, does their actions, records what happened (DESIGN.md 2, steps 4 to 6).

What crosses a crash: a claim is a lease, so an execution whose worker died before anything was sent runs again.
Before a request that can't be repeated leaves, the row says so (`sending`), so after a crash it is `unknown`.
"""

import logging
import random
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import uuid_utils

from whenthen.clock import Deadline, now_ms
from whenthen.engine import claims, watching
from whenthen.engine.actions import Prepared, attempt, prepare
from whenthen.engine.claims import Claimed
from whenthen.engine.identity import idempotency_key, parse_execution_id
from whenthen.engine.retry import Unanswered, Verdict, decide
from whenthen.engine.runs import Run, begin, ended_early
from whenthen.engine.wakeups import WAKE_GRACE_MS, send_wakeups
from whenthen.engine.wire import Sent, perform
from whenthen.errors import FieldError
from whenthen.net import GuardedClient
from whenthen.queues import Queue
from whenthen.queues.base import MAX_DELAY_SECONDS
from whenthen.services.work import Notify, Send, Steps
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
_LEASE_STEP_MS = 10


class Worker:
    """Does executions.

    Parameters
    ----------
    database, wakeups, client:
        What it works with.
    action_timeout_seconds:
        The longest that one request may take.
    """

    def __init__(
        self, database: Database, wakeups: Queue, client: GuardedClient, *, action_timeout_seconds: float
    ) -> None:
        self._database = database
        self._wakeups = wakeups
        self._client = client
        self._action_timeout = action_timeout_seconds
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
            self._do(self._begin(claimed, deadline), deadline)
        except StoreError as error:
            # Their leases run out and the sweep finds them.
            logger.error("outcomes could not be recorded: %s", error, extra=watching.executions(wanted))
            return set(wanted)
        return set()

    def _begin(self, claimed: Claimed, deadline: Deadline) -> list[Run]:
        """Return the runs of what was claimed, after recording what ends before its first action."""
        runs: list[Run] = []
        ended: list[Outcome] = []
        for execution in claimed.executions.values():
            event_id = parse_execution_id(execution.execution_id).event_id
            try:
                begun = begin(execution, claimed.applets.get(execution.applet_id), claimed.long_events.get(event_id))
            except Exception:
                logger.exception("could not be begun", extra=watching.execution(execution.execution_id))
                begun = State.FAILED, "Something unforeseen went wrong before anything was sent; the log says what."
            if isinstance(begun, Run):
                watching.first_action_begins(execution, begun)
                runs.append(begun)
            else:
                applet = claimed.applets.get(execution.applet_id)
                ended.append(ended_early(execution, applet, *begun, now=now_ms()))
        self._record(ended, [], deadline)
        return runs

    def _do(self, runs: list[Run], deadline: Deadline) -> None:
        """Do the next action of every run, together, until none is left."""
        while runs:
            if deadline.left() < RESERVE_SECONDS + _SHORTEST_SECONDS:
                self._give_back(runs, deadline)
                return
            ready: list[tuple[Run, Prepared]] = []
            going_on: list[Run] = []
            failed: list[Outcome] = []
            for run in runs:
                run.tries += 1
                prepared = self._prepare(run)
                if isinstance(prepared, Prepared):
                    ready.append((run, prepared))
                    continue
                failed.append(self._after(run, None, Verdict.FAILED, prepared, deadline))
                if not run.is_done:
                    going_on.append(run)
            held = self._record(failed, [], deadline)
            going_on = [run for run in going_on if run.execution_id in held]
            runs = going_on + self._do_ready(ready, deadline)

    def _do_ready(self, ready: list[tuple[Run, Prepared]], deadline: Deadline) -> list[Run]:
        """Do prepared work and return the runs that have another action to do now."""
        unrepeatable = [run for run, prepared in ready if _is_unrepeatable(prepared)]
        lost = {run.execution_id for run in unrepeatable} - claims.mark_sending(self._database, unrepeatable, deadline)
        left = deadline.left() - RESERVE_SECONDS
        if left < _SHORTEST_SECONDS:
            # The database took its time; nothing has left yet.
            for run, _ in ready:
                run.tries -= 1
            self._give_back([run for run, _ in ready if run.execution_id not in lost], deadline)
            return []
        timeout = min(self._action_timeout, left)
        pending: dict[Future[Sent | None], tuple[Run, Prepared]] = {}
        for run, prepared in ready:
            if run.execution_id not in lost:
                pending[self._pool.submit(self._work, run, prepared, timeout)] = (run, prepared)
        going_on: list[Run] = []
        failure: StoreError | None = None
        while pending:
            # What comes back together is recorded in one script; a slow answer does not hold up the others.
            done, _ = wait(pending, timeout=_TOGETHER_SECONDS)
            done = done or wait(pending, return_when=FIRST_COMPLETED).done
            outcomes: list[Outcome] = []
            messages: list[Message] = []
            unfinished: list[Run] = []
            for future in done:
                run, prepared = pending.pop(future)
                outcomes.append(self._judge(run, prepared, future.result(), messages, deadline))
                if outcomes[-1].state is State.RUNNING:
                    unfinished.append(run)
            try:
                held = self._record(outcomes, messages, deadline)
            except StoreError as error:
                # Those on the wire are still recorded if they can be.
                failure = error
                continue
            going_on += [run for run in unfinished if run.execution_id in held]
        if failure is not None:
            raise failure
        return going_on

    @staticmethod
    def _prepare(run: Run) -> Prepared | str:
        """Return the run's next action ready to be done, or why it can't be done."""
        try:
            return prepare(run)
        except FieldError as error:
            return str(error)
        except Exception:
            # A fault of one service must not end its neighbours in the batch.
            logger.exception("could not be prepared", extra=watching.execution(run.execution_id))
            return "Something unforeseen went wrong before anything was sent; the log says what."

    def _work(self, run: Run, prepared: Prepared, timeout: float) -> Sent | None:
        work = prepared.work
        if not isinstance(work, Send | Steps):
            return None
        try:
            return perform(self._client, work, timeout_seconds=timeout)
        except Exception:
            logger.exception("a request ended unforeseen", extra=watching.execution(run.execution_id))
            reason = "Something unforeseen went wrong while the request was sent; the log says what."
            return Sent(Unanswered(repeatable=work.repeatable), reason, now_ms())

    def _judge(
        self, run: Run, prepared: Prepared, sent: Sent | None, messages: list[Message], deadline: Deadline
    ) -> Outcome:
        """Return what to record after the run's action has been done, and collect its message."""
        if isinstance(prepared.work, Notify):
            messages.append(self._message(run, prepared.work))
        if sent is None:
            return self._after(run, prepared, Verdict.SUCCEEDED, "", deadline)
        now = now_ms()
        decision = decide(sent.result, tries=run.tries, chance=random.random())  # noqa: S311
        if decision.verdict is not Verdict.RETRY:
            return self._after(run, prepared, decision.verdict, sent.reason, deadline, sent)
        watching.action_tried(run, Verdict.RETRY)
        run.attempts.append(attempt(run, prepared, Verdict.RETRY, sent.reason, sent).as_dict())
        due_at = now + round(decision.delay_seconds * 1000)
        return run.outcome(State.WAITING, sent.reason, now=now, due_at=due_at, wake_at=due_at + WAKE_GRACE_MS)

    def _after(
        self,
        run: Run,
        prepared: Prepared | None,
        verdict: Verdict,
        reason: str,
        deadline: Deadline,
        sent: Sent | None = None,
    ) -> Outcome:
        """Note that the run's action has ended and go on to the next one."""
        watching.action_tried(run, verdict)
        run.attempts.append(attempt(run, prepared, verdict, reason, sent).as_dict())
        run.next_action()
        if not run.is_done:
            # Never the same instant twice: the sweep tells by it that the row has changed since it was read.
            wake_at = claims.lease_until(deadline) + run.step * _LEASE_STEP_MS
            return run.outcome(State.RUNNING, now=now_ms(), wake_at=wake_at)
        state, why = run.final_state()
        return run.outcome(state, why, now=now_ms())

    @staticmethod
    def _message(run: Run, work: Notify) -> Message:
        parts = parse_execution_id(run.execution_id)
        return Message(
            message_id=idempotency_key(run.execution_id, run.step),
            owner_id=run.owner_id,
            applet_id=parts.applet_id,
            execution_id=run.execution_id,
            created_at=now_ms(),
            title=work.title or run.applet.name,
            body=work.body,
            link=work.link,
        )

    def _give_back(self, runs: list[Run], deadline: Deadline) -> None:
        """Return executions to the queue: there is no time left to do them."""
        now = now_ms()
        outcomes = [run.outcome(State.QUEUED, now=now, due_at=now, wake_at=now + WAKE_GRACE_MS) for run in runs]
        self._record(outcomes, [], deadline)

    def _record(self, outcomes: list[Outcome], messages: list[Message], deadline: Deadline) -> set[str]:
        """Write outcomes and messages, wake what has to come again, and return the ids of those still held."""
        held = claims.record(self._database, outcomes, messages, deadline)
        watching.outcomes_recorded(outcomes, held)
        for outcome in outcomes:
            if outcome.due_at is not None:
                delay = max(0, -(-(outcome.due_at - now_ms()) // 1000))
                if delay <= MAX_DELAY_SECONDS:
                    send_wakeups(self._wakeups, [outcome.execution_id], delay_seconds=delay)
        return held


def _is_unrepeatable(prepared: Prepared) -> bool:
    return isinstance(prepared.work, Send | Steps) and not prepared.work.repeatable
