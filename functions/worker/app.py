"""Runs the executions that a batch of wake-ups names."""

from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from whenthen.clock import Deadline
from whenthen.engine.wakeups import read_wakeup
from whenthen.errors import Unavailable
from whenthen.observability import logger, observed
from whenthen.settings import settings
from whenthen.wiring import Runtime

runtime = Runtime(settings())
processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)


@observed
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    """Run the batch as one, then tell SQS which messages must come again."""
    deadline = Deadline(context.get_remaining_time_in_millis() / 1000)
    again = runtime.worker.run(_execution_ids(event), deadline)

    def settle(record: SQSRecord) -> None:
        if read_wakeup(record.body) in again:
            raise Unavailable("the database did not take it in time")

    return process_partial_response(event=event, record_handler=settle, processor=processor, context=context)


def _execution_ids(event: dict[str, Any]) -> list[str]:
    found = []
    for record in event["Records"]:
        try:
            found.append(read_wakeup(record["body"]))
        except ValueError as error:
            logger.error("a message is not a wake-up: %s", error)
    return found
