"""What happens on the wire while work is done, told so that the retry policy and the owner understand it."""

from dataclasses import dataclass

from whenthen.clock import Deadline, now_ms
from whenthen.engine.retry import NeverSent, Result, Unanswered
from whenthen.errors import FieldError
from whenthen.net import Answer, GuardedClient, NetError, NoAnswer, NotSent, RedirectRefused, Request
from whenthen.services.work import Meaning, Reading, Send, Steps


@dataclass(frozen=True, slots=True)
class Sent:
    """What happened on the wire. `started_at` is in epoch milliseconds, `request` the last one that was tried."""

    result: Result
    reason: str
    started_at: int
    request: Request | None = None
    answer: Answer | None = None


class _Recorder:
    """The `Wire` of one action: remembers the last exchange, and whether a request that can't be repeated is lost."""

    def __init__(self, client: GuardedClient, deadline: Deadline) -> None:
        self._client = client
        self._deadline = deadline
        self.request: Request | None = None
        self.answer: Answer | None = None
        self.is_lost = False

    def send(self, request: Request, *, repeatable: bool = True) -> Answer:
        self.request, self.answer = request, None
        try:
            self.answer = self._client.send(request, timeout_seconds=self._deadline.left())
        except NotSent:
            raise
        except RedirectRefused:
            raise
        except NetError:
            self.is_lost = self.is_lost or not repeatable
            raise
        return self.answer


def perform(client: GuardedClient, work: Send | Steps, *, timeout_seconds: float) -> Sent:
    """Do the work and say what happened, in words for the owner. Raises nothing that the wire can cause.

    Parameters
    ----------
    timeout_seconds:
        Time for all requests together.
    """
    started_at = now_ms()
    wire = _Recorder(client, Deadline(timeout_seconds))
    try:
        if isinstance(work, Send):
            reading = work.read(wire.send(work.request, repeatable=work.repeatable))
        else:
            reading = work.run(wire)
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
    return Sent(result, reason, started_at, wire.request, wire.answer)
