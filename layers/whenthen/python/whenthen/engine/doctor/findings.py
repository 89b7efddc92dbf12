"""What the doctor finds, and what it works with."""

from collections.abc import Callable
from dataclasses import dataclass

from whenthen.engine.checks import Checks
from whenthen.engine.worker import Worker
from whenthen.queues import Queue
from whenthen.store.history import History

LATE_MS = 15 * 60_000
"""What the poller has had so much time for, milliseconds, it will not do by itself."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of a kind: its id, and words about it."""

    identifier: str
    words: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of thing that is not as it should be.

    `why` says why it matters, `remedy` what `repair` does or, where that is None, what to do by hand. `repair` returns
    what it has done, a line each; it may be done twice, and by two at once.
    """

    kind: str
    items: tuple[Item, ...]
    why: str
    remedy: str
    repair: Callable[[], list[str]] | None = None


@dataclass(frozen=True, slots=True)
class Practice:
    """What the doctor works with. `now` is the present, epoch milliseconds."""

    history: History
    wakeups: Queue
    checks: Checks
    worker: Worker
    now: int
