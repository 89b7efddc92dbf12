"""Doing work: through the guarded client with a connection's credentials, or in the database. Thread-safe."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whenthen.clock import Deadline, now_ms
from whenthen.engine import digests, sheets, watching
from whenthen.engine.actions import Prepared, action_of, prepare, prepare_query, query_of
from whenthen.engine.connections.errors import ConnectionUnusable, RefreshFailed
from whenthen.engine.identity import idempotency_key
from whenthen.engine.masking import masked, secrets_of
from whenthen.engine.retry import NeverSent, Unanswered
from whenthen.engine.runs import Run
from whenthen.engine.targets import Targets, target_of
from whenthen.engine.wire import Sent, ask, perform
from whenthen.errors import FieldError
from whenthen.model.applet import QueryRef
from whenthen.net import GuardedClient, NotSent
from whenthen.services.contract import Action, Fields, Query
from whenthen.services.work import AddRow, Ask, Collect, FindRows, Meaning, Reading, Row, Send, Steps, Work
from whenthen.store.database import Database
from whenthen.store.errors import StoreError

if TYPE_CHECKING:
    from whenthen.engine.connections.accounts import Account, Accounts

logger = logging.getLogger(__name__)

UNFORESEEN = "Something unforeseen went wrong before anything was sent; the log says what."
_UNREAD = "The connection could not be read now; the log says why."
_UNFORESEEN_ON_THE_WAY = "Something unforeseen went wrong while the request was sent; the log says what."


@dataclass(frozen=True, slots=True)
class Ready[W: (Work, Ask | FindRows)]:
    """Work that is ready to be done, the connection that it takes, and how to prepare it with another account."""

    prepared: Prepared[W]
    account: "Account | None"
    build: Callable[[Fields | None], Prepared[W]]


class Performer:
    """Prepares and does the work of actions and queries.

    Parameters
    ----------
    database, client, accounts:
        What it works with.
    """

    def __init__(self, database: Database, client: GuardedClient, accounts: "Accounts") -> None:
        self._database = database
        self._client = client
        self._accounts = accounts
        self._targets = Targets(database)

    def prepare(self, run: Run, deadline: Deadline) -> Ready[Work] | Sent:
        """Return the run's next action ready to be done, or how it has failed already. Raises nothing."""
        try:
            return self._prepare(
                run,
                lambda: action_of(run.action),
                run.action.connection,
                lambda account: prepare(run, account),
                deadline,
            )
        except StoreError as error:
            # The key of its secrets may be all that is missing, and its neighbours in the batch need none.
            logger.error("a connection could not be read: %s", error, extra=watching.execution(run.execution_id))
            return Sent(NeverSent(permanent=False), _UNREAD, now_ms())

    def prepare_query(self, run: Run, reference: QueryRef, timeout_seconds: float) -> Ready[Ask | FindRows] | Sent:
        """Return a query of the run ready to be asked, or how it has failed already.

        Raises
        ------
        StoreError
            The database can't be asked for its connection.
        """
        return self._prepare(
            run,
            lambda: query_of(reference),
            reference.connection,
            lambda account: prepare_query(run, reference, account),
            Deadline(timeout_seconds),
        )

    def _prepare[W: (Work, Ask | FindRows)](
        self,
        run: Run,
        find: Callable[[], Action[Any] | Query[Any]],
        connection: str | None,
        build: Callable[[Fields | None], Prepared[W]],
        deadline: Deadline,
    ) -> Ready[W] | Sent:
        try:
            part = find()
            account = None
            if connection is not None:
                account = self._accounts.open(run.owner_id, connection, part.connects, deadline)
            elif part.connects and not part.may_connect:
                raise FieldError("connection", "is missing")
            return Ready(build(account.fields if account else None), account, build)
        except (FieldError, ConnectionUnusable) as error:
            return refused(str(error))
        except RefreshFailed as error:
            return Sent(NeverSent(permanent=False), str(error), now_ms())
        except StoreError:
            raise
        except Exception:
            # A fault of one service must not end its neighbours in the batch.
            logger.exception("could not be prepared", extra=watching.execution(run.execution_id))
            return refused(UNFORESEEN)

    def left_alone_until(self, run: Run, ready: Ready[Work] | Ready[Ask | FindRows]) -> int | None:
        """Return until when the host that the work calls wants to be left alone, epoch milliseconds, or None.

        Raises
        ------
        StoreError
            The database can't be asked.
        """
        work = ready.prepared.work
        if not isinstance(work, Send | Steps | Ask):
            return None
        return self._targets.left_alone_until(run.owner_id, target_of(work.request.url))

    def do(self, run: Run, ready: Ready[Work], timeout_seconds: float, left_seconds: float) -> Sent:
        """Do the work and say what happened. Raises nothing.

        A message for the inbox is not written here: it goes into the transaction that records the outcome.

        Parameters
        ----------
        timeout_seconds:
            The longest that the work itself may take.
        left_seconds:
            The longest that it may take with the wait for the host's turn.
        """
        deadline = Deadline(left_seconds)
        work = ready.prepared.work
        try:
            if isinstance(work, AddRow):
                key = idempotency_key(run.execution_id, run.step)
                deadline = Deadline(timeout_seconds)
                return self._in_database(lambda: sheets.add_row(self._database, run.owner_id, key, work, deadline))
            if isinstance(work, Collect):
                source, deadline = digests.Source.of(run), Deadline(timeout_seconds)
                return self._in_database(lambda: digests.collect(self._database, source, work, deadline))
            if isinstance(work, Send | Steps):
                return self._call(ready, lambda work: self._perform(run, work, timeout_seconds, deadline), deadline)
            return Sent(Reading(Meaning.SUCCEEDED), "", now_ms())
        except Exception:
            logger.exception("a request ended unforeseen", extra=watching.execution(run.execution_id))
            repeatable = not isinstance(work, Send | Steps) or work.repeatable
            return Sent(Unanswered(repeatable=repeatable), _UNFORESEEN_ON_THE_WAY, now_ms())

    def ask(
        self, run: Run, ready: Ready[Ask | FindRows], timeout_seconds: float, left_seconds: float
    ) -> tuple[Sent, list[Row]]:
        """Ask the query and return what happened and its rows. Parameters as of `do`. Raises nothing."""
        deadline = Deadline(left_seconds)
        rows: list[Row] = []

        def asked(work: Ask | FindRows) -> Sent:
            if isinstance(work, FindRows):
                return self._in_database(lambda: _found(rows, sheets.find_rows(self._database, run.owner_id, work)))
            target = target_of(work.request.url)
            try:
                with self._targets.calling(target, deadline.left() - timeout_seconds):
                    sent, found = ask(self._client, work, timeout_seconds=min(timeout_seconds, deadline.left()))
            except NotSent as error:
                return _not_our_turn(error)
            self._heed(run, target, sent)
            rows[:] = found
            return sent

        try:
            sent = self._call(ready, asked, deadline)
            return sent, masked(rows, sent.secrets)
        except Exception:
            logger.exception("a query ended unforeseen", extra=watching.execution(run.execution_id))
            return Sent(Unanswered(repeatable=True), _UNFORESEEN_ON_THE_WAY, now_ms()), []

    def _call[W: (Work, Ask | FindRows)](self, ready: Ready[W], call: Callable[[W], Sent], deadline: Deadline) -> Sent:
        """Do what `call` does; with fresh credentials once more when the account's are not accepted (R6)."""
        account = ready.account
        sent = _without_secrets(call(ready.prepared.work), account)
        if account is None:
            return sent
        if not _is_unauthorized(sent):
            if isinstance(sent.result, Reading) and sent.result.meaning is Meaning.SUCCEEDED:
                self._accounts.worked(account)
            return sent
        try:
            account = self._accounts.refused(account, sent.reason, deadline)
            if account is not None:
                sent = _without_secrets(call(ready.build(account.fields).work), account)
                if not _is_unauthorized(sent):
                    return sent
                self._accounts.broken(account, sent.reason, deadline)
        except (RefreshFailed, StoreError) as error:
            # It was refused, so nothing was done.
            logger.warning("a token could not be refreshed: %s", error)
            return replace(sent, result=NeverSent(permanent=False), reason=str(error))
        reason = f"{sent.reason} The connection is broken: connect it again, then run this again."
        return replace(sent, result=Reading(Meaning.FAILED), reason=reason)

    def _perform(self, run: Run, work: Work, timeout_seconds: float, deadline: Deadline) -> Sent:
        assert isinstance(work, Send | Steps)  # noqa: S101 (for the type checker: nothing else is called)
        target = target_of(work.request.url)
        try:
            # A wait must not shorten the request: one that is cut short has an unknown outcome.
            with self._targets.calling(target, deadline.left() - timeout_seconds):
                sent = perform(self._client, work, timeout_seconds=min(timeout_seconds, deadline.left()))
        except NotSent as error:
            return _not_our_turn(error)
        self._heed(run, target, sent)
        return sent

    def _heed(self, run: Run, target: str, sent: Sent) -> None:
        """Leave the target alone if it has said so."""
        match sent.result:
            case Reading(Meaning.RETRY, _, seconds) if seconds:
                self._targets.leave_alone(run.owner_id, target, seconds)

    def _in_database(self, write: Callable[[], Reading]) -> Sent:
        started_at = now_ms()
        try:
            reading = write()
        except StoreError as error:
            return Sent(Unanswered(repeatable=True), f"The database could not do it: {error}", started_at)
        return Sent(reading, reading.reason, started_at)


def _without_secrets(sent: Sent, account: "Account | None") -> Sent:
    secrets = secrets_of(account.fields if account else None)
    return replace(sent, reason=masked(sent.reason, secrets), secrets=secrets)


def _not_our_turn(error: NotSent) -> Sent:
    return Sent(NeverSent(permanent=False), f"Nothing was sent: {error}", now_ms())


def _found(rows: list[Row], found: Sequence[Row]) -> Reading:
    rows[:] = found
    return Reading(Meaning.SUCCEEDED)


def refused(reason: str) -> Sent:
    """Return that something can't be done, and nothing was sent."""
    return Sent(Reading(Meaning.FAILED), reason, now_ms())


def _is_unauthorized(sent: Sent) -> bool:
    return isinstance(sent.result, Reading) and sent.result.meaning is Meaning.UNAUTHORIZED
