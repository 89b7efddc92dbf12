"""The two sides of an execution's life: the tables it runs in, and the log it ends in, here or on another server."""

from dataclasses import dataclass

from whenthen.store.database import Database


@dataclass(frozen=True, slots=True)
class History:
    """Where executions are and where they go.

    Parameters
    ----------
    hot:
        The database of all that is under way.
    log:
        The database of the log, which may be the same object.
    copy_file:
        Path of a file on the log's host, inside its `copy_allowed_dirs`, that loads go through.
    """

    hot: Database
    log: Database
    copy_file: str

    @property
    def is_apart(self) -> bool:
        """Whether the log is on a server of its own."""
        return self.log is not self.hot
