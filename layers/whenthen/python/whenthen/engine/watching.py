"""What those who watch are told: log lines that lead from an event to its actions, and metrics.

The event's id is the correlation id. It is known when the event is stored, it is a part of the id of each of its
executions, and so of the idempotency key that each action carries to its target.
"""

import hashlib
import json
import logging
from collections.abc import Collection, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from whenthen.clock import now_ms
from whenthen.engine.arrivals import Arrival
from whenthen.engine.identity import canonical_json, idempotency_key
from whenthen.metrics import EXECUTED, Metric, count, measure
from whenthen.store.executions import ExecutionRow, Outcome, State

if TYPE_CHECKING:
    from whenthen.engine.retry import Verdict
    from whenthen.engine.runs import Run
    from whenthen.engine.tick import TickReport

logger = logging.getLogger(__name__)

GAUGES = {
    "overdue": Metric.OVERDUE,
    "drained": Metric.DRAINED,
    "checks": Metric.CHECKS_CLAIMED,
    "slots_open": Metric.SLOTS_OPEN,
    "slots_stuck": Metric.SLOTS_STUCK,
    "seen_events": Metric.SEEN_EVENTS,
    "dead_rows": Metric.DEAD_ROWS,
    "wal_bytes": Metric.LOG_USED,
    "sst_bytes": Metric.TABLE_FILE_BYTES,
    "sst_files": Metric.TABLE_FILES,
    "report_age_seconds": Metric.HOST_REPORT_AGE,
}
"""The metric of each field of a tick's report."""


def event(event_id: str) -> dict[str, Any]:
    """Return what a log line about an event carries."""
    return {"correlation_id": event_id}


def arrival(arrived: Arrival) -> dict[str, Any]:
    """Return what a log line about an arrival carries: a name that it keeps on its way through the intake queue.

    Its event's id is not known before the database has said whose key it came with.
    """
    sender = arrived.key_hash or arrived.connection
    named = (sender, arrived.service, arrived.trigger, canonical_json(arrived.fields), arrived.unique)
    return {"arrival_id": hashlib.blake2b(json.dumps(named).encode(), digest_size=16).hexdigest()}


def execution(execution_id: str) -> dict[str, Any]:
    """Return what a log line about an execution carries."""
    return {"correlation_id": _event_of(execution_id), "execution_id": execution_id}


def executions(execution_ids: Collection[str]) -> dict[str, Any]:
    """Return what one log line about several executions carries."""
    if len(execution_ids) == 1:
        return execution(*execution_ids)
    return {"correlation_ids": list(dict.fromkeys(_event_of(execution_id) for execution_id in execution_ids))}


def _event_of(execution_id: str) -> str:
    # A log line must not fail over a text that is no id.
    return execution_id.partition(".")[2].partition(".")[0]


def events_found(trigger_id: str, execution_ids: Collection[str]) -> None:
    """Count and log the events that a check has found, after they were stored with these executions."""
    for event_id in dict.fromkeys(map(_event_of, execution_ids)):
        count(Metric.FOUND)
        logger.info("a check found an event", extra=event(event_id) | {"trigger_id": trigger_id})


def first_action_begins(run: "Run") -> None:
    """Measure how long after its event an execution gets to its first action, for events whose instant we know.

    That is what arrives, and what the clock sets off. How late an item of a polled source is found depends on the
    interval that its owner wants and on what the source says of its time.
    """
    # Only the worker needs the catalogue.
    from whenthen.services.registry import find_trigger

    trigger = find_trigger(run.applet.trigger.service, run.applet.trigger.trigger)
    is_ours = trigger is not None and (trigger.check is None or trigger.offline)
    # Known since the first run: what is run again has no lag.
    if is_ours and not run.kept.trigger_service:
        measure(Metric.EVENT_TO_ACTION, max(now_ms() - run.occurred_at, 0))


def action_tried(run: "Run", verdict: "Verdict") -> None:
    """Log how a try of the run's action went."""
    logger.info(
        "%s.%s: %s",
        run.action.service,
        run.action.action,
        verdict,
        extra=execution(run.execution_id)
        | {"idempotency_key": idempotency_key(run.execution_id, run.step), "tries": run.tries},
    )


def query_asked(run: "Run", verdict: "Verdict") -> None:
    """Log how a query of the run went."""
    if (query := run.query) is not None:
        logger.info("query %s.%s: %s", query.service, query.query, verdict, extra=execution(run.execution_id))


def outcomes_recorded(outcomes: Iterable[Outcome], held: Collection[str]) -> None:
    """Count and log what became of executions, after it was written; of those that were still `held`."""
    for outcome in outcomes:
        if outcome.execution_id not in held:
            continue
        if outcome.state is State.WAITING and outcome.progress.tries:
            count(Metric.RETRIED)
        elif outcome.state in EXECUTED:
            execution_ended(outcome.execution_id, outcome.state)


def execution_ended(execution_id: str, state: State) -> None:
    """Count and log an execution that is final."""
    count(EXECUTED[state])
    logger.info("the execution ended: %s", state, extra=execution(execution_id))


def executions_overdue(rows: Collection[ExecutionRow], now: int) -> None:
    """Measure for how long the oldest of executions has been due whose `wake_at` has passed."""
    if rows:
        oldest = min(row.due_at or row.wake_at or now for row in rows)
        measure(Metric.OLDEST_DUE, (now - oldest) / 1000)


def tick_done(report: "TickReport") -> None:
    """Measure what a tick has seen; what it does not know is left out."""
    for field in fields(report):
        value = getattr(report, field.name)
        if value is not None:
            measure(GAUGES[field.name], value)
