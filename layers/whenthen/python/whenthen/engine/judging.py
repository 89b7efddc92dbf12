"""What becomes of an execution after a try: what to write down. Pure but for the clock and chance."""

import random

from whenthen.clock import Deadline, now_ms, to_datetime
from whenthen.engine import claims, watching
from whenthen.engine.actions import Prepared, attempt
from whenthen.engine.delays import ends_at
from whenthen.engine.identity import idempotency_key, parse_execution_id
from whenthen.engine.retry import Verdict, decide
from whenthen.engine.runs import Run
from whenthen.engine.wakeups import WAKE_GRACE_MS
from whenthen.engine.wire import Sent
from whenthen.services.work import Notify, Work
from whenthen.services.zones import zone_info
from whenthen.store.executions import Outcome, State
from whenthen.store.inbox import Message

_LEASE_STEP_MS = 10
_LATE_MS = 5 * 60_000
"""How much later than wanted a delayed action may run without a word about it."""

_HOST_SPREAD_SECONDS = 5.0
"""What waits for the same host does not come back all at once."""


def judge(run: Run, prepared: Prepared[Work] | None, sent: Sent, deadline: Deadline) -> Outcome:
    """Note how the run's next action went and return what to record.

    Parameters
    ----------
    prepared:
        What was done; None when it could not be prepared.
    """
    decision = decide(sent.result, tries=run.tries, chance=random.random())  # noqa: S311
    verdict = decision.verdict
    watching.action_tried(run, verdict)
    run.attempts.append(attempt(run, prepared, verdict, sent.reason, sent).as_dict())
    now = now_ms()
    if verdict is Verdict.RETRY:
        due_at = now + round(decision.delay_seconds * 1000)
        return run.outcome(State.WAITING, sent.reason, now=now, due_at=due_at, wake_at=due_at + WAKE_GRACE_MS)
    run.next_action()
    if verdict in (Verdict.FAILED, Verdict.UNKNOWN) and run.applet.on_failure == "stop":
        run.stop(now)
    if not run.is_done:
        # Never the same instant twice: the sweep tells by it that the row has changed since it was read.
        return run.outcome(State.RUNNING, now=now, wake_at=claims.lease_until(deadline) + run.step * _LEASE_STEP_MS)
    state, why = run.final_state()
    return run.outcome(state, why, now=now)


def set_delay(run: Run) -> Outcome | None:
    """Return what to record if the run has to wait before its next action; None when it does not, or has waited (F14).

    Raises
    ------
    FieldError
        The delay's end can't be told.
    """
    delay, now = run.action.delay, now_ms()
    if delay is None:
        return None
    if run.kept.delayed == run.step:
        late = now - run.kept.waits_until
        if late > _LATE_MS and not run.tries:
            run.notes.append(f"delay: it was over at {_clock_text(run, run.kept.waits_until)}, this is late")
        return None
    until = ends_at(delay, run.ingredients, run.zone, now)
    run.wait(until)
    if until <= now:
        run.notes.append(f"delay: {_clock_text(run, until)} has passed already")
        return None
    reason = f"It waits until {_clock_text(run, until)} with action {run.step + 1}."
    return run.outcome(State.WAITING, reason, now=now, due_at=until, wake_at=until + WAKE_GRACE_MS)


def wait_for_host(run: Run, until: int, what: str = "") -> Outcome:
    """Return what to record while the host of the run's next action wants to be left alone: this was no try of it.

    Parameters
    ----------
    until:
        Epoch milliseconds.
    what:
        What calls that host instead, in words, such as ``query 1``.
    """
    run.tries -= 1
    due_at = until + round(random.uniform(0, _HOST_SPREAD_SECONDS) * 1000)  # noqa: S311
    what = what or f"action {run.step + 1}"
    reason = f"The target of {what} wants to be left alone until {_clock_text(run, until)}."
    return run.outcome(State.WAITING, reason, now=now_ms(), due_at=due_at, wake_at=due_at + WAKE_GRACE_MS)


def _clock_text(run: Run, instant: int) -> str:
    return to_datetime(instant).astimezone(zone_info(run.zone)).strftime("%Y-%m-%d %H:%M:%S")


def message_of(run: Run, prepared: Prepared[Work]) -> list[Message]:
    """Return the message that the work leaves in the inbox, if it is that kind of work."""
    work = prepared.work
    if not isinstance(work, Notify):
        return []
    return [
        Message(
            message_id=idempotency_key(run.execution_id, run.step),
            owner_id=run.owner_id,
            applet_id=parse_execution_id(run.execution_id).applet_id,
            execution_id=run.execution_id,
            created_at=now_ms(),
            title=work.title or run.applet.name,
            body=work.body,
            link=work.link,
        )
    ]
