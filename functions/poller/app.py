"""The clock: a tick a minute."""

from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from whenthen.clock import Deadline, from_datetime
from whenthen.engine.tick import tick
from whenthen.observability import logger
from whenthen.settings import settings
from whenthen.wiring import Runtime

runtime = Runtime(settings())


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    """Do the tick of the scheduled event's time, so that a tick can be replayed for any instant."""
    report = tick(
        runtime.database,
        runtime.intake,
        runtime.wakeups,
        runtime.arrivals,
        now=from_datetime(datetime.fromisoformat(event["time"])),
        deadline=Deadline(context.get_remaining_time_in_millis() / 1000),
    )
    return {"overdue": report.overdue, "drained": report.drained}
