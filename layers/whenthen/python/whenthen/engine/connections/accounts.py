"""Connections in use: opened for an action or a check, and what their answers say about them."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from whenthen.clock import Deadline, now_ms
from whenthen.engine.connections.contents import TOKEN
from whenthen.engine.connections.errors import ConnectionUnusable, RefreshFailed
from whenthen.engine.connections.marking import write_broken
from whenthen.engine.connections.opened import Opened, OpenedConnections
from whenthen.engine.connections.refreshing import Client, Refresher
from whenthen.services.contract import Fields
from whenthen.store.connections import ConnectionState, mark_working
from whenthen.store.database import Database
from whenthen.store.errors import StoreError
from whenthen.store.statements import Script
from whenthen.store.units import run_unit
from whenthen.vault import Keyring

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Account:
    """A connection, open for use.

    `fields` are those of its service's connections, secrets included. `version` and `is_failing` are as it was read.
    """

    connection_id: str
    owner_id: str
    service: str
    fields: Fields = field(repr=False)
    version: int
    is_failing: bool = False


class Accounts:
    """All connections. Safe to share between threads.

    Parameters
    ----------
    database, keyring:
        Where connections are, and what opens them.
    client_factory:
        Makes the way to the services' token endpoints, when it is first needed.
    """

    def __init__(self, database: Database, keyring: Keyring, client_factory: Callable[[], Client]) -> None:
        self._database = database
        self._opened = OpenedConnections(database, keyring)
        self._refresher = Refresher(database, keyring, client_factory, self._opened)

    def open(self, owner_id: str, connection_id: str, service: str, deadline: Deadline) -> Account:
        """Return the owner's connection to `service`, with new tokens if its own are about to end (F09).

        Raises
        ------
        ConnectionUnusable
            It is deleted, broken, unfinished, of another owner or service, or can't be opened.
        RefreshFailed
            Its tokens have ended, and new ones can't be had now.
        StoreError
            The database can't be asked now.
        """
        if self._opened.get(connection_id, deadline).row.owner_id != owner_id:
            raise ConnectionUnusable("There is no such connection any more.")
        return self.find(connection_id, service, deadline)

    def find(self, connection_id: str, service: str, deadline: Deadline) -> Account:
        """Return the connection to `service` whoever owns it. Raises as `open`."""
        opened = self._opened.get(connection_id, deadline)
        if opened.row.service != service:
            raise ConnectionUnusable(f"The connection {opened.row.connection_name} is not one of {service}.")
        grant = opened.contents.grant
        if grant is not None and grant.refresh_token and 0 < grant.renew_at <= now_ms():
            opened = self._renew(opened, grant.expires_at, deadline)
        return _account(opened)

    def peek(self, owner_id: str, connection_id: str, service: str, deadline: Deadline) -> Account:
        """Return the owner's connection as it is, without asking for new tokens. Raises as `open`."""
        opened = self._opened.get(connection_id, deadline)
        if opened.row.owner_id != owner_id or opened.row.service != service:
            raise ConnectionUnusable("There is no such connection any more.")
        return _account(opened)

    def remembered(self, connection_id: str, service: str) -> Account | None:
        """Return the connection as it was read last in this process, for when the database can't be asked; or None."""
        opened = self._opened.remembered(connection_id)
        return _account(opened) if opened is not None and opened.row.service == service else None

    def refused(self, account: Account, reason: str, deadline: Deadline) -> Account | None:
        """Return the account to try once more with after its credentials were not accepted; None: it is broken now.

        New tokens are asked for once, by one worker at a time; if somebody else has got newer ones since the account
        was opened, these are returned. A connection without OAuth is broken at once.

        Parameters
        ----------
        reason:
            What the service has said, in words for the owner.

        Raises
        ------
        RefreshFailed
            New tokens can't be had now. The connection is failing; another try may do better.
        StoreError
            The database can't be asked now.
        """
        with suppress(ConnectionUnusable):
            opened = self._opened.read(account.connection_id, deadline)
            grant = opened.contents.grant
            # Other fields than the token say nothing of it.
            if grant is not None and grant.refresh_token and _token(opened.fields) == _token(account.fields):
                return _account(self._refresher.renew(opened, deadline))
            if opened.fields != account.fields:
                return _account(opened)
        self.broken(account, reason, deadline)
        return None

    def broken(self, account: Account, reason: str, deadline: Deadline) -> None:
        """Mark the connection broken and tell its owner, unless it has other credentials by now.

        Raises
        ------
        StoreError
            The database can't be asked now.
        """

        def unit() -> None:
            opened = self._opened.read(account.connection_id, deadline)
            if opened.fields == account.fields:
                write_broken(self._database, opened.row, reason, deadline)

        with suppress(ConnectionUnusable):
            run_unit(unit, deadline=deadline, repeatable=True)
        self._opened.forget(account.connection_id)

    def worked(self, account: Account) -> None:
        """Note that the account was accepted. Costs nothing unless the connection was failing."""
        if not account.is_failing:
            return
        script = Script()
        mark_working(script, account.connection_id, version=account.version)
        try:
            run_unit(lambda: self._database.execute(script.sql), deadline=Deadline(1), repeatable=True)
        except StoreError as error:
            # What was done with it counts; the next time says so again.
            logger.warning("a connection's state could not be recorded: %s", error)
        self._opened.forget(account.connection_id)

    def forget(self, connection_id: str) -> None:
        """Look at the connection again next time: its owner has changed it."""
        self._opened.forget(connection_id)

    def _renew(self, opened: Opened, expires_at: int, deadline: Deadline) -> Opened:
        try:
            return self._refresher.renew(opened, deadline)
        except RefreshFailed:
            if now_ms() < expires_at:
                return opened
            raise


def _token(fields: Fields) -> object:
    return getattr(fields, TOKEN, None)


def _account(opened: Opened) -> Account:
    row = opened.row
    return Account(
        row.connection_id, row.owner_id, row.service, opened.fields, row.version, row.state is ConnectionState.FAILING
    )
