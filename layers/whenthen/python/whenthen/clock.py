"""Time as the store keeps it: whole epoch milliseconds, UTC."""

import time
from datetime import UTC, datetime


def now_ms() -> int:
    """Return the present instant in epoch milliseconds."""
    return time.time_ns() // 1_000_000


def to_datetime(ms: int) -> datetime:
    """Return epoch milliseconds `ms` as an aware UTC datetime."""
    return datetime.fromtimestamp(ms / 1000, tz=UTC)


def from_datetime(when: datetime) -> int:
    """Return an aware datetime as epoch milliseconds.

    Raises
    ------
    ValueError
        `when` has no time zone: it names no instant.
    """
    if when.tzinfo is None:
        raise ValueError("a time without a zone names no instant")
    return round(when.timestamp() * 1000)


def isoformat(ms: int) -> str:
    """Return epoch milliseconds as RFC 3339 text in UTC, ``2026-11-29T18:20:00.000Z``."""
    return to_datetime(ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_text(when: datetime) -> str:
    """Return a time as ingredients have it, ``August 23, 2010 at 11:01PM``, in its own zone."""
    return when.strftime("%B %d, %Y at %I:%M%p")


class Deadline:
    """An instant after which waiting is pointless, on the monotonic clock.

    Parameters
    ----------
    seconds:
        How far away it is.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left, never less than 0."""
        return max(self._end - time.monotonic(), 0.0)
