"""What an action's result means and whether to try again: a pure function (R6)."""

from dataclasses import dataclass
from enum import StrEnum

from whenthen.services.work import Meaning, Reading

RETRY_DELAYS_SECONDS = (10, 60, 300, 1800, 7200)
"""Waits before the second to the sixth try."""

MAX_RETRY_AFTER_SECONDS = 6 * 3600
"""The longest Retry-After that is honoured."""

JITTER = 0.2
"""The largest share that is added to a wait."""


class Verdict(StrEnum):
    """What becomes of an action after a try."""

    SUCCEEDED = "succeeded"
    RETRY = "retry"
    FAILED = "failed"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NeverSent:
    """Nothing has left us. `permanent`: another try would end the same way."""

    permanent: bool


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request may have been received. `repeatable`: sending it again does no harm."""

    repeatable: bool


type Result = Reading | NeverSent | Unanswered


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, and for RETRY the seconds to wait."""

    verdict: Verdict
    delay_seconds: float = 0.0


def decide(result: Result, *, tries: int, chance: float) -> Decision:
    """Decide what becomes of an action.

    Parameters
    ----------
    result:
        What happened on the wire.
    tries:
        How often the action has been tried, this time included; at least 1.
    chance:
        A number from 0 to 1 that spreads the waits.
    """
    match result:
        case Reading(Meaning.SUCCEEDED):
            return Decision(Verdict.SUCCEEDED)
        case Reading(Meaning.SKIPPED):
            return Decision(Verdict.SKIPPED)
        case Reading(Meaning.RETRY):
            return _retry(tries, chance, min(result.retry_after_seconds, MAX_RETRY_AFTER_SECONDS))
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
