"""Wake-ups: messages that tell the worker to look at an execution. A lost or doubled one does no harm."""

import json
import logging
from collections.abc import Sequence

from whenthen.engine import watching
from whenthen.engine.identity import parse_execution_id
from whenthen.errors import Unavailable
from whenthen.queues import Queue

logger = logging.getLogger(__name__)

WAKE_GRACE_MS = 60_000
"""How long the sweep leaves an execution alone that should have been woken, milliseconds."""


def send_wakeups(queue: Queue, execution_ids: Sequence[str], *, delay_seconds: int = 0) -> None:
    """Wake the worker for each execution. A queue that can't be reached is logged: the sweep wakes them later."""
    if not execution_ids:
        return
    try:
        queue.send(
            [json.dumps({"execution_id": execution}) for execution in execution_ids],
            delay_seconds=delay_seconds,
        )
    except Unavailable as error:
        about = watching.executions(execution_ids)
        logger.warning("%d executions wait for the sweep: %s", len(execution_ids), error, extra=about)


def read_wakeup(body: str) -> str:
    """Return the execution's id from a message.

    Raises
    ------
    ValueError
        The message is not a wake-up.
    """
    message = json.loads(body)
    if not isinstance(message, dict) or not isinstance(message.get("execution_id"), str):
        raise ValueError("not a wake-up: it has no execution_id")
    execution: str = message["execution_id"]
    parse_execution_id(execution)
    return execution
