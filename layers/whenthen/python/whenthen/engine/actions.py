"""From an action's fields to work, and from what happened on the wire to an attempt."""

from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from whenthen.clock import now_ms
from whenthen.engine.attempts import Attempt, describe_answer, describe_request
from whenthen.engine.identity import idempotency_key
from whenthen.engine.runs import Run
from whenthen.engine.wire import Sent
from whenthen.errors import FieldError
from whenthen.model.encoding import Encoding
from whenthen.model.templates import TemplateError, render
from whenthen.services.contract import Fields
from whenthen.services.registry import find_action
from whenthen.services.work import Send, Steps, Task, Work


@dataclass(frozen=True, slots=True)
class Prepared:
    """An action that is ready to be done, and what to note about it."""

    work: Work
    notes: tuple[str, ...]


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
    task = Task(fields, idempotency_key(run.execution_id, run.step), occurred_at=run.occurred_at, zone=run.zone)
    return Prepared(action.prepare(task), notes)


def _render_fields(fields: Fields, ingredients: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    encodings = fields.encodings()
    notes: dict[str, None] = {}

    def rendered(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: rendered(name, item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [rendered(name, item) for item in value]
        if not isinstance(value, str) or "{{" not in value:
            return value
        encoding = encodings.get(name, Encoding.PLAIN)
        # A field of headers has one a line, and an ingredient must not add a line.
        pieces = value.splitlines() if encoding is Encoding.HEADER else [value]
        try:
            results = [render(piece, ingredients, encoding) for piece in pieces]
        except TemplateError as error:
            raise FieldError(name, str(error)) from error
        notes.update(dict.fromkeys(f"{name}: {note}" for result in results for note in result.notes))
        return "\n".join(result.text for result in results)

    return {name: rendered(name, value) for name, value in fields}, tuple(notes)


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
    request = sent.request if sent else None
    if request is None and prepared is not None and isinstance(prepared.work, Send | Steps):
        request = prepared.work.request
    if request is None:
        return record
    answer = describe_answer(sent.answer) if sent and sent.answer else None
    return replace(record, request=describe_request(request), answer=answer)
