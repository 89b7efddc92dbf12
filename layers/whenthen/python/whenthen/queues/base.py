"""What a queue does. At least once, in no order: the database is the truth, a message only a hint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MAX_DELAY_SECONDS = 900
"""The longest delay of a message (SQS: 15 minutes). Longer waits are found by the sweep."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message with the handle that deletes it."""

    body: str
    handle: str


class Queue(Protocol):
    """A queue of text messages."""

    def send(self, bodies: Sequence[str], *, delay_seconds: int = 0) -> None:
        """Put messages in the queue, to be seen after `delay_seconds` (at most `MAX_DELAY_SECONDS`).

        Raises
        ------
        Unavailable
            At least one was not taken.
        """
        ...

    def receive(self, *, wait_seconds: int) -> list[Received]:
        """Return up to 10 messages, hidden from others for a while; empty after `wait_seconds`.

        Raises
        ------
        Unavailable
            The queue can't be reached.
        """
        ...

    def delete(self, received: Received) -> None:
        """Remove a message for good.

        Raises
        ------
        Unavailable
            The queue can't be reached; the message will come again.
        """
        ...
