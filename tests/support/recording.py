"""Which statements a piece of work sends, and which of them scan."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp

from tests.support.shapes import violations
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database, Rows

WITHOUT_BOUND = ("trigger_events", "sheet_rows", "digests", "digest_entries", "slot_loads", "probes")
"""Tables that grow for ever. A slot's executions and a window of the log are bounded by their half hours."""


@dataclass
class Recording:
    """What was sent: requests in order."""

    requests: list[str] = field(default_factory=list)

    def scans(self) -> list[str]:
        """The tables of each statement that scans, as ``a`` or ``a+b``."""
        return [
            "+".join(sorted({table.name for table in tree.find_all(exp.Table) if table.name}))
            for sql in self.requests
            for tree in sqlglot.parse(sql, dialect="postgres")
            if tree is not None and violations(tree.sql(dialect="postgres"))
        ]

    def without_bound(self) -> list[str]:
        """Those of `scans` that read a table that grows for ever."""
        return [tables for tables in self.scans() if set(tables.split("+")) & set(WITHOUT_BOUND)]


class RecordingDatabase:
    """A database that remembers what it was asked while `recording`."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self._recording: Recording | None = None

    @property
    def embedded(self) -> bool:
        """See `Database.embedded`."""
        return self._inner.embedded

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        """See `Database.execute`."""
        if self._recording is not None:
            self._recording.requests.append(sql)
        return self._inner.execute(sql, timeout_seconds=timeout_seconds)

    def close(self) -> None:
        """See `Database.close`."""
        self._inner.close()

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Remember what is sent meanwhile."""
        self._recording = Recording()
        try:
            yield self._recording
        finally:
            self._recording = None
