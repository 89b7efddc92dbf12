"""What happens on the wire while work is done, told so that the retry policy and the owner understand it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from whenthen.clock import Deadline, now_ms
from whenthen.engine.retry import NeverSent, Result, Unanswered
from whenthen.errors import FieldError
from whenthen.model.encoding import one_line
from whenthen.model.values import without_surrogates
from whenthen.net import Answer, GuardedClient, Mail, MailAnswer, NetError, NoAnswer, NotSent, RedirectRefused, Request
from whenthen.services.work import Ask, Meaning, Reading, Row, Send, Steps, Wire


@dataclass(frozen=True, slots=True)
class Sent:
    """What happened on the wire. `started_at` is in epoch milliseconds, `request` the last one that was tried.

    `secrets` are those of the connection, which nobody is to see.
    """

    result: Result
    reason: str
    started_at: int
    request: Request | None = None
    answer: Answer | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)


class _Recorder:
    """The `Wire` of one action: remembers the last exchange, and whether a request that can't be repeated is lost."""

    def __init__(self, client: GuardedClient, deadline: Deadline) -> None:
        self._client = client
        self._deadline = deadline
        self.request: Request | None = None
        self.answer: Answer | None = None
        self.is_lost = False

    def send(self, request: Request, *, repeatable: bool = True, max_response_bytes: int | None = None) -> Answer:
        self.request, self.answer = request, None
        try:
            self.answer = self._client.send(
                request, timeout_seconds=self._deadline.left(), max_response_bytes=max_response_bytes
            )
        except NotSent:
            raise
        except RedirectRefused:
            raise
        except NetError:
            self.is_lost = self.is_lost or not repeatable
            raise
        return self.answer

    def mail(self, mail: Mail) -> MailAnswer:
        place = f"smtp://{mail.host}:{mail.port}"
        self.request, self.answer = Request("MAIL", place, body=mail.content), None
        try:
            answer = self._client.mail(mail, timeout_seconds=self._deadline.left())
        except NoAnswer:
            self.is_lost = True
            raise
        self.answer = Answer(answer.code, {}, answer.said.encode(), place)
        return answer


def perform(client: GuardedClient, work: Send | Steps, *, timeout_seconds: float) -> Sent:
    """Do the work and say what happened, in words for the owner. Raises nothing that the wire can cause.

    Parameters
    ----------
    timeout_seconds:
        Time for all requests together.
    """

    def run(wire: Wire) -> Reading:
        if isinstance(work, Send):
            return work.read(wire.send(work.request, repeatable=work.repeatable))
        return work.run(wire)

    return _perform(client, run, timeout_seconds)


def ask(client: GuardedClient, work: Ask, *, timeout_seconds: float) -> tuple[Sent, list[Row]]:
    """Ask a query and return what happened and its rows; none when it failed. Parameters as of `perform`."""
    rows: list[Row] = []

    def run(wire: Wire) -> Reading:
        read = work.read(wire.send(work.request))
        if isinstance(read, Reading):
            return read
        rows.extend(read)
        return Reading(Meaning.SUCCEEDED)

    return _perform(client, run, timeout_seconds), rows


def _perform(client: GuardedClient, run: Callable[[Wire], Reading], timeout_seconds: float) -> Sent:
    started_at = now_ms()
    wire = _Recorder(client, Deadline(timeout_seconds))
    try:
        reading = run(wire)
        result: Result = reading
        reason = reading.reason
    except NotSent as error:
        result, reason = NeverSent(permanent=not error.retryable), f"Nothing was sent: {error}"
    except NoAnswer as error:
        result, reason = Unanswered(repeatable=not wire.is_lost), f"The request was sent and no answer came: {error}"
    except RedirectRefused as error:
        result = Reading(Meaning.FAILED)
        reason = f"A redirect was refused: {error}"
    except NetError as error:
        result, reason = Unanswered(repeatable=not wire.is_lost), f"The request failed: {error}"
    except FieldError as error:
        result, reason = Reading(Meaning.FAILED), str(error)
    # JSON can spell what the database refuses: then neither this outcome nor those beside it would be recorded.
    reason = without_surrogates(one_line(reason))
    return Sent(result, reason, started_at, wire.request, wire.answer)
