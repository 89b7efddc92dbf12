"""From what an owner wrote to work, and from what happened on the wire to an attempt."""

from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from whenthen.clock import now_ms
from whenthen.engine.attempts import Attempt, describe_answer, describe_request
from whenthen.engine.identity import idempotency_key
from whenthen.engine.runs import Run
from whenthen.engine.wire import Sent
from whenthen.errors import FieldError
from whenthen.model.applet import ActionRef, QueryRef
from whenthen.model.encoding import Encoding
from whenthen.model.templates import TemplateError, render
from whenthen.services.contract import Action, Fields, Query
from whenthen.services.registry import find_action, find_query
from whenthen.services.work import Ask, FindRows, Send, Steps, Task, Work


@dataclass(frozen=True, slots=True)
class Prepared[W: (Work, Ask | FindRows)]:
    """An action or a query that is ready to be done, and what to note about it."""

    work: W
    notes: tuple[str, ...]


def action_of(reference: ActionRef) -> Action[Any]:
    """Return the action that is meant. Raises `FieldError` if its service is gone."""
    action = find_action(reference.service, reference.action)
    if action is None:
        raise FieldError("action", f"{reference.service} has no action {reference.action}")
    return action


def query_of(reference: QueryRef) -> Query[Any]:
    """Return the query that is meant. Raises `FieldError` if its service is gone."""
    query = find_query(reference.service, reference.query)
    if query is None:
        raise FieldError("query", f"{reference.service} has no query {reference.query}")
    return query


def prepare(run: Run, account: Fields | None = None) -> Prepared[Work]:
    """Return the work of the run's next action, its templates rendered with the run's ingredients.

    Parameters
    ----------
    account:
        The fields of the action's connection, if it has one.

    Raises
    ------
    FieldError
        It can't be done with these ingredients, or its service is gone.
    """
    action = action_of(run.action)
    fields, notes = _fields(run, action.fields, run.action.fields)
    key = idempotency_key(run.execution_id, run.step)
    return Prepared(action.prepare(Task(fields, key, account, run.occurred_at, run.zone)), notes)


def prepare_query(run: Run, reference: QueryRef, account: Fields | None = None) -> Prepared[Ask | FindRows]:
    """Return the work of a query of the run. Parameters and errors as of `prepare`."""
    query = query_of(reference)
    fields, notes = _fields(run, query.fields, reference.fields)
    key = f"{run.execution_id}.query{len(run.kept.answers)}"
    return Prepared(query.prepare(Task(fields, key, account, run.occurred_at, run.zone)), notes)


def _fields(run: Run, model: type[Fields], values: dict[str, Any]) -> tuple[Fields, tuple[str, ...]]:
    """Return the fields with their templates rendered, and what there is to note."""
    # A zone that the owner left out was filled in when the applet was stored.
    context = {"zone": run.zone}
    try:
        fields = model.model_validate(values, context=context)
        rendered, notes = _render_fields(fields, run.ingredients)
        return model.model_validate(rendered, context=context), notes
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(map(str, first["loc"])) or "fields"
        raise FieldError(path, first["msg"].removeprefix("Value error, ")) from error


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


def attempt(
    run: Run,
    prepared: Prepared[Work] | Prepared[Ask | FindRows] | None,
    outcome: str,
    reason: str,
    sent: Sent | None = None,
) -> Attempt:
    """Return the record of this try of the run's next query or, when all are answered, action."""
    now = now_ms()
    query = run.query if not run.kept.passed else None
    record = Attempt(
        action=run.step if query is None else len(run.kept.answers),
        service=run.action.service if query is None else query.service,
        name=run.action.action if query is None else query.query,
        number=run.tries,
        started_at=sent.started_at if sent else now,
        finished_at=now,
        outcome=outcome,
        reason=reason,
        kind="action" if query is None else "query",
        notes=(*run.notes, *(prepared.notes if prepared else ())),
    )
    request = sent.request if sent else None
    if request is None and prepared is not None and isinstance(prepared.work, Send | Steps | Ask):
        request = prepared.work.request
    if request is None:
        return record
    secrets = sent.secrets if sent else ()
    answer = describe_answer(sent.answer, secrets) if sent and sent.answer else None
    return replace(record, request=describe_request(request, secrets), answer=answer)
