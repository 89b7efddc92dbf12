"""Work: what an action asks the engine to do, and what a service says about the answers it gets.

A service never does anything itself: it returns work, so that a dry run can show it and a crash can't repeat it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from whenthen.net.messages import Answer, Mail, MailAnswer, Request

if TYPE_CHECKING:
    from whenthen.services.schedules.slots import Scheduled


@dataclass(frozen=True, slots=True)
class Task[F]:
    """What an action or a query is asked to do.

    Parameters
    ----------
    fields:
        As the owner wrote them, with the templates rendered.
    key:
        The idempotency key, the same for every try (R5); unique for an execution and action.
    account:
        The fields of the connection, secrets included; None without a connection.
    occurred_at:
        When the event occurred, epoch milliseconds; the same for every try.
    zone:
        The owner's IANA time zone.
    """

    fields: F
    key: str
    account: Any = None
    occurred_at: int = 0
    zone: str = "UTC"


class Meaning(StrEnum):
    """What an answer means."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Refused, and another try would be, too."""
    RETRY = "retry"
    """Not now: another try may succeed."""
    UNAUTHORIZED = "unauthorized"
    """The connection's credentials were not accepted."""
    SKIPPED = "skipped"
    """The target says that this event will never work and is no failure."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer means, as its service reads it (F20: never by the status alone where the body says more).

    Parameters
    ----------
    reason:
        Why, in words for the owner, without secrets; empty when it succeeded.
    retry_after_seconds:
        How long the target wants to be left alone; 0 when it does not say.
    """

    meaning: Meaning
    reason: str = ""
    retry_after_seconds: float = 0.0


class Wire(Protocol):
    """The way out for work of several steps: what is sent is written down for the owner."""

    def send(self, request: Request, *, repeatable: bool = True, max_response_bytes: int | None = None) -> Answer:
        """Send a request through the guarded client and return the answer, whatever its status.

        Parameters
        ----------
        repeatable:
            Whether the same request may be sent again when no answer comes. If not, the action's outcome is
            ``unknown`` then.
        max_response_bytes:
            Most bytes of the answer's body, 1 MiB unless given; what is longer is cut.

        Raises
        ------
        NetError
            See `net.GuardedClient.send`. Let it through: the engine knows what it means.
        """
        ...

    def mail(self, mail: Mail) -> MailAnswer:
        """Give a mail to its server and return how that decided. Without an answer the action's outcome is ``unknown``.

        Raises
        ------
        NetError
            See `net.GuardedClient.mail`. Let it through: the engine knows what it means.
        """
        ...


def read_by_status(answer: Answer) -> Reading:
    """Read an answer by its HTTP status alone, see `services.answers.read_status`."""
    # Only who reads an answer needs the words.
    from whenthen.services.answers import read_status

    return read_status(answer)


@dataclass(frozen=True, slots=True)
class Send:
    """Work: send `request`.

    `repeatable` says that the target does nothing new when the same request comes again, so that one without
    an answer may be sent again (R6). `read` says what the answer means.
    """

    request: Request
    repeatable: bool
    read: Callable[[Answer], Reading] = read_by_status


@dataclass(frozen=True, slots=True)
class Steps:
    """Work: several requests, one after another.

    Parameters
    ----------
    request:
        What a dry run shows: the request that matters.
    run:
        Does the steps and says how it went. It raises `FieldError`, naming the field, for what can't be done, and
        lets `net.NetError` through.
    repeatable:
        Whether all of it may be done again after a crash in the middle.
    """

    request: Request
    run: Callable[[Wire], Reading]
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Notify:
    """Work: put a message in the owner's inbox, in the transaction that records the outcome."""

    title: str
    body: str
    link: str


@dataclass(frozen=True, slots=True)
class AddRow:
    """Work: add a row to one of the owner's tables, once for the task's key.

    `values` are texts by column; a column that the table does not have yet is added to it.
    """

    table: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Collect:
    """Work: keep an entry for a mail that is sent later with all that was collected, once for the task's key.

    Parameters
    ----------
    to, subject:
        Of the mail. Recipients are bare addresses, separated by commas.
    entry:
        Texts: `title`, `text` and `link`.
    identity:
        What makes it this mail and no other of the applet's, the time it is due at aside.
    schedule:
        When mails are due.
    """

    to: str
    subject: str
    entry: Mapping[str, str]
    identity: str
    schedule: "Scheduled"


type Work = Send | Steps | Notify | AddRow | Collect


type Row = Mapping[str, str]
"""A row that a query gives: texts by ingredient."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Work of a query: send `request` and read its rows.

    `read` returns the rows, newest first where there is an order, or a `Reading` that says why there are none. An
    empty list is an answer, too.
    """

    request: Request
    read: Callable[[Answer], Sequence[Row] | Reading]


@dataclass(frozen=True, slots=True)
class FindRows:
    """Work of a query: look in one of the owner's tables.

    Parameters
    ----------
    column, value:
        The rows whose `column` is `value`; an empty column for all.
    limit:
        How many rows at most, newest first.
    """

    table: str
    column: str
    value: str
    limit: int
