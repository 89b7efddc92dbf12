"""Hosts that actions call and that want to be left alone by an owner for a while."""

from whenthen.store.database import Database
from whenthen.store.statements import Script, load

_S = load("targets")


def leave_alone(database: Database, target: str, until: int) -> None:
    """Write down that nothing calls the target before `until`, epoch milliseconds.

    Parameters
    ----------
    target:
        A key that stands for the owner, host and port.
    """
    script = Script().add(_S["insert_target"], target=target)
    database.execute(script.add(_S["leave_alone"], target=target, until=until).sql)


def list_left_alone(database: Database, now: int) -> dict[str, int]:
    """Return until when targets want to be left alone, epoch milliseconds, by their keys."""
    rows = database.execute(Script().add(_S["list_left_alone"], now=now).sql)
    return {str(row["target"]): int(row["left_alone_until"]) for row in rows}
