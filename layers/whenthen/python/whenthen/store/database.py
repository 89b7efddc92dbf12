"""Connections to Alopex: a server over HTTP, or the engine inside this process. One interface for both."""

import re
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import alopex
from alopex import AlopexError  # type: ignore[attr-defined]  # exported, but not in its stubs

from whenthen.metrics import Metric, count
from whenthen.store.errors import (
    Backpressure,
    Conflict,
    Duplicate,
    GuardFailed,
    LogFull,
    MissingTable,
    OutcomeUnknown,
    ScriptTooLong,
    StatementTimeout,
    StoreError,
    Unauthorized,
    Unreachable,
)

type Rows = list[dict[str, Any]]

DEFAULT_TIMEOUT_SECONDS = 10.0

_COLUMNS = re.compile(r"(?:PRIMARY KEY|UNIQUE) constraint violated on (?:index: \w+, )?columns: \[([^\]]*)\]")
_NULL_COLUMN = re.compile(r"NOT NULL constraint violated on column: (\w+)")
_TOO_LONG = re.compile(r"expected (?:bounded MessagePack AST|SQL input at most)")
_TABLE = re.compile(r"table '([^']+)' not found")


class Database(Protocol):
    """A place that runs scripts."""

    @property
    def embedded(self) -> bool:
        """Whether the engine runs inside this process."""
        ...

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        """Run `sql` (one or more statements) as one transaction and return the rows of the last statement.

        Parameters
        ----------
        sql:
            The text of a `Script`.
        timeout_seconds:
            How long to wait for the answer; the embedded engine can't be interrupted and ignores it.

        Raises
        ------
        StoreError
            One of the classes in `store.errors`.
        """
        ...

    def close(self) -> None:
        """Give the connections back. May be called twice."""
        ...


class ServerDatabase:
    """An alopex-server behind its front.

    A connection of the client serves one request at a time, so there is a pool, last used first.

    Parameters
    ----------
    url:
        ``https://host`` or, on loopback only, ``http://host:port``.
    api_key:
        The server's shared key, or None.
    ca_file:
        PEM file of a private authority that signed the server's certificate, or None for the system's.
    read_key_again:
        Returns the key as it is now; asked once when the server refuses `api_key`, which may have been changed.

    Raises
    ------
    ValueError
        The client refuses the URL (ALOPEX-PY205), for example plain http to another host.
    """

    embedded = False

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        ca_file: Path | None = None,
        read_key_again: Callable[[], str] | None = None,
    ) -> None:
        self._url = url
        self._read_key_again = read_key_again
        self._key = api_key
        self._options: dict[str, Any] = {}
        if ca_file is not None:
            self._options["ssl_context"] = ssl.create_default_context(cafile=ca_file)
        # Keys and connections. The first is made here, so that a bad URL is told at once; it opens no socket.
        self._idle: deque[tuple[str | None, Any]] = deque()
        self._idle.append((api_key, self._take(api_key)))

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:
        """See `Database.execute`."""
        key = self._key
        try:
            return self._execute(sql, timeout_seconds, key)
        except Unauthorized:
            if self._read_key_again is None:
                raise
            fresh = self._read_key_again()
            if fresh == key:
                raise
        self._key = fresh
        return self._execute(sql, timeout_seconds, fresh)

    def _execute(self, sql: str, timeout_seconds: float, key: str | None) -> Rows:
        connection = self._take(key)
        with _translated_errors():
            try:
                result = connection.execute_sql(sql, timeout=max(timeout_seconds, 0.001))
            finally:
                self._idle.append((key, connection))
        return result if isinstance(result, list) else []

    def _take(self, key: str | None) -> Any:
        """Return an idle connection that has `key`, or a new one; those with an older key are closed."""
        while self._idle:
            try:
                used_key, connection = self._idle.pop()
            except IndexError:
                break
            if used_key == key:
                return connection
            connection.close()
        return alopex.connect(self._url, api_key=key, **self._options)

    def close(self) -> None:
        """See `Database.close`."""
        while self._idle:
            self._idle.pop()[1].close()


class EmbeddedDatabase:
    """The engine inside this process. One process per path.

    One lock guards every call: overlapping writers of one process conflict (ALOPEX.md 7).

    Parameters
    ----------
    target:
        ``:memory:`` or a path.
    """

    embedded = True

    def __init__(self, target: str) -> None:
        self._lock = threading.Lock()
        self._target = target
        with _translated_errors():
            self._connection: Any = alopex.connect(target)

    def execute(self, sql: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Rows:  # noqa: ARG002
        """See `Database.execute`."""
        with self._lock, _translated_errors():
            result = self._connection.execute_sql(sql)
        return result if isinstance(result, list) else []

    def close(self) -> None:
        """See `Database.close`. Empties the write-ahead log into the file."""
        with self._lock:
            if self._connection is not None and self._target != ":memory:":
                self._connection.flush()
                self._connection.close()
            self._connection = None


def connect(
    target: str,
    *,
    api_key: str | None = None,
    ca_file: Path | None = None,
    read_key_again: Callable[[], str] | None = None,
) -> Database:
    """Return the database at `target`: a server's URL, a path, or ``:memory:``. Opens no socket yet.

    The other parameters are those of `ServerDatabase`.
    """
    if target.startswith(("http://", "https://")):
        return ServerDatabase(target, api_key=api_key, ca_file=ca_file, read_key_again=read_key_again)
    return EmbeddedDatabase(target)


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except AlopexError as error:
        translated = translate(error)
        _count(translated)
        raise translated from error


def _count(error: StoreError) -> None:
    match error:
        case Duplicate() | GuardFailed() | MissingTable() | ScriptTooLong():
            # Answers to what was asked.
            return
        case Conflict():
            count(Metric.CONFLICTS)
        case Backpressure():
            count(Metric.BACKPRESSURE)
        case Unreachable():
            count(Metric.UNREACHABLE)
        case _:
            count(Metric.DATABASE_ERRORS)


def translate(error: Exception) -> StoreError:
    """Return the client's `error` as ours. The codes are the client's and the server's (ALOPEX.md 6)."""
    code = str(getattr(error, "code", ""))
    message = str(error)
    if columns := _COLUMNS.search(message):
        return Duplicate(tuple(name.strip(' "') for name in columns[1].split(",")))
    if column := _NULL_COLUMN.search(message):
        return GuardFailed(column[1])
    if "division by zero" in message:
        # Nothing divides but the guard of a trigger's revision.
        return GuardFailed("revision")
    if table := _TABLE.search(message):
        return MissingTable(table[1])
    if "WAL buffer is full" in message:
        return LogFull()
    if _TOO_LONG.search(message):
        return ScriptTooLong()
    status = getattr(error, "http_status", None)
    match code:
        case "ALOPEX-S001" | "ALOPEX-PY104":
            return Conflict()
        case "SERVER_BACKPRESSURE":
            return Backpressure()
        case "QUERY_TIMEOUT":
            return StatementTimeout()
        # The front's own words (ops/alopex/nginx.conf.template).
        case "FRONT_NOT_SENT":
            return Unreachable()
        case "FRONT_OUTCOME_UNKNOWN":
            return OutcomeUnknown()
        case "FRONT_BODY_TOO_LARGE":
            return ScriptTooLong()
        case "ALOPEX-PY202":
            # A timeout while connecting sent nothing; the client tells the two apart by message alone.
            return Unreachable() if message.startswith("connecting to") else OutcomeUnknown()
        case "ALOPEX-PY201":
            return Unreachable() if message.startswith("could not connect") else OutcomeUnknown()
        case "UNAUTHORIZED":
            return Unauthorized()
        case "ALOPEX-PY203" if message.startswith("server returned HTTP 50"):
            return _front_error(message)
    if status == 408:
        return StatementTimeout()
    return StoreError(f"{code}: {message}")


def _front_error(message: str) -> StoreError:
    # Another proxy than ours, for a server that is gone: 502 can come after the request was passed on, 503 before.
    return Unreachable() if message.startswith("server returned HTTP 503") else OutcomeUnknown()
