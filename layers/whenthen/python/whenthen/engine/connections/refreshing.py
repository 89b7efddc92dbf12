"""New tokens for a connection: one worker at a time asks for them, and only a valid pair is written (R10).

What crosses a crash: the claim is a lease. Whoever gets it next asks with the refresh token that is stored. If that
was used by one that died before it wrote the answer, the service refuses it, and the connection is broken: nobody has
the newer one. The same holds for a request without an answer.
"""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import uuid_utils

from whenthen.clock import Deadline, now_ms
from whenthen.engine.connections.contents import TOKEN, Contents, Grant, connection_type, pack, read_fields
from whenthen.engine.connections.errors import ConnectionUnusable, RefreshFailed
from whenthen.engine.connections.marking import write_broken, write_failing
from whenthen.engine.connections.opened import Opened, OpenedConnections
from whenthen.engine.connections.tokens import NoTokens, Tokens, read_tokens, token_request
from whenthen.net.errors import NetError
from whenthen.net.messages import Answer, Mail, MailAnswer, Request
from whenthen.store.connections import (
    ConnectionRow,
    ConnectionState,
    claim_connection,
    find_connection,
    release_connection,
    update_connection,
)
from whenthen.store.database import Database
from whenthen.store.errors import StoreError
from whenthen.store.statements import Script
from whenthen.store.units import run_unit
from whenthen.vault import Keyring

REQUEST_SECONDS = 10.0
"""The longest that a token endpoint may take."""

LEASE_MS = 40_000
"""How long a claim holds: longer than a request and the writing of its answer."""

_WRITE_SECONDS = 10.0
_SHORTEST_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 15.0
_LOOKS_AGAIN_SECONDS = (0.1, 0.3)


class Client(Protocol):
    """The way to the network: `net.GuardedClient`."""

    def send(self, request: Request, *, timeout_seconds: float | None = None) -> Answer:
        """See `GuardedClient.send`."""
        ...

    def mail(self, mail: Mail, *, timeout_seconds: float | None = None) -> MailAnswer:
        """See `GuardedClient.mail`."""
        ...


class Refresher:
    """Gets new tokens.

    Parameters
    ----------
    database, keyring, opened:
        Where connections are.
    client_factory:
        Makes the way to the network.
    """

    def __init__(
        self, database: Database, keyring: Keyring, client_factory: Callable[[], Client], opened: OpenedConnections
    ) -> None:
        self._database = database
        self._keyring = keyring
        self._client_factory = client_factory
        self._opened = opened
        # Pairs that the database could not take, by connection. Nobody else has them.
        self._unwritten: dict[str, tuple[Contents, Tokens]] = {}

    @cached_property
    def _client(self) -> Client:
        return self._client_factory()

    def renew(self, old: Opened, deadline: Deadline) -> Opened:
        """Return the connection with newer tokens than those of `old`, got here or by somebody else.

        Raises
        ------
        ConnectionUnusable
            The service refuses for good: it is broken now. Or it is deleted meanwhile.
        RefreshFailed
            There are none to be had now.
        StoreError
            The database can't be asked now.
        """
        request = self._request(old)
        claim = str(uuid_utils.uuid7())
        row = self._claim(old, claim, deadline)
        while row is None or row.claim != claim:
            if row is None or row.version != old.row.version:
                current = self._opened.read(old.row.connection_id, deadline)
                if not current.contents.has_same_tokens(old.contents):
                    return current
                # Another name, for example, or another secret of the client.
                old, request = current, self._request(current)
                row = self._claim(old, claim, deadline)
            else:
                row = self._wait(old, row, claim, deadline)
        held = replace(old, row=row)
        found = self._take_unwritten(held) or self._ask(request, held, deadline)
        if isinstance(found, Tokens):
            return self._write(held, found)
        if found.is_final:
            return self._give_up(held, found.reason, deadline)
        self._opened.forget(row.connection_id)
        write_failing(self._database, row, found.reason, claim=claim)
        raise RefreshFailed(found.reason)

    def _claim(self, old: Opened, claim: str, deadline: Deadline) -> ConnectionRow | None:
        def unit() -> ConnectionRow | None:
            now = now_ms()
            until = now + LEASE_MS
            left = deadline.left()
            return claim_connection(
                self._database, old.row, claim=claim, now=now, lease_until=until, timeout_seconds=left
            )

        return run_unit(unit, deadline=deadline, repeatable=True)

    def _wait(self, old: Opened, row: ConnectionRow, claim: str, deadline: Deadline) -> ConnectionRow | None:
        """Return the row when another's claim on it has come to an end, claimed if that was by death.

        Raises
        ------
        RefreshFailed
            The other one got no tokens; or there is no time to wait.
        """
        patience = Deadline(min(deadline.left() - _SHORTEST_SECONDS, _LONGEST_WAIT_SECONDS))
        while patience.left():
            time.sleep(random.uniform(*_LOOKS_AGAIN_SECONDS))  # noqa: S311
            now = find_connection(self._database, row.connection_id, timeout_seconds=deadline.left())
            if now is None or now.version != row.version:
                return now
            if now.claim != row.claim:
                raise RefreshFailed(now.message or "New tokens can't be had now.")
            if now.lease_until <= now_ms():
                return self._claim(old, claim, deadline)
        raise RefreshFailed("Another worker is still getting new tokens.")

    def _request(self, opened: Opened) -> Request:
        kind = connection_type(opened.row.service)
        grant = opened.contents.grant
        if kind is None or kind.oauth is None or grant is None:
            raise ConnectionUnusable("The connection has no way to get new tokens.")
        return token_request(
            kind.oauth.token_url(opened.fields),
            opened.contents.fields,
            grant_type="refresh_token",
            refresh_token=grant.refresh_token,
        )

    def _take_unwritten(self, held: Opened) -> Tokens | None:
        """Return the pair that followed on the one that is stored, if the database could not take it."""
        before, tokens = self._unwritten.pop(held.row.connection_id, (None, None))
        return tokens if before is not None and before.has_same_tokens(held.contents) else None

    def _ask(self, request: Request, opened: Opened, deadline: Deadline) -> Tokens | NoTokens:
        timeout = min(REQUEST_SECONDS, deadline.left())
        try:
            answer = self._client.send(request, timeout_seconds=timeout)
        except NetError as error:
            return NoTokens(f"The service could not be asked for new tokens. {error}", is_final=False)
        grant = opened.contents.grant or Grant()
        return read_tokens(answer, now_ms(), {**opened.contents.fields, "refresh_token": grant.refresh_token})

    def _write(self, held: Opened, tokens: Tokens) -> Opened:
        """Write the new pair, unless somebody has logged in otherwise meanwhile; return what holds then."""

        def unit() -> Opened:
            current = self._current(held, deadline)
            if not current.contents.has_same_tokens(held.contents):
                self._release(held, deadline)
                return current
            contents = renewed(current.contents, tokens)
            working = replace(
                current.row, state=ConnectionState.WORKING, failing_since=None, message="", updated_at=now_ms()
            )
            row = pack(working, contents, self._keyring)
            script = Script()
            update_connection(script, row, seen_version=current.row.version)
            release_connection(script, row.connection_id, claim=held.row.claim)
            asked_at = time.monotonic()
            self._database.execute(script.sql, timeout_seconds=deadline.left())
            opened = Opened(replace(row, version=row.version + 1), contents, read_fields(row, contents))
            self._opened.remember(opened, asked_at)
            return opened

        # Whatever time the caller has left: the older pair may be worth nothing any more.
        deadline = Deadline(_WRITE_SECONDS)
        try:
            return run_unit(unit, deadline=deadline, repeatable=True)
        except StoreError:
            self._unwritten[held.row.connection_id] = held.contents, tokens
            raise

    def _give_up(self, held: Opened, reason: str, deadline: Deadline) -> Opened:
        """Mark the connection broken, unless somebody has got newer tokens: then return these (R10)."""

        def unit() -> Opened:
            current = self._current(held, deadline)
            if not current.contents.is_same_login(held.contents):
                self._release(held, deadline)
                return current
            write_broken(self._database, current.row, reason, deadline, claim=held.row.claim)
            self._opened.forget(held.row.connection_id)
            raise ConnectionUnusable(reason)

        return run_unit(unit, deadline=deadline, repeatable=True)

    def _current(self, held: Opened, deadline: Deadline) -> Opened:
        try:
            return self._opened.read(held.row.connection_id, deadline)
        except ConnectionUnusable:
            self._release(held, deadline)
            raise

    def _release(self, held: Opened, deadline: Deadline) -> None:
        script = Script()
        release_connection(script, held.row.connection_id, claim=held.row.claim)
        self._database.execute(script.sql, timeout_seconds=deadline.left())


def renewed(contents: Contents, tokens: Tokens) -> Contents:
    """Return the contents with a new pair; the older refresh token stays when no other came (RFC 6749 section 6).

    So does an authorization that has been started: the person is still on the way.
    """
    old = contents.grant or Grant()
    grant = Grant(tokens.refresh_token or old.refresh_token, tokens.renew_at, tokens.expires_at, old.pending)
    return Contents({**contents.fields, TOKEN: tokens.access_token}, grant)
