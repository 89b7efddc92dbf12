"""The clock: a tick a minute, and the checks that it passes on."""

from datetime import datetime
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from whenthen.clock import Deadline, from_datetime
from whenthen.engine.orders import Order
from whenthen.engine.tick import tick
from whenthen.observability import observed
from whenthen.settings import settings
from whenthen.wiring import Runtime

runtime = Runtime(settings())
processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)


@observed
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Do a batch of checks, or the tick of the scheduled event's time, so that it can be replayed for any instant."""
    deadline = Deadline(context.get_remaining_time_in_millis() / 1000)
    if "Records" in event:
        return _check(event, context, deadline)
    report = tick(
        runtime.history,
        runtime.intake,
        runtime.wakeups,
        runtime.arrivals,
        runtime.checks,
        runtime.housekeeping,
        now=from_datetime(datetime.fromisoformat(event["time"])),
        deadline=deadline,
    )
    return {"overdue": report.overdue, "drained": report.drained, "checks": report.checks}


def _check(event: dict[str, Any], context: LambdaContext, deadline: Deadline) -> Any:
    orders: list[Order] = []

    def read(record: SQSRecord) -> None:
        orders.append(Order.read(record.body))

    answer = process_partial_response(event=event, record_handler=read, processor=processor, context=context)
    runtime.checks.run(orders, deadline)
    return answer
