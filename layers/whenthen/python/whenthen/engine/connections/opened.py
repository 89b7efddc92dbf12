"""Connections read from the database and opened, remembered for a moment."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from whenthen.clock import Deadline
from whenthen.engine.connections.contents import Contents, read_fields, unpack
from whenthen.engine.connections.errors import ConnectionUnusable
from whenthen.services.contract import Fields
from whenthen.store.connections import ConnectionRow, ConnectionState, find_connection
from whenthen.store.database import Database
from whenthen.vault import Keyring

REMEMBERED_SECONDS = 5.0
"""How long what was read may be used without looking again. Whoever uses older tokens is told by the service."""

_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection as it was read, ready for use."""

    row: ConnectionRow
    contents: Contents
    fields: Fields


class OpenedConnections:
    """Reads, opens and remembers. Safe to share between threads.

    Parameters
    ----------
    database, keyring:
        Where connections are, and what opens them.
    """

    def __init__(self, database: Database, keyring: Keyring) -> None:
        self._database = database
        self._keyring = keyring
        self._known: OrderedDict[str, tuple[float, Opened]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, connection_id: str, deadline: Deadline) -> Opened:
        """Return the connection as it was at most `REMEMBERED_SECONDS` ago. Raises as `read`."""
        with self._lock:
            known = self._known.get(connection_id)
        if known is not None and time.monotonic() - known[0] < REMEMBERED_SECONDS:
            return known[1]
        return self.read(connection_id, deadline)

    def read(self, connection_id: str, deadline: Deadline) -> Opened:
        """Return the connection as it is now.

        Raises
        ------
        ConnectionUnusable
            It is deleted, unfinished or broken, or can't be opened.
        StoreError
            The database, or the key, can't be asked now.
        """
        # What takes a round trip was true at its beginning.
        asked_at = time.monotonic()
        row = find_connection(self._database, connection_id, timeout_seconds=deadline.left())
        try:
            opened = self._open(row)
        except ConnectionUnusable:
            self.forget(connection_id)
            raise
        self.remember(opened, asked_at)
        return opened

    def remember(self, opened: Opened, asked_at: float) -> None:
        """Remember what was true at `asked_at` on the monotonic clock, unless a later version is known."""
        with self._lock:
            known = self._known.get(opened.row.connection_id)
            if known is not None and known[1].row.version > opened.row.version:
                return
            self._known[opened.row.connection_id] = (asked_at, opened)
            self._known.move_to_end(opened.row.connection_id)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def remembered(self, connection_id: str) -> Opened | None:
        """Return what was read last, however long ago; None when that was unusable or nothing."""
        with self._lock:
            known = self._known.get(connection_id)
        return known[1] if known is not None else None

    def forget(self, connection_id: str) -> None:
        """Look again next time."""
        with self._lock:
            self._known.pop(connection_id, None)

    def _open(self, row: ConnectionRow | None) -> Opened:
        if row is None or row.deleted_at is not None:
            raise ConnectionUnusable("There is no such connection any more.")
        if row.state is ConnectionState.UNFINISHED:
            raise ConnectionUnusable(
                f"The connection {row.connection_name} is not finished: its account has not agreed yet."
            )
        if row.state is ConnectionState.BROKEN:
            raise ConnectionUnusable(f"The connection {row.connection_name} is broken: {row.message}")
        contents = unpack(row, self._keyring)
        return Opened(row, contents, read_fields(row, contents))
