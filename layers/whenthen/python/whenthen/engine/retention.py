"""Retention: payloads are kept for as many days as their owner says, the facts about executions as long as the log.

A payload is what came with an event and what the actions sent and got.
"""

import logging
from datetime import UTC, datetime

from whenthen.clock import to_datetime
from whenthen.engine.digests import erase_sent
from whenthen.engine.identity import parse_execution_id
from whenthen.store.erasing import (
    DETAILS,
    blank_events,
    drop_day,
    erase,
    list_days,
    list_executions,
    list_owners,
    list_waiting,
)
from whenthen.store.history import History
from whenthen.store.retentions import DEFAULT_PAYLOAD_DAYS, list_payload_days

logger = logging.getLogger(__name__)


def expire_payloads(history: History, now: int) -> int:
    """Erase payloads that are older than their owner wants, and return of how many owners and days.

    Parameters
    ----------
    now:
        Epoch milliseconds. Days are those of UTC, and that of an execution is its slot's.

    Raises
    ------
    StoreError
        The database can't do it now; the next time goes on.
    """
    kept = list_payload_days(history.hot)
    shortest = min([DEFAULT_PAYLOAD_DAYS, *kept.values()])
    erased = 0
    for day in list_days(history.log):
        age = (to_datetime(now).date() - datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).date()).days
        if age <= shortest:
            break
        expired = [o for o in list_owners(history.log, day) if kept.get(o, DEFAULT_PAYLOAD_DAYS) < age]
        for owner in expired:
            erase_payloads(history, day, owner)
        erased += len(expired)
        if not list_owners(history.log, day):
            drop_day(history, day)
    return erased


def erase_payloads(history: History, day: str, owner_id: str) -> None:
    """Erase an owner's payloads of a day, ``yyyymmdd``: first those in the events, which the others lead to."""
    # Those that still run need their event: they come to the log later, and are erased then.
    needed = {parse_execution_id(execution).event_id for execution in list_waiting(history.hot, owner_id)}
    for ids in list_executions(history.log, day, owner_id):
        events = dict.fromkeys(parse_execution_id(execution).event_id for execution in ids)
        expired = [event for event in events if event not in needed]
        blank_events(history.hot, expired)
        erase_sent(history.hot, expired)
    erase(history, DETAILS, day, owner_id)
    logger.info("an owner's payloads of %s were erased", day)
