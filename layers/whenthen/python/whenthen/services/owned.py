"""What checks may know of an owner's own data: rows of tables, and where phones were. It comes from the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    `number` is its own for ever; `shown_number` is its place in the table as people see it, from 1. `added_at` is
    in epoch milliseconds, `values` are texts by column.
    """

    number: int
    shown_number: int
    added_at: int
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table, oldest first. `last` is the number of the newest row that the table ever had, 0 without any."""

    last: int
    rows: Sequence[TableRow] = ()


@dataclass(frozen=True, slots=True)
class Fix:
    """Where a phone was.

    Parameters
    ----------
    number:
        Rises with each fix that arrives from the phone.
    at:
        When it was there, epoch seconds.
    latitude, longitude:
        Degrees.
    accuracy:
        Metres around that point.
    """

    number: int
    at: int
    latitude: float
    longitude: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Phone:
    """A phone and the latest of its fixes, as they arrived."""

    device: str
    fixes: Sequence[Fix]


class Owned(Protocol):
    """The data of a trigger's owner."""

    def rows(self, table: str, after: int | None, limit: int) -> TableRows:
        """Return the first `limit` rows of a table, at most 100, after that number; none of them for None."""
        ...

    def phones(self) -> Sequence[Phone]:
        """Return the owner's phones."""
        ...


class _Nothing:
    """An owner without data."""

    def rows(self, table: str, after: int | None, limit: int) -> TableRows:  # noqa: ARG002
        return TableRows(0)

    def phones(self) -> Sequence[Phone]:
        return ()


NOTHING: Owned = _Nothing()
"""What a check knows that was given nothing."""
