"""Trying a connection out: one request, or log-in, that changes nothing."""

from dataclasses import dataclass, replace

from whenthen.clock import now_ms
from whenthen.engine.connections.refreshing import Client
from whenthen.engine.masking import masked, secrets_of
from whenthen.model.encoding import one_line
from whenthen.model.values import without_surrogates
from whenthen.net.errors import NetError, NotSent
from whenthen.services.answers import shortened
from whenthen.services.connecting import ConnectionType, MailTest
from whenthen.services.contract import Fields
from whenthen.services.work import Meaning
from whenthen.store.connections import ConnectionRow, ConnectionState

_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Trial:
    """How a trial went.

    `state` is working, failing (nothing is known, since nobody answered as they should) or broken (refused).
    `account_name` is what the service calls the account, empty if it does not say. `reason` is in words for the owner,
    empty when it works. `is_unauthorized`: other credentials may do better.
    """

    state: ConnectionState
    account_name: str = ""
    reason: str = ""
    is_unauthorized: bool = False


def try_out[F: Fields](client: Client, kind: ConnectionType[F], fields: F) -> Trial:
    """Try the fields of a connection out; where there is nobody to ask, they count as working."""
    test = kind.test(fields)
    if test is None:
        return Trial(ConnectionState.WORKING)
    try:
        if isinstance(test, MailTest):
            read = test.read(client.mail(test.mail, timeout_seconds=_TIMEOUT_SECONDS))
        else:
            read = test.read(client.send(test.request, timeout_seconds=_TIMEOUT_SECONDS))
    except NetError as error:
        is_final = isinstance(error, NotSent) and not error.retryable
        state = ConnectionState.BROKEN if is_final else ConnectionState.FAILING
        return Trial(state, reason=f"The service could not be asked. {error}")
    # Whatever answers may say what can't be stored, and repeat what it was sent.
    said = masked(read if isinstance(read, str) else read.reason, secrets_of(fields))
    if isinstance(read, str):
        return Trial(ConnectionState.WORKING, shortened(said))
    return _trial(read.meaning, without_surrogates(one_line(said)))


def _trial(meaning: Meaning, reason: str) -> Trial:
    match meaning:
        case Meaning.SUCCEEDED:
            return Trial(ConnectionState.WORKING)
        case Meaning.RETRY:
            return Trial(ConnectionState.FAILING, reason=reason)
    return Trial(ConnectionState.BROKEN, reason=reason, is_unauthorized=meaning is Meaning.UNAUTHORIZED)


def with_trial(row: ConnectionRow, trial: Trial) -> ConnectionRow:
    """Return the row as a trial has found it."""
    works = trial.state is ConnectionState.WORKING
    since = row.failing_since if row.failing_since is not None else now_ms()
    return replace(
        row,
        state=trial.state,
        account_name=trial.account_name or row.account_name,
        failing_since=None if works else since,
        message=trial.reason,
    )
