"""The hosts that actions call: not too many calls at once, and none while one wants to be left alone."""

import hashlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from whenthen.clock import now_ms
from whenthen.engine.retry import MAX_RETRY_AFTER_SECONDS
from whenthen.net import NotSent
from whenthen.store import targets as store
from whenthen.store.database import Database
from whenthen.store.errors import StoreError

logger = logging.getLogger(__name__)

MAX_PARALLEL = 4
"""How many calls of a worker may be on the way to one host at once."""

_KNOWN_SECONDS = 3.0


def target_of(url: str) -> str:
    """Return host and port of a URL, empty when it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return ""
    return f"{parts.hostname}:{port}" if parts.hostname else ""


def _key(owner_id: str, target: str) -> str:
    """Return what stands in the database for an owner's target. It tells nothing of either."""
    return hashlib.blake2b(json.dumps([owner_id, target]).encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class _Calls:
    places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(MAX_PARALLEL))
    users: int = 0


class Targets:
    """What a worker knows of hosts. Thread-safe.

    Parameters
    ----------
    database:
        Where all workers write which hosts want to be left alone.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._calls: dict[str, _Calls] = {}
        self._left_alone: dict[str, int] = {}
        self._known_at = float("-inf")

    def left_alone_until(self, owner_id: str, target: str) -> int | None:
        """Return until when the target wants the owner to leave it alone, epoch milliseconds, or None.

        What another worker was told is known here after a few seconds.
        """
        now = now_ms()
        if time.monotonic() - self._known_at > _KNOWN_SECONDS:
            self._known_at = time.monotonic()
            self._left_alone = store.list_left_alone(self._database, now)
        until = self._left_alone.get(_key(owner_id, target), 0)
        return until if until > now else None

    def leave_alone(self, owner_id: str, target: str, seconds: float) -> None:
        """Remember that the target wants the owner to leave it alone, and tell the other workers.

        Not all owners: most services limit an account, and nobody is to hold up the others.
        """
        until = now_ms() + round(min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000)
        key = _key(owner_id, target)
        if until <= self._left_alone.get(key, 0):
            return
        self._left_alone[key] = until
        try:
            store.leave_alone(self._database, key, until)
        except StoreError as error:
            # A courtesy: the action's own wait does not depend on it.
            logger.warning("could not write down that %s wants to be left alone: %s", target, error)

    @contextmanager
    def calling(self, target: str, timeout_seconds: float) -> Iterator[None]:
        """Call the target, after waiting until fewer than `MAX_PARALLEL` do.

        Raises
        ------
        NotSent
            It is not our turn in time; without time, at once.
        """
        with self._lock:
            calls = self._calls.setdefault(target, _Calls())
            calls.users += 1
        try:
            if not calls.places.acquire(timeout=max(timeout_seconds, 0.0)):
                raise NotSent("Too many requests to this host were on their way already.")
            try:
                yield
            finally:
                calls.places.release()
        finally:
            with self._lock:
                calls.users -= 1
                if not calls.users:
                    del self._calls[target]
