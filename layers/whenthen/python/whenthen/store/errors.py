"""What the database can answer besides success, told apart by what the caller may do next."""

from whenthen.errors import WhenthenError


class StoreError(WhenthenError):
    """Unexpected database error."""


class Conflict(StoreError):
    """Another transaction changed the same rows; nothing was written. Run the whole unit again."""


class Backpressure(StoreError):
    """The database's queue is full; nothing was written. Try again with jitter."""


class Unreachable(StoreError):
    """No connection to the database; nothing was sent."""


class OutcomeUnknown(StoreError):
    """The request was sent and no answer came: it may have been written. Repeat only what is idempotent."""


class StatementTimeout(OutcomeUnknown):
    """The database gave up waiting for the statement, which may still be running (ALOPEX.md 2)."""


class Duplicate(StoreError):
    """A primary key or unique constraint refused the whole script.

    Parameters
    ----------
    columns:
        Names of the key's columns. Each table has its own key column name, so they name the table.
    """

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        super().__init__(f"a row with this {', '.join(columns) or 'key'} exists already")


class GuardFailed(StoreError):
    """A row is not as it was when it was read, and the whole script was refused.

    Scripts guard a row by writing NULL into a NOT NULL column, or dividing by zero, when its revision differs:
    a WHERE on anything but the key would scan (ALOPEX.md 4).
    """

    def __init__(self, column: str) -> None:
        self.column = column
        super().__init__(f"the row guarded by {column} has changed")


class MissingTable(StoreError):
    """A table does not exist."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(f"table {table} does not exist")


class Unauthorized(StoreError):
    """The database refused the API key: check ALOPEX_API_KEY."""


class LogFull(StoreError):
    """The database's write-ahead log is full: run an export to free it (ALOPEX.md 9)."""


class InvalidText(StoreError):
    """A text can't be stored: it holds a NUL character or a lone surrogate."""


class ScriptTooLong(StoreError):
    """The script is longer than the database takes in one request (1 MiB, or about 60,000 parts)."""


class NotReady(StoreError):
    """The database can't be used as it is; the message says what to do."""
