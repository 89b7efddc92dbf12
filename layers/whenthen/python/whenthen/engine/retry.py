"""What an action's result means and whether to try again: a pure function (R6)."""

from dataclasses import dataclass
from enum import StrEnum

from whenthen.net.retry_after import retry_after_seconds

RETRY_DELAYS_SECONDS = (10, 60, 300, 1800, 7200)
"""Waits before the second to the sixth try."""

MAX_RETRY_AFTER_SECONDS = 6 * 3600
"""The longest Retry-After that is honoured."""

JITTER = 0.2
"""The largest share that is added to a wait."""

_RETRIED_STATUSES = {408, 425, 429}


class Verdict(StrEnum):
    """What becomes of an action after a try."""

    SUCCEEDED = "succeeded"
    RETRY = "retry"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answered:
    """The target answered. `retry_after` is the header as it came, or None."""

    status: int
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class NeverSent:
    """Nothing has left us. `permanent`: another try would end the same way."""

    permanent: bool


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request may have been received. `repeatable`: sending it again does no harm."""

    repeatable: bool


type Result = Answered | NeverSent | Unanswered


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, and for RETRY the seconds to wait."""

    verdict: Verdict
    delay_seconds: float = 0.0


def decide(result: Result, *, tries: int, now: float, chance: float) -> Decision:
    """Decide what becomes of an action.

    Parameters
    ----------
    result:
        What happened on the wire.
    tries:
        How often the action has been tried, this time included; at least 1.
    now:
        The present instant in epoch seconds, for a Retry-After that is a date.
    chance:
        A number from 0 to 1 that spreads the waits.
    """
    match result:
        case Answered(status) if 200 <= status < 300:
            return Decision(Verdict.SUCCEEDED)
        case Answered(status, retry_after) if status in _RETRIED_STATUSES or status >= 500:
            return _retry(tries, chance, min(retry_after_seconds(retry_after, now), MAX_RETRY_AFTER_SECONDS))
        case NeverSent(permanent=False) | Unanswered(repeatable=True):
            return _retry(tries, chance, 0.0)
        case Unanswered():
            return Decision(Verdict.UNKNOWN)
    return Decision(Verdict.FAILED)


def _retry(tries: int, chance: float, at_least: float) -> Decision:
    if tries > len(RETRY_DELAYS_SECONDS):
        return Decision(Verdict.FAILED)
    delay = max(float(RETRY_DELAYS_SECONDS[tries - 1]), at_least)
    return Decision(Verdict.RETRY, delay * (1 + JITTER * chance))
