"""A queue of files in a directory, for the local run: what it has taken survives the process."""

import logging
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import uuid_utils

from whenthen.errors import Unavailable
from whenthen.queues.base import Received

logger = logging.getLogger(__name__)

_BATCH = 10
_VISIBILITY_SECONDS = 120.0


class DirectoryQueue:
    """One file a message, written whole before it gets its name. Has no delays: it holds arrivals, never wake-ups.

    Parameters
    ----------
    path:
        The directory; made at the first message. One process reads it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._hidden_until: dict[str, float] = {}

    def send(self, bodies: Sequence[str], *, delay_seconds: int = 0) -> None:
        """See `Queue.send`.

        Raises
        ------
        ValueError
            A delay was asked for.
        """
        if delay_seconds:
            raise ValueError("a directory queue has no delays")
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            for body in bodies:
                self._write(f"{uuid_utils.uuid7()}.json", body)
        except OSError as error:
            raise Unavailable(f"the message could not be written: {error.strerror}") from error

    def _write(self, name: str, body: str) -> None:
        unfinished = self._path / f"{name}.part"
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self._path / name)
        directory = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def receive(self, *, wait_seconds: int) -> list[Received]:  # noqa: ARG002 - the poller never waits
        """See `Queue.receive`. Oldest first; never waits."""
        now = time.monotonic()
        with self._lock:
            names = [path.name for path in sorted(self._path.glob("*.json"))]
            self._hidden_until = {name: self._hidden_until[name] for name in names if name in self._hidden_until}
            visible = [name for name in names if self._hidden_until.get(name, 0.0) <= now][:_BATCH]
            self._hidden_until.update(dict.fromkeys(visible, now + _VISIBILITY_SECONDS))
        return [Received(body, name) for name in visible if (body := self._read(name)) is not None]

    def _read(self, name: str) -> str | None:
        try:
            return (self._path / name).read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            # One bad file must not hold up the others. It stays for its owner to look at.
            logger.error("left an unreadable message in the queue: %s: %s", name, error)
            return None

    def delete(self, received: Received) -> None:
        """See `Queue.delete`."""
        (self._path / received.handle).unlink(missing_ok=True)
