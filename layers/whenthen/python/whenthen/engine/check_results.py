"""What is known of the last checks of a trigger: when they were, what each found, and the words of the last one.

It stands in one text of the check's row, so that a check writes nothing more for it.
"""

import json
from dataclasses import dataclass

from whenthen.clock import now_ms
from whenthen.store.checks import CheckRow

LATE_MS = 5 * 60_000
"""How late a check may be before its trigger counts as not being checked, milliseconds (A25)."""

KEPT = 5
"""How many checks are remembered: a row is written twice a check, so it is to be small."""

_FAILED = -1


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check: when it was, epoch milliseconds, and how many new events it found; None when it failed."""

    at: int
    found: int | None


@dataclass(frozen=True, slots=True)
class Results:
    """The words of the last check, empty when it had nothing to say, and the last checks, newest first."""

    words: str = ""
    last: tuple[CheckResult, ...] = ()

    @classmethod
    def read(cls, text: str) -> "Results":
        """Return what `to_text` wrote; any other text is words alone."""
        words, _, kept = text.rpartition("\n")
        try:
            last = tuple(CheckResult(at, None if found == _FAILED else found) for at, found in json.loads(kept))
        except (ValueError, TypeError):
            return cls(text)
        return cls(words, last)

    def to_text(self) -> str:
        """Return the results as the store keeps them: the words, and below them the checks as JSON."""
        kept = [[one.at, _FAILED if one.found is None else one.found] for one in self.last]
        return f"{self.words}\n{json.dumps(kept, separators=(',', ':'))}"

    def followed_by(self, words: str, at: int, found: int | None) -> "Results":
        """Return the results after one more check."""
        return Results(words, (CheckResult(at, found), *self.last)[:KEPT])


def state_of(row: CheckRow) -> str:
    """Return how the checking of a trigger stands: off, overdue, failing, waiting for the first check, or ok."""
    if row.next_check_at is None:
        return "off"
    if row.next_check_at < now_ms() - LATE_MS:
        return "overdue"
    if row.failures:
        return "failing"
    return "waiting" if row.checked_at is None else "ok"
