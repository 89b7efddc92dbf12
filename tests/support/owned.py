"""An owner's own data for tests of services: tables and phones without a database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whenthen.services.owned import Fix, Owned, Phone, TableRow, TableRows


@dataclass(frozen=True)
class Kept:
    """All that there will ever be.

    Args:
        table: rows of the only table, each with the time it is added, epoch milliseconds; None once it is emptied.
        phones: each with all its fixes.
    """

    table: Sequence[tuple[int, Mapping[str, str] | None]] = ()
    phones: Sequence[Phone] = ()

    def at(self, now: int) -> Owned:
        """What there is at that time, epoch milliseconds."""
        return _Now(self, now)


class _Now:
    def __init__(self, kept: Kept, now: int) -> None:
        self._kept = kept
        self._now = now

    def rows(self, table: str, after: int | None, limit: int) -> TableRows:  # noqa: ARG002
        added = [row for row in self._kept.table if row[0] <= self._now]
        if after is None:
            return TableRows(len(added))
        numbered = [
            TableRow(number, number, at, values)
            for number, (at, values) in enumerate(added, 1)
            if number > after and values is not None
        ]
        return TableRows(len(added), numbered[:limit])

    def phones(self) -> Sequence[Phone]:
        shown = [
            Phone(phone.device, [fix for fix in phone.fixes if fix.at * 1000 <= self._now])
            for phone in self._kept.phones
        ]
        return [phone for phone in shown if phone.fixes]


def fix(number: int, at: int, latitude: float, longitude: float, accuracy: float = 10) -> Fix:
    """A fix; `at` is in epoch seconds."""
    return Fix(number, at, latitude, longitude, accuracy)
