"""Units of work: read, build a script, send it; all again when the database says so."""

import random
import time
from collections.abc import Callable
from datetime import timedelta

import stamina

from whenthen.clock import Deadline
from whenthen.store.errors import Backpressure, Conflict, GuardFailed, OutcomeUnknown, Unreachable

_NOTHING_WRITTEN = (Conflict, Backpressure, Unreachable, GuardFailed)
_FIRST_WAIT_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 1.0
_JITTER_SECONDS = 0.04

# A conflict or a full queue is nothing to warn about: the caller says what did not work out in the end.
stamina.instrumentation.set_on_retry_hooks([])


def run_unit[T](unit: Callable[[], T], *, deadline: Deadline, repeatable: bool) -> T:
    """Return `unit()`, running it whole again, with jitter, while there is time and hope.

    Parameters
    ----------
    unit:
        Reads what it needs and sends at most one script that writes.
    deadline:
        When to stop trying.
    repeatable:
        Whether the unit may run again after `OutcomeUnknown`: only if a second run of the same writes
        changes nothing (ALOPEX.md 6).

    Raises
    ------
    StoreError
        The last error, when the time is up or another run can't help.
    """
    wanted = (*_NOTHING_WRITTEN, OutcomeUnknown) if repeatable else _NOTHING_WRITTEN
    try:
        # Nearly every unit ends here, and the machinery below costs as much as rendering a script.
        return unit()
    except wanted:
        if deadline.left() <= _JITTER_SECONDS:
            raise
    time.sleep(random.uniform(0, _JITTER_SECONDS))  # noqa: S311
    wait = 0.0

    def again(error: Exception) -> bool:
        # A run that begins past the deadline would be sent with no time for its answer: outcome unknown.
        return isinstance(error, wanted) and wait < deadline.left()

    for attempt in stamina.retry_context(
        on=again,
        attempts=None,
        timeout=timedelta(seconds=max(deadline.left(), 0.001)),
        wait_initial=_FIRST_WAIT_SECONDS,
        wait_max=_LONGEST_WAIT_SECONDS,
        wait_jitter=_JITTER_SECONDS,
    ):
        wait = min(attempt.next_wait + _JITTER_SECONDS, _LONGEST_WAIT_SECONDS)
        with attempt:
            return unit()
    raise AssertionError("a retry context ends by returning or raising")
