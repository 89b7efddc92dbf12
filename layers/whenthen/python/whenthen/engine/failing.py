"""Applets that fail again and again are turned off, and their owners are told."""

import logging
from collections.abc import Iterator

from pydantic import ValidationError

from whenthen.clock import Deadline, now_ms
from whenthen.engine import activity, applets
from whenthen.errors import NotFound, Stale
from whenthen.store import applet_runs as store
from whenthen.store.applets import AppletRow, find_applet
from whenthen.store.executions import State
from whenthen.store.history import History
from whenthen.store.inbox import Message, insert_message
from whenthen.store.log import Filters
from whenthen.store.statements import Script

logger = logging.getLogger(__name__)

_SECONDS = 5.0
_PAGE = 50


def turn_off_failing(history: History, deadline: Deadline) -> None:
    """Look at the applets that have failed since the last time, and turn off those that fail too often in a row.

    How often is too often, their owners say. What counts are the newest executions that have succeeded or failed since
    the applet was turned on. Two at once do no harm.

    Parameters
    ----------
    deadline:
        When to stop; what is left is looked at in the next tick.

    Raises
    ------
    StoreError
        The database can't do it now.
    """
    for runs in store.list_failing(history.hot):
        if not deadline.left():
            return
        row = find_applet(history.hot, runs.ran_applet_id)
        most = _most(row) if row is not None and row.enabled else None
        in_a_row, reason = runs.failures, ""
        if row is not None and most is not None and runs.failures >= most:
            in_a_row, reason = _in_a_row(history, row, runs.failures, deadline)
            if in_a_row >= most:
                _turn_off(history, row, in_a_row, reason)
                continue
        script = Script()
        store.note_review(script, runs, in_a_row)
        history.hot.execute(script.sql)


def _most(row: AppletRow) -> int | None:
    """Return after how many failures the applet is turned off; None for never, and for one that can't be read."""
    try:
        return applets.parse(row).off_after_failures
    except ValidationError as error:
        logger.error("an applet can't be read: %s", error.errors()[0]["msg"], extra={"applet_id": row.applet_id})
        return None


def _in_a_row(history: History, row: AppletRow, most: int, deadline: Deadline) -> tuple[int, str]:
    """Return how many of the applet's newest executions have failed, `most` at most, and why the newest one has."""
    failed, why = 0, ""
    for state, reason in _ended(history, row, deadline):
        if state == State.SUCCEEDED or failed == most:
            break
        failed += 1
        why = why or reason
    return failed, why


def _ended(history: History, row: AppletRow, deadline: Deadline) -> Iterator[tuple[str, str]]:
    """Yield state and reason of the applet's executions that have succeeded or failed, newest first."""
    stop = Deadline(min(_SECONDS, deadline.left()))
    before: str | None = None
    while stop.left():
        page = activity.read_activity(
            history, row.owner_id, Filters(row.applet_id, "", "", ""), limit=_PAGE, before=before
        )
        for item in page.items:
            if item.state in (State.SUCCEEDED, State.FAILED):
                yield item.state, item.reason
        before = page.next
        if before is None:
            return


def _turn_off(history: History, row: AppletRow, failures: int, reason: str) -> None:
    name = applets.parse(row).name
    message = Message(
        message_id=f"off.{row.applet_id}.{row.version}",
        owner_id=row.owner_id,
        applet_id=row.applet_id,
        execution_id="",
        created_at=now_ms(),
        title=f"“{name}” was turned off",
        body=f"Its last {failures} executions failed. The newest one: {reason} "
        "When that is mended, turn it on again; what failed can be run again from the activity.",
        link="",
    )

    def also(script: Script) -> None:
        insert_message(script, message)
        store.forget_failures(script, row.applet_id)

    try:
        applets.turn_off(history.hot, row, also)
    except (Stale, NotFound):
        # Its owner was faster; it is looked at again when it fails again.
        return
    logger.warning("an applet was turned off after %d failures", failures, extra={"applet_id": row.applet_id})
