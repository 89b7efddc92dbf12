"""An applet that is still being written: all that is wrong with it at once, and what looks like a slip."""

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from whenthen.engine.connections.referring import services_by_connection
from whenthen.engine.validation import Parts, check_parts, field_errors
from whenthen.errors import FieldError, FieldErrors
from whenthen.model.applet import MAX_ACTIONS, MAX_QUERIES, ActionRef, Applet, QueryRef, TriggerRef
from whenthen.model.expressions import ExpressionError, check_expression
from whenthen.model.templates import TemplateError, check
from whenthen.services.registry import find_trigger
from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.database import Database
from whenthen.store.profiles import find_zone

_TRIGGER = TypeAdapter(TriggerRef)
_QUERY = TypeAdapter(QueryRef)
_ACTION = TypeAdapter(ActionRef)


@dataclass(frozen=True, slots=True)
class Draft:
    """An applet that was looked at.

    Parameters
    ----------
    applet:
        As it would be stored; None while there are problems.
    problems:
        All that is wrong, with the fields' paths as in the applet's JSON, ``actions.0.fields.url``.
    warnings:
        What is allowed and may be a slip, in the same form.
    """

    applet: Applet | None
    problems: tuple[FieldError, ...]
    warnings: tuple[FieldError, ...]

    def must_be_good(self, path: str = "") -> Applet:
        """Return the applet.

        Parameters
        ----------
        path:
            Where it stands in what the errors are told about, ``applet``.

        Raises
        ------
        FieldErrors
            There are problems.
        """
        if self.applet is None:
            raise FieldErrors([_below(path, problem) for problem in self.problems])
        return self.applet


def read_draft(
    database: Database, owner_id: str, document: Mapping[str, Any], *, known: TriggerRef | None = None
) -> Draft:
    """Look at an applet as its owner has written it so far.

    Parameters
    ----------
    document:
        The applet's JSON, whatever may be missing in it.
    known:
        The trigger of the stored applet that is edited, see `check_parts`.

    Raises
    ------
    StoreError
        The owner's zone and connections can't be read.
    """
    parts = _read_parts(document)
    wanted = {reference.connection for reference in _references(parts) if reference.connection is not None}
    connections = services_by_connection(database, owner_id, wanted)
    return look(document, zone=find_zone(database, owner_id) or DEFAULT_ZONE, connections=connections, known=known)


def look(
    document: Mapping[str, Any], *, zone: str, connections: Mapping[str, str], known: TriggerRef | None = None
) -> Draft:
    """Look at an applet's JSON with what is known of its owner; parameters are those of `check_parts`."""
    try:
        applet, problems = Applet.model_validate(document), []
    except ValidationError as error:
        applet, problems = None, field_errors(error)
    parts = Parts.of(applet) if applet is not None else _read_parts(document)
    checked, wrong = check_parts(parts, zone=zone, connections=connections, known=known)
    problems += wrong
    if applet is not None:
        applet = None if problems else checked.put_into(applet)
    return Draft(applet, tuple(problems), tuple(_warnings(parts)))


def check_trigger(database: Database, owner_id: str, trigger: TriggerRef) -> TriggerRef:
    """Return a trigger of the owner's with its fields as its service understands them, as in a stored applet.

    Raises
    ------
    FieldErrors
        With paths as in an applet, ``trigger.fields.url``.
    StoreError
        The owner's zone and connections can't be read.
    """
    wanted = {trigger.connection} if trigger.connection is not None else set()
    checked, problems = check_parts(
        Parts(trigger, {}, None, {}),
        zone=find_zone(database, owner_id) or DEFAULT_ZONE,
        connections=services_by_connection(database, owner_id, wanted),
    )
    if problems or checked.trigger is None:
        raise FieldErrors(problems)
    return checked.trigger


def _read_parts(document: Mapping[str, Any]) -> Parts:
    """Return those parts of the JSON that can be read. What is wrong with the others their model has told."""
    expression = document.get("filter")
    return Parts(
        _read(_TRIGGER, document.get("trigger")),
        _read_list(_QUERY, document.get("queries"), MAX_QUERIES),
        expression if isinstance(expression, str) else None,
        _read_list(_ACTION, document.get("actions"), MAX_ACTIONS),
    )


def _read[T](model: TypeAdapter[T], value: Any) -> T | None:
    try:
        return model.validate_python(value)
    except ValidationError:
        return None


def _read_list[T](model: TypeAdapter[T], values: Any, most: int) -> dict[int, T]:
    if not isinstance(values, list):
        return {}
    read = ((index, _read(model, value)) for index, value in enumerate(values[:most]))
    return {index: part for index, part in read if part is not None}


def _references(parts: Parts) -> Iterator[TriggerRef | QueryRef | ActionRef]:
    if parts.trigger is not None:
        yield parts.trigger
    yield from parts.queries.values()
    yield from parts.actions.values()


def _below(path: str, problem: FieldError) -> FieldError:
    return FieldError(f"{path}.{problem.field}" if path else problem.field, problem.message)


def _warnings(parts: Parts) -> Iterator[FieldError]:
    """Find the ingredients that nothing gives. A template may use them, and gets empty text."""
    trigger = find_trigger(parts.trigger.service, parts.trigger.trigger) if parts.trigger is not None else None
    if trigger is None:
        return
    names = {ingredient.slug for ingredient in trigger.ingredients}
    for index, query in parts.queries.items():
        yield from _missing(f"queries.{index}.fields", query.fields, names)
        names.add(parts.query_name(index))
    if parts.filter is not None:
        try:
            used = check_expression(parts.filter)
        except ExpressionError:
            used = frozenset()
        yield from _not_among(names, "filter", used)
    for index, action in parts.actions.items():
        yield from _missing(f"actions.{index}.fields", action.fields, names)
        if action.delay is not None:
            yield from _missing(f"actions.{index}.delay.until", action.delay.until, names)


def _missing(path: str, value: Any, names: Collection[str]) -> Iterator[FieldError]:
    match value:
        case str():
            try:
                used = check(value)
            except TemplateError:
                return
            yield from _not_among(names, path, used)
        case dict():
            for name, item in value.items():
                yield from _missing(f"{path}.{name}", item, names)
        case list():
            for index, item in enumerate(value):
                yield from _missing(f"{path}.{index}", item, names)


def _not_among(names: Collection[str], path: str, used: Collection[str]) -> Iterator[FieldError]:
    for name in sorted(set(used) - set(names)):
        near = difflib.get_close_matches(name, names, n=1)
        question = f"; did you mean {near[0]}?" if near else ""
        yield FieldError(path, f"{name} is no ingredient here and will be empty text{question}")
