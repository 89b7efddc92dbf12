"""Which of an owner's applets use a connection."""

from whenthen.engine.applets import parse
from whenthen.engine.connections.referring import connections_of
from whenthen.engine.digests import collecting_with
from whenthen.model.applet import Applet
from whenthen.store.applets import list_applets
from whenthen.store.database import Database


def applets_using(database: Database, owner_id: str, connection_id: str) -> list[tuple[str, Applet]]:
    """Return the owner's applets, on or off, that use the connection, with their ids; newest first."""
    applets = [(row.applet_id, parse(row)) for row in list_applets(database, owner_id)]
    return [(identifier, applet) for identifier, applet in applets if connection_id in connections_of(applet)]


def users_of(database: Database, owner_id: str, connection_id: str) -> list[str]:
    """Return the names of the owner's applets, on or off, that use the connection, and of mails that still collect."""
    names = {applet.name for _, applet in applets_using(database, owner_id, connection_id)}
    return sorted(names) + sorted(
        f"the digest “{subject}”" for subject in collecting_with(database, owner_id, connection_id)
    )
