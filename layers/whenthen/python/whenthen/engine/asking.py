"""Asking an execution's queries, before its filter."""

import json
import logging
import random
from collections.abc import Callable, Sequence

from whenthen.clock import now_ms
from whenthen.engine import watching
from whenthen.engine.actions import Prepared, attempt
from whenthen.engine.judging import wait_for_host
from whenthen.engine.performing import Performer, Ready
from whenthen.engine.retry import NeverSent, Verdict, decide
from whenthen.engine.runs import Run
from whenthen.engine.wakeups import WAKE_GRACE_MS
from whenthen.engine.wire import Sent
from whenthen.model.applet import QueryRef
from whenthen.model.values import without_surrogates
from whenthen.services.work import Ask, FindRows, Row
from whenthen.store.errors import StoreError
from whenthen.store.executions import Outcome, State

logger = logging.getLogger(__name__)

MAX_ANSWERS_BYTES = 32 * 1024
"""The most that all rows of an execution take, bytes of ASCII JSON: they are written with each of its outcomes."""

_SHORTEST_SECONDS = 1.0


def ask_queries(performer: Performer, run: Run, timeout_seconds: float, left: Callable[[], float]) -> Outcome | None:
    """Ask the run's queries one after the other, and return what to record if it can't go on; None when it can.

    They are asked again after a crash: a query changes nothing. Raises nothing.

    Parameters
    ----------
    timeout_seconds:
        The longest that one query may take.
    left:
        Returns the seconds that are left for queries.
    """
    while (query := run.query) is not None:
        if left() < _SHORTEST_SECONDS:
            now = now_ms()
            return run.outcome(State.QUEUED, now=now, due_at=now, wake_at=now + WAKE_GRACE_MS)
        run.tries += 1
        ready = _prepare(performer, run, query, min(timeout_seconds, left()))
        if isinstance(ready, Ready) and (until := _left_alone_until(performer, run, ready)) is not None:
            return wait_for_host(run, until, f"query {len(run.kept.answers) + 1}")
        prepared, sent, rows = _ask(performer, run, ready, timeout_seconds, left)
        decision = decide(sent.result, tries=run.tries, chance=random.random())  # noqa: S311
        verdict = Verdict.FAILED if decision.verdict is Verdict.UNKNOWN else decision.verdict
        kept, notes = _bounded(run, rows)
        run.notes.extend(notes)
        run.attempts.append(attempt(run, prepared, verdict, sent.reason, sent).as_dict())
        run.notes.clear()
        watching.query_asked(run, verdict)
        now = now_ms()
        match verdict:
            case Verdict.SUCCEEDED:
                run.answered(kept)
            case Verdict.RETRY:
                due_at = now + round(decision.delay_seconds * 1000)
                return run.outcome(State.WAITING, sent.reason, now=now, due_at=due_at, wake_at=due_at + WAKE_GRACE_MS)
            case Verdict.SKIPPED:
                return run.outcome(State.SKIPPED, sent.reason, now=now)
            case _:
                reason = f"Nothing was run, because query {len(run.kept.answers) + 1} failed. {sent.reason}"
                return run.outcome(State.FAILED, reason, now=now)
    return None


def _prepare(performer: Performer, run: Run, query: QueryRef, seconds: float) -> Ready[Ask | FindRows] | Sent:
    try:
        return performer.prepare_query(run, query, seconds)
    except StoreError as error:
        return Sent(NeverSent(permanent=False), f"The database could not do it: {error}", now_ms())


def _left_alone_until(performer: Performer, run: Run, ready: Ready[Ask | FindRows]) -> int | None:
    try:
        return performer.left_alone_until(run, ready)
    except StoreError as error:
        # A courtesy: the host says so again if it must.
        logger.warning("nobody knows whether a host wants to be left alone: %s", error)
        return None


def _ask(
    performer: Performer,
    run: Run,
    ready: Ready[Ask | FindRows] | Sent,
    timeout_seconds: float,
    left: Callable[[], float],
) -> tuple[Prepared[Ask | FindRows] | None, Sent, list[Row]]:
    if isinstance(ready, Sent):
        return None, ready, []
    return ready.prepared, *performer.ask(run, ready, min(timeout_seconds, left()), left())


def _bounded(run: Run, rows: Sequence[Row]) -> tuple[list[dict[str, str]], list[str]]:
    """Return the rows that fit beside those of other queries, and what to note about the others."""
    left = MAX_ANSWERS_BYTES - sum(len(json.dumps(answer)) for answer in run.kept.answers)
    kept: list[dict[str, str]] = []
    for row in rows:
        # What the database refuses must not get into an outcome.
        clean = {name: without_surrogates(text).replace("\x00", "\ufffd") for name, text in row.items()}
        left -= len(json.dumps(clean)) + 2
        if left < 0:
            return kept, [f"{len(rows) - len(kept)} of {len(rows)} rows were left out: too much text"]
        kept.append(clean)
    return kept, []
