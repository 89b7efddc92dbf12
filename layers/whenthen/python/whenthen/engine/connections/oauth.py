"""The authorization flow: an owner lets whenthen use their account (RFC 6749 4.1 with PKCE, RFC 7636).

The `state` that goes through the browser is the connection's id and a random nonce. It works once, and for ten minutes;
what belongs to it is sealed in the connection's row.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from whenthen.clock import Deadline, now_ms
from whenthen.engine.connections.accounts import Accounts
from whenthen.engine.connections.checking import leads_elsewhere
from whenthen.engine.connections.contents import (
    Contents,
    Pending,
    connection_type,
    pack,
    read_fields,
    unpack_for_owner,
)
from whenthen.engine.connections.errors import ConnectionUnusable
from whenthen.engine.connections.keeping import Connections
from whenthen.engine.connections.refreshing import REQUEST_SECONDS, Client, renewed
from whenthen.engine.connections.tokens import NoTokens, Tokens, read_tokens, token_request
from whenthen.engine.connections.trying import Trial, try_out, with_trial
from whenthen.errors import FieldError, WhenthenError
from whenthen.net.errors import NetError
from whenthen.services.connecting import ConnectionType, OAuth
from whenthen.services.contract import Fields
from whenthen.store.connections import ConnectionRow, ConnectionState, find_connection, update_connection
from whenthen.store.database import Database
from whenthen.store.statements import Script
from whenthen.store.units import run_unit
from whenthen.vault import Keyring

VALID_MS = 10 * 60_000
"""How long a started authorization waits for the person."""

_NONCE_BYTES = 24
_VERIFIER_BYTES = 48
_TIMEOUT_SECONDS = 15.0
_STATE = re.compile(r"([0-9a-f]{32})\.([A-Za-z0-9_-]{1,64})")


class NotAuthorized(WhenthenError):
    """This link does not work any more. Start again in whenthen."""


@dataclass(frozen=True, slots=True)
class _Started:
    """An authorization that came back: `row` and `contents` are without it."""

    row: ConnectionRow
    contents: Contents
    fields: Fields
    oauth: OAuth[Fields]
    pending: Pending


class Authorizations:
    """Starts authorizations and finishes them.

    Parameters
    ----------
    database, keyring, client_factory:
        What it works with.
    connections, accounts:
        The same connections for their owners and in use.
    """

    def __init__(
        self,
        database: Database,
        keyring: Keyring,
        client_factory: Callable[[], Client],
        connections: Connections,
        accounts: Accounts,
    ) -> None:
        self._database = database
        self._keyring = keyring
        self._client_factory = client_factory
        self._connections = connections
        self._accounts = accounts

    @cached_property
    def _client(self) -> Client:
        return self._client_factory()

    def start(self, owner_id: str, connection_id: str, redirect_uri: str) -> tuple[ConnectionRow, str]:
        """Return the connection, and the URL to which the person has to go. One that was started before is void.

        Parameters
        ----------
        redirect_uri:
            Where the service sends the person back to; it has to be known there.

        Raises
        ------
        FieldError
            The connection has no OAuth.
        NotFound
            See `Connections.get`.
        """
        pending = Pending(
            nonce=secrets.token_urlsafe(_NONCE_BYTES),
            verifier=secrets.token_urlsafe(_VERIFIER_BYTES),
            redirect_uri=redirect_uri,
            expires_at=now_ms() + VALID_MS,
        )

        def unit() -> tuple[ConnectionRow, str]:
            row = self._connections.get(owner_id, connection_id)
            contents = unpack_for_owner(row, self._keyring)
            kind = connection_type(row.service)
            if contents.grant is None or kind is None or kind.oauth is None:
                raise FieldError("oauth", "the connection has a token that was given by hand")
            fields = read_fields(row, contents)
            return self._write(row, contents.with_pending(pending)), _authorize_url(kind.oauth, fields, row, pending)

        return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)

    def finish(self, parameters: Mapping[str, str]) -> ConnectionRow:
        """Take what the service sends back through the person's browser, and return the connection with its tokens.

        Parameters
        ----------
        parameters:
            Of the callback's query: `state`, and `code` or `error`.

        Raises
        ------
        NotAuthorized
            It was not started, or too long ago, or came before; or the person or the service said no.
        StoreError
            See `store.errors`.
        """
        started = self._take(parameters.get("state", ""))
        if parameters.get("error") == "access_denied":
            raise NotAuthorized("Access was not allowed. Nothing has changed.")
        code = parameters.get("code", "")
        if not code:
            raise NotAuthorized("The service gave no access. Start again in whenthen.")
        tokens = self._exchange(started, code)
        contents = renewed(started.contents, tokens)
        kind = connection_type(started.row.service)
        if kind is None:
            raise NotAuthorized
        try:
            trial = try_out(self._client, kind, read_fields(started.row, contents))
        except ConnectionUnusable as error:
            raise NotAuthorized(str(error)) from error
        if trial.state is ConnectionState.BROKEN:
            raise NotAuthorized(f"The account can't be used. {trial.reason}")
        return self._keep(started, kind, tokens, trial)

    def _take(self, state: str) -> _Started:
        """Return the authorization that `state` belongs to, and let it belong to none: who comes second is refused."""
        match = _STATE.fullmatch(state)
        if match is None:
            raise NotAuthorized
        connection_id, nonce = match.groups()

        def unit() -> _Started:
            row = find_connection(self._database, connection_id)
            if row is None or row.deleted_at is not None:
                raise NotAuthorized
            contents = unpack_for_owner(row, self._keyring)
            kind = connection_type(row.service)
            pending = contents.grant.pending if contents.grant is not None else None
            if kind is None or kind.oauth is None or pending is None:
                raise NotAuthorized
            if not hmac.compare_digest(pending.nonce.encode(), nonce.encode()) or pending.expires_at < now_ms():
                raise NotAuthorized
            fields = read_fields(row, contents)
            contents = contents.with_pending(None)
            return _Started(self._write(row, contents), contents, fields, kind.oauth, pending)

        try:
            return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=False)
        except (ConnectionUnusable, FieldError) as error:
            raise NotAuthorized(str(error)) from error

    def _exchange(self, started: _Started, code: str) -> Tokens:
        fields = started.contents.fields
        request = token_request(
            started.oauth.token_url(started.fields),
            fields,
            grant_type="authorization_code",
            code=code,
            redirect_uri=started.pending.redirect_uri,
            code_verifier=started.pending.verifier,
        )
        try:
            answer = self._client.send(request, timeout_seconds=REQUEST_SECONDS)
        except NetError as error:
            raise NotAuthorized(
                f"The service could not be asked for a token. {error} Start again in whenthen."
            ) from error
        found = read_tokens(answer, now_ms(), {**fields, "code": code, "verifier": started.pending.verifier})
        if isinstance(found, NoTokens):
            raise NotAuthorized(f"{found.reason} Start again in whenthen.")
        return found

    def _keep(self, started: _Started, kind: ConnectionType[Any], tokens: Tokens, trial: Trial) -> ConnectionRow:
        """Write the new pair over whatever the connection has by now, since it is the newest consent.

        Unless the connection leads elsewhere by now: another service must not get to see them.
        """

        def unit() -> ConnectionRow:
            row = self._connections.get(started.row.owner_id, started.row.connection_id)
            contents = unpack_for_owner(row, self._keyring)
            if leads_elsewhere(kind, started.contents.fields, contents.fields):
                raise NotAuthorized
            return self._write(with_trial(row, trial), renewed(contents, tokens))

        return run_unit(unit, deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)

    def _write(self, row: ConnectionRow, contents: Contents) -> ConnectionRow:
        new = replace(pack(row, contents, self._keyring), updated_at=now_ms())
        script = Script()
        update_connection(script, new, seen_version=row.version)
        self._database.execute(script.sql)
        self._accounts.forget(row.connection_id)
        return replace(new, version=row.version + 1)


def _authorize_url(oauth: OAuth[Fields], fields: Fields, row: ConnectionRow, pending: Pending) -> str:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(pending.verifier.encode()).digest()).rstrip(b"=").decode()
    parts = urlsplit(oauth.authorize_url(fields))
    parameters = {
        **dict(parse_qsl(parts.query, keep_blank_values=True)),
        **oauth.extra,
        "response_type": "code",
        "client_id": str(fields.model_dump()["client_id"]),
        "redirect_uri": pending.redirect_uri,
        **({"scope": oauth.scope} if oauth.scope else {}),
        "state": f"{row.connection_id}.{pending.nonce}",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    return parts._replace(query=urlencode(parameters)).geturl()
