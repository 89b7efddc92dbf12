"""What is wrong with an applet, field by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from whenthen.engine.connections.referring import Reference, wrong_connection
from whenthen.engine.delays import read_instant
from whenthen.errors import FieldError
from whenthen.model.applet import ActionRef, Applet, Delay, QueryRef, TriggerRef, default_query_name
from whenthen.model.expressions import ExpressionError, check_expression
from whenthen.model.templates import TemplateError, check
from whenthen.services.contract import Fields
from whenthen.services.registry import SERVICES, find_action, find_query, find_trigger


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an applet; of one that is still being written those that can be read.

    Queries and actions go by their index in the applet's JSON.
    """

    trigger: TriggerRef | None
    queries: Mapping[int, QueryRef]
    filter: str | None
    actions: Mapping[int, ActionRef]

    @classmethod
    def of(cls, applet: Applet) -> "Parts":
        """Return the parts of a whole applet."""
        return cls(applet.trigger, dict(enumerate(applet.queries)), applet.filter, dict(enumerate(applet.actions)))

    def query_name(self, index: int) -> str:
        """Return the name of the ingredient that the rows of a query become."""
        return self.queries[index].name or default_query_name(index)

    def put_into(self, applet: Applet) -> Applet:
        """Return the whole applet with these parts in the places of its own."""
        queries, actions = tuple(self.queries.values()), tuple(self.actions.values())
        return applet.model_copy(update={"trigger": self.trigger, "queries": queries, "actions": actions})


def validate(applet: Applet, *, zone: str, connections: Mapping[str, str], known: TriggerRef | None = None) -> Applet:
    """Return the applet with its fields as their services understand them, or say what is wrong with it.

    Parameters
    ----------
    zone, connections, known:
        As of `check_parts`.

    Raises
    ------
    FieldError
        The first of what `check_parts` finds.
    """
    checked, problems = check_parts(Parts.of(applet), zone=zone, connections=connections, known=known)
    if problems:
        raise problems[0]
    return checked.put_into(applet)


def check_parts(
    parts: Parts, *, zone: str, connections: Mapping[str, str], known: TriggerRef | None = None
) -> tuple[Parts, list[FieldError]]:
    """Return the parts with their fields as their services understand them, and all that is wrong with them.

    Parameters
    ----------
    zone:
        The owner's time zone, for fields that leave it out.
    connections:
        The services of the owner's connections that the parts name, by id.
    known:
        A trigger that was valid once and is taken as it is: its identity must not change by itself, and an applet
        can be turned off whatever has become of its service.

    Returns
    -------
    tuple
        What is wrong has its field's path as in the applet's JSON, ``actions.0.fields.url``. While there is any of it
        the parts are good for nothing.
    """
    checking = _Checking(zone)
    is_known = parts.trigger is not None and parts.trigger == known
    trigger = parts.trigger if parts.trigger is None or is_known else checking.trigger(parts.trigger)
    checking.query_names(parts)
    queries = {index: checking.query(index, query) for index, query in parts.queries.items()}
    checking.filter(parts.filter)
    actions = {index: checking.action(index, action) for index, action in parts.actions.items()}
    if parts.trigger is not None and not is_known:
        checking.connection("trigger", parts.trigger, connections)
    for index, query in parts.queries.items():
        checking.connection(f"queries.{index}", query, connections)
    for index, action in parts.actions.items():
        checking.connection(f"actions.{index}", action, connections)
    return Parts(trigger, queries, parts.filter, actions), checking.problems


def field_errors(error: ValidationError, path: str = "") -> list[FieldError]:
    """Return what a model has found wrong, in our words; the fields are those of the model at `path`."""
    prefix = (path,) if path else ()
    return [
        FieldError(".".join((*prefix, *map(str, item["loc"]))), item["msg"].removeprefix("Value error, "))
        for item in error.errors(include_url=False)
    ]


class _Checking:
    """One look at an applet; `problems` are those that were found so far, in their order."""

    def __init__(self, zone: str) -> None:
        self._zone = zone
        self.problems: list[FieldError] = []

    def trigger(self, reference: TriggerRef) -> TriggerRef:
        if self._is_unknown("trigger.service", reference.service):
            return reference
        trigger = find_trigger(reference.service, reference.trigger)
        if trigger is None:
            self._add("trigger.trigger", f"{reference.service} has no trigger {reference.trigger}")
            return reference
        fields = self._fields("trigger.fields", trigger.fields, reference.fields)
        return reference.model_copy(update={"fields": fields})

    def query_names(self, parts: Parts) -> None:
        trigger = find_trigger(parts.trigger.service, parts.trigger.trigger) if parts.trigger else None
        taken = {ingredient.slug for ingredient in trigger.ingredients} if trigger else set()
        for index in parts.queries:
            name = parts.query_name(index)
            if name in taken:
                self._add(f"queries.{index}.name", f"{name} is the name of another ingredient already")
            taken.add(name)

    def query(self, index: int, reference: QueryRef) -> QueryRef:
        path = f"queries.{index}"
        if self._is_unknown(f"{path}.service", reference.service):
            return reference
        query = find_query(reference.service, reference.query)
        if query is None:
            self._add(f"{path}.query", f"{reference.service} has no query {reference.query}")
            return reference
        fields = self._templated_fields(f"{path}.fields", query.fields, reference.fields)
        return reference.model_copy(update={"fields": fields})

    def filter(self, expression: str | None) -> None:
        if expression is None:
            return
        try:
            check_expression(expression)
        except ExpressionError as error:
            self._add("filter", str(error))

    def action(self, index: int, reference: ActionRef) -> ActionRef:
        path = f"actions.{index}"
        if self._is_unknown(f"{path}.service", reference.service):
            return reference
        action = find_action(reference.service, reference.action)
        if action is None:
            self._add(f"{path}.action", f"{reference.service} has no action {reference.action}")
            return reference
        fields = self._templated_fields(f"{path}.fields", action.fields, reference.fields)
        self._delay(f"{path}.delay.until", reference.delay)
        return reference.model_copy(update={"fields": fields})

    def connection(self, path: str, reference: Reference, connections: Mapping[str, str]) -> None:
        if reason := wrong_connection(reference, connections):
            self._add(f"{path}.connection", reason)

    def _add(self, path: str, message: str) -> None:
        self.problems.append(FieldError(path, message))

    def _is_unknown(self, path: str, service: str) -> bool:
        if service in SERVICES:
            return False
        self._add(path, f"there is no service {service}")
        return True

    def _delay(self, path: str, delay: Delay | None) -> None:
        if delay is None or delay.until is None:
            return
        self._templates(path, delay.until)
        if "{{" not in delay.until and read_instant(delay.until, self._zone) is None:
            self._add(path, "is no date and time, such as 2026-12-24T18:00")

    def _fields(self, path: str, model: type[Fields], values: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return model.model_validate(values, context={"zone": self._zone}).model_dump(mode="json")
        except ValidationError as error:
            self.problems += field_errors(error, path)
            return dict(values)

    def _templated_fields(self, path: str, model: type[Fields], values: Mapping[str, Any]) -> dict[str, Any]:
        fields = self._fields(path, model, values)
        self._templates(path, fields)
        return fields

    def _templates(self, path: str, value: Any) -> None:
        match value:
            case str():
                try:
                    check(value)
                except TemplateError as error:
                    self._add(path, str(error))
            case dict():
                for name, item in value.items():
                    self._templates(f"{path}.{name}", item)
            case list():
                for index, item in enumerate(value):
                    self._templates(f"{path}.{index}", item)
