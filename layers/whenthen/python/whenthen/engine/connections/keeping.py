"""The owner's connections: made, changed, tried out and deleted."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from whenthen.clock import Deadline, now_ms
from whenthen.engine.connections.accounts import Accounts
from whenthen.engine.connections.checking import (
    check_given_again,
    check_oauth,
    kind_of,
    leads_elsewhere,
    validate_fields,
)
from whenthen.engine.connections.contents import TOKEN, Contents, Grant, pack, read_fields, unpack, unpack_for_owner
from whenthen.engine.connections.errors import ConnectionUnusable, RefreshFailed, SecretsShut
from whenthen.engine.connections.refreshing import Client
from whenthen.engine.connections.trying import Trial, try_out, with_trial
from whenthen.engine.connections.using import users_of
from whenthen.errors import FieldError, InUse, NotFound, Stale
from whenthen.model.applet import Name, Part, Slug
from whenthen.services.connecting import ConnectionType
from whenthen.store import connections as store
from whenthen.store.connections import ConnectionRow, ConnectionState
from whenthen.store.database import Database
from whenthen.store.errors import Duplicate
from whenthen.store.statements import Script
from whenthen.store.units import run_unit
from whenthen.vault import Keyring

_TIMEOUT_SECONDS = 20.0
_ID_BYTES = 16


class NewConnection(Part):
    """A connection as its owner asks for it. `oauth`: its token is to come from the service."""

    service: Slug
    name: Name
    fields: dict[str, Any] = Field(default_factory=dict)
    oauth: Annotated[bool, Field(strict=True)] = False


class ConnectionChange(Part):
    """What is to be another: fields that are left out keep their values."""

    name: Name | None = None
    fields: dict[str, Any] | None = None


class Connections:
    """All connections, as their owners deal with them.

    Parameters
    ----------
    database, keyring:
        Where connections are, and what seals them.
    client_factory:
        Makes the way to the services, when it is first needed.
    accounts:
        The same connections in use.
    """

    def __init__(
        self, database: Database, keyring: Keyring, client_factory: Callable[[], Client], accounts: Accounts
    ) -> None:
        self._database = database
        self._keyring = keyring
        self._client_factory = client_factory
        self._accounts = accounts

    @cached_property
    def _client(self) -> Client:
        return self._client_factory()

    def list_all(self, owner_id: str) -> list[ConnectionRow]:
        """Return the owner's connections, newest first."""
        return store.list_connections(self._database, owner_id)

    def get(self, owner_id: str, connection_id: str) -> ConnectionRow:
        """Return the owner's connection.

        Raises
        ------
        NotFound
            There is none, it is deleted, or it is another owner's.
        """
        row = store.find_connection(self._database, connection_id)
        if row is None or row.owner_id != owner_id or row.deleted_at is not None:
            raise NotFound("There is no such connection.")
        return row

    def create(self, owner_id: str, wanted: NewConnection) -> ConnectionRow:
        """Store a new connection after it was tried out; one that gets its token by OAuth is unfinished.

        Raises
        ------
        FieldError
            A field is wrong, or the service refuses the account.
        NotConfigured
            There is no key to seal secrets with.
        StoreError
            See `store.errors`.
        """
        kind = kind_of(wanted.service)
        fields = validate_fields(kind, wanted.fields)
        if wanted.oauth:
            check_oauth(kind, fields)
            fields = {**fields, TOKEN: ""}
        trial = Trial(ConnectionState.UNFINISHED) if wanted.oauth else self._try(kind, fields)
        now = now_ms()
        row = ConnectionRow(
            connection_id=secrets.token_hex(_ID_BYTES),
            owner_id=owner_id,
            service=wanted.service,
            connection_name=wanted.name,
            account_name=trial.account_name,
            shown="",
            sealed="",
            state=trial.state,
            failing_since=now if trial.state is ConnectionState.FAILING else None,
            message=trial.reason,
            version=1,
            claim="",
            lease_until=0,
            created_at=now,
            updated_at=now,
            deleted_at=None,
        )
        row = pack(row, Contents(fields, Grant() if wanted.oauth else None), self._keyring)
        script = Script()
        store.insert_connection(script, row)

        def unit() -> ConnectionRow:
            try:
                self._database.execute(script.sql)
            except Duplicate as error:
                # Ids are random: the row with ours is what a first try with an unknown outcome has written.
                if error.columns != ("connection_id",):
                    raise
            return row

        return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)

    def change(
        self, owner_id: str, connection_id: str, change: ConnectionChange, *, seen_version: int | None = None
    ) -> ConnectionRow:
        """Change a connection's name or fields; other fields are tried out first.

        Secrets that are left out keep their values, unless a field changes that says where they go: whoever has an API
        key must not be able to have them sent to a place of their own.

        Parameters
        ----------
        seen_version:
            The version that the caller has read, or None to change any.

        Raises
        ------
        FieldError
            As of `create`; or secrets have to be given again.
        NotFound
            See `get`.
        Stale
            The connection's version is not `seen_version`.
        """

        def changed(row: ConnectionRow) -> ConnectionRow:
            if change.name is not None:
                row = replace(row, connection_name=change.name)
            return row if change.fields is None else self._with_fields(row, change.fields)

        return self._change(owner_id, connection_id, changed, seen_version)

    def _with_fields(self, row: ConnectionRow, changes: Mapping[str, Any]) -> ConnectionRow:
        kind = kind_of(row.service)
        old = unpack_for_owner(row, self._keyring)
        fields = validate_fields(kind, {**old.fields, **changes})
        # A token that is given now is one by hand from now on.
        grant = None if changes.get(TOKEN) else old.grant
        moves = leads_elsewhere(kind, old.fields, fields)
        if moves:
            check_given_again(kind, old.fields, set(changes) | ({TOKEN} if grant is not None else set()))
        if grant is not None and moves:
            contents = Contents({**fields, TOKEN: ""}, Grant())
            return pack(replace(row, state=ConnectionState.UNFINISHED), contents, self._keyring)
        if grant is not None:
            # Its token is as it was, and may have ended; whoever uses it gets a new one.
            return pack(row, Contents(fields, grant), self._keyring)
        return pack(with_trial(row, self._try(kind, fields)), Contents(fields), self._keyring)

    def test(self, owner_id: str, connection_id: str) -> ConnectionRow:
        """Try a connection out now and return it with its new state.

        One that was changed meanwhile stays as it is: what was tried is not what it has now.

        Raises
        ------
        FieldError
            Its secrets don't open with the key that whenthen has now.
        NotFound
            See `get`.
        """
        row = self.get(owner_id, connection_id)
        if row.state is ConnectionState.UNFINISHED:
            return row
        kind = kind_of(row.service)
        version = row.version
        try:
            fields = read_fields(row, unpack(row, self._keyring))
            trial = try_out(self._client, kind, fields)
            if trial.is_unauthorized and row.state is not ConnectionState.BROKEN:
                trial, version = self._with_new_tokens(row, kind, trial)
        except SecretsShut as error:
            # With the right key it works as before, so nothing is written down.
            raise FieldError("fields", str(error)) from error
        except ConnectionUnusable as error:
            trial = Trial(ConnectionState.BROKEN, reason=str(error))
        except RefreshFailed as error:
            trial = Trial(ConnectionState.FAILING, reason=str(error))

        def changed(now: ConnectionRow) -> ConnectionRow:
            return with_trial(now, trial) if now.version == version else now

        return self._change(owner_id, connection_id, changed, None)

    def _with_new_tokens(self, row: ConnectionRow, kind: ConnectionType[Any], trial: Trial) -> tuple[Trial, int]:
        """Return how a trial with new tokens goes, and the version of the connection that has them."""
        account = self._accounts.open(row.owner_id, row.connection_id, row.service, Deadline(_TIMEOUT_SECONDS))
        renewed = self._accounts.refused(account, trial.reason, Deadline(_TIMEOUT_SECONDS))
        if renewed is None:
            return trial, account.version
        return try_out(self._client, kind, renewed.fields), renewed.version

    def delete(self, owner_id: str, connection_id: str, *, seen_version: int | None = None) -> None:
        """Delete a connection and forget its secrets.

        Raises
        ------
        InUse
            Applets use it.
        NotFound, Stale
            As of `change`.
        """

        def changed(row: ConnectionRow) -> ConnectionRow:
            if names := users_of(self._database, owner_id, connection_id):
                raise InUse(f"The connection is used by {', '.join(names)}.")
            return emptied(row)

        self._change(owner_id, connection_id, changed, seen_version)

    def _change(
        self,
        owner_id: str,
        connection_id: str,
        change: Callable[[ConnectionRow], ConnectionRow],
        seen_version: int | None,
    ) -> ConnectionRow:
        def unit() -> ConnectionRow:
            old = self.get(owner_id, connection_id)
            if seen_version is not None and old.version != seen_version:
                raise Stale("The connection has changed since it was read.")
            new = replace(change(old), updated_at=now_ms())
            script = Script()
            store.update_connection(script, new, seen_version=old.version)
            self._database.execute(script.sql)
            return replace(new, version=old.version + 1)

        try:
            return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)
        finally:
            self._accounts.forget(connection_id)

    def _try(self, kind: ConnectionType[Any], fields: Mapping[str, Any]) -> Trial:
        trial = try_out(self._client, kind, kind.fields.model_validate(dict(fields)))
        if trial.state is ConnectionState.BROKEN:
            path = f"fields.{TOKEN}" if trial.is_unauthorized and TOKEN in kind.fields.model_fields else "fields"
            raise FieldError(path, trial.reason)
        return trial


def emptied(row: ConnectionRow) -> ConnectionRow:
    """Return the row as it stays when the connection is deleted."""
    return replace(row, account_name="", shown="{}", sealed="", message="", deleted_at=now_ms())
