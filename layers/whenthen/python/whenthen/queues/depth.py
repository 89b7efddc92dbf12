"""How much waits in a queue, for those who watch."""

from dataclasses import dataclass
from pathlib import Path

from whenthen.queues.sqs import SqsQueue


@dataclass(frozen=True, slots=True)
class Depth:
    """About how many messages there are, with those that somebody is at.

    `oldest_at` is when the oldest was sent, epoch milliseconds, or None where the queue does not tell.
    """

    messages: int
    oldest_at: int | None


class _Counted(SqsQueue):
    def count(self) -> int:
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        answer = self._call("get_queue_attributes", AttributeNames=names)
        return sum(int(answer["Attributes"][name]) for name in names)


def depth_of_sqs(url: str) -> Depth:
    """Return how much is in an SQS queue. How old it is, CloudWatch alone knows (ApproximateAgeOfOldestMessage).

    Raises
    ------
    Unavailable
        The queue can't be reached.
    """
    return Depth(_Counted(url).count(), None)


def depth_of_directory(path: Path) -> Depth:
    """Return how much is in a queue of files; nothing when there is no such directory."""
    times = [file.stat().st_mtime_ns // 1_000_000 for file in path.glob("*.json")]
    return Depth(len(times), min(times, default=None))
