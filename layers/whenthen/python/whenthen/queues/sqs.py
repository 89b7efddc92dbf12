"""A queue in Amazon SQS."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from whenthen.errors import Unavailable
from whenthen.queues.base import Received

_BATCH = 10
_CONNECT_SECONDS = 2
_READ_SECONDS = 5


class SqsQueue:
    """A queue by its URL.

    boto3 is imported at the first use: it takes longer to import than all else together, and a webhook that
    no applet listens to never needs it.

    Parameters
    ----------
    url:
        The queue's URL. Region and credentials come from the environment, as in every function.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _client(self) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"mode": "standard", "total_max_attempts": 2},
        )
        return boto3.client("sqs", config=config)

    def send(self, bodies: Sequence[str], *, delay_seconds: int = 0) -> None:
        """See `Queue.send`."""
        for start in range(0, len(bodies), _BATCH):
            entries = [
                {"Id": str(index), "MessageBody": body, "DelaySeconds": delay_seconds}
                for index, body in enumerate(bodies[start : start + _BATCH])
            ]
            answer = self._call("send_message_batch", Entries=entries)
            if failed := answer.get("Failed"):
                raise Unavailable(f"the queue refused {len(failed)} messages: {failed[0].get('Code')}")

    def receive(self, *, wait_seconds: int) -> list[Received]:
        """See `Queue.receive`."""
        answer = self._call("receive_message", MaxNumberOfMessages=_BATCH, WaitTimeSeconds=wait_seconds)
        return [Received(message["Body"], message["ReceiptHandle"]) for message in answer.get("Messages", [])]

    def delete(self, received: Received) -> None:
        """See `Queue.delete`."""
        self._call("delete_message", ReceiptHandle=received.handle)

    def _call(self, operation: str, **arguments: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer: dict[str, Any] = getattr(self._client, operation)(QueueUrl=self._url, **arguments)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"the queue can't be reached: {type(error).__name__}") from error
        return answer
