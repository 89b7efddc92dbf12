"""From an action's fields to work, and from what happened on the wire to an attempt."""

from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from whenthen.clock import now_ms
from whenthen.engine.attempts import Attempt, describe_answer, describe_request
from whenthen.engine.identity import idempotency_key
from whenthen.engine.retry import Answered, NeverSent, Result, Unanswered
from whenthen.engine.runs import Run
from whenthen.errors import FieldError
from whenthen.model.encoding import Encoding
from whenthen.model.templates import TemplateError, render
from whenthen.net import Answer, GuardedClient, NetError, NoAnswer, NotSent, RedirectRefused
from whenthen.services.contract import Fields, Send, Work
from whenthen.services.registry import find_action


@dataclass(frozen=True, slots=True)
class Prepared:
    """An action that is ready to be done, and what to note about it."""

    work: Work
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """What happened on the wire. `started_at` is in epoch milliseconds."""

    result: Result
    reason: str
    started_at: int
    answer: Answer | None = None


def prepare(run: Run) -> Prepared:
    """Return the work of the run's next action, its templates rendered with the run's ingredients.

    Raises
    ------
    FieldError
        It can't be done with these ingredients, or its service is gone.
    """
    reference = run.action
    action = find_action(reference.service, reference.action)
    if action is None:
        raise FieldError("action", f"{reference.service} has no action {reference.action}")
    try:
        fields = action.fields.model_validate(reference.fields)
        rendered, notes = _render_fields(fields, run.ingredients)
        fields = action.fields.model_validate(rendered)
    except ValidationError as error:
        first = error.errors()[0]
        raise FieldError(".".join(map(str, first["loc"])), first["msg"]) from error
    work = action.prepare(fields, idempotency_key(run.execution_id, run.step))
    return Prepared(work, notes)


def _render_fields(fields: Fields, ingredients: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    encodings = fields.encodings()
    values: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in fields:
        if not isinstance(value, str) or "{{" not in value:
            values[name] = value
            continue
        encoding = encodings.get(name, Encoding.PLAIN)
        # A field of headers has one a line, and an ingredient must not add a line.
        pieces = value.splitlines() if encoding is Encoding.HEADER else [value]
        try:
            results = [render(piece, ingredients, encoding) for piece in pieces]
        except TemplateError as error:
            raise FieldError(name, str(error)) from error
        values[name] = "\n".join(result.text for result in results)
        notes.extend(f"{name}: {note}" for result in results for note in result.notes)
    return values, tuple(dict.fromkeys(notes))


def send(client: GuardedClient, work: Send, *, timeout_seconds: float) -> Sent:
    """Send the request and say what happened, in words for the owner. Raises nothing that the wire can cause."""
    started_at = now_ms()
    try:
        answer = client.send(work.request, timeout_seconds=timeout_seconds)
    except NotSent as error:
        return Sent(NeverSent(permanent=not error.retryable), f"Nothing was sent: {error}", started_at)
    except NoAnswer as error:
        return Sent(
            Unanswered(repeatable=work.repeatable),
            f"The request was sent and no answer came: {error}",
            started_at,
        )
    except RedirectRefused as error:
        return Sent(Answered(error.status), f"A redirect was refused: {error}", started_at)
    except NetError as error:
        return Sent(Unanswered(repeatable=work.repeatable), f"The request failed: {error}", started_at)
    result = Answered(answer.status, answer.headers.get("retry-after"))
    return Sent(result, _status_reason(answer.status), started_at, answer)


def _status_reason(status: int) -> str:
    if 200 <= status < 300:
        return ""
    try:
        return f"The target answered {status} {HTTPStatus(status).phrase}."
    except ValueError:
        return f"The target answered {status}."


def attempt(run: Run, prepared: Prepared | None, outcome: str, reason: str, sent: Sent | None = None) -> Attempt:
    """Return the record of this try of the run's action."""
    now = now_ms()
    record = Attempt(
        action=run.step,
        service=run.action.service,
        name=run.action.action,
        number=run.tries,
        started_at=sent.started_at if sent else now,
        finished_at=now,
        outcome=outcome,
        reason=reason,
        notes=(*run.notes, *(prepared.notes if prepared else ())),
    )
    if prepared is None or not isinstance(prepared.work, Send):
        return record
    answer = describe_answer(sent.answer) if sent and sent.answer else None
    return replace(record, request=describe_request(prepared.work.request), answer=answer)
