"""What is wrong with an applet, field by field."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from whenthen.engine.connections.referring import check_connections
from whenthen.engine.delays import read_instant
from whenthen.errors import FieldError
from whenthen.model.applet import ActionRef, Applet, QueryRef, TriggerRef, query_name
from whenthen.model.expressions import ExpressionError, check_expression
from whenthen.model.templates import TemplateError, check
from whenthen.services.contract import Fields
from whenthen.services.registry import SERVICES, find_action, find_query, find_trigger


def validate(applet: Applet, *, zone: str, connections: Mapping[str, str], known: TriggerRef | None = None) -> Applet:
    """Return the applet with its fields as their services understand them, or say what is wrong with it.

    Parameters
    ----------
    zone:
        The owner's time zone, for fields that leave it out.
    connections:
        The services of the owner's connections that it names, by id.
    known:
        A trigger that was valid once and is taken as it is: its identity must not change by itself, and an applet
        can be turned off whatever has become of its service.

    Raises
    ------
    FieldError
        The field's path is as in the applet's JSON, ``actions.0.fields.url``.
    """
    trigger_fields = applet.trigger.fields if applet.trigger == known else _validate_trigger(applet.trigger, zone)
    _validate_query_names(applet)
    queries = tuple(_validate_query(index, query, zone) for index, query in enumerate(applet.queries))
    if applet.filter is not None:
        try:
            check_expression(applet.filter)
        except ExpressionError as error:
            raise FieldError("filter", str(error)) from error
    actions = tuple(_validate_action(index, action, zone) for index, action in enumerate(applet.actions))
    check_connections(applet, connections, known=known)
    return applet.model_copy(
        update={
            "trigger": applet.trigger.model_copy(update={"fields": trigger_fields}),
            "queries": queries,
            "actions": actions,
        }
    )


def _validate_trigger(reference: TriggerRef, zone: str) -> dict[str, Any]:
    _known_service("trigger.service", reference.service)
    trigger = find_trigger(reference.service, reference.trigger)
    if trigger is None:
        raise FieldError("trigger.trigger", f"{reference.service} has no trigger {reference.trigger}")
    return _validate_fields("trigger.fields", trigger.fields, reference.fields, zone)


def _known_service(path: str, service: str) -> None:
    if service not in SERVICES:
        raise FieldError(path, f"there is no service {service}")


def _validate_action(index: int, reference: ActionRef, zone: str) -> ActionRef:
    path = f"actions.{index}"
    _known_service(f"{path}.service", reference.service)
    action = find_action(reference.service, reference.action)
    if action is None:
        raise FieldError(f"{path}.action", f"{reference.service} has no action {reference.action}")
    fields = _validate_fields(f"{path}.fields", action.fields, reference.fields, zone)
    _check_templates(f"{path}.fields", fields)
    if reference.delay is not None and reference.delay.until is not None:
        _check_templates(f"{path}.delay.until", reference.delay.until)
        if "{{" not in reference.delay.until and read_instant(reference.delay.until, zone) is None:
            raise FieldError(f"{path}.delay.until", "is no date and time, such as 2026-12-24T18:00")
    return reference.model_copy(update={"fields": fields})


def _validate_query_names(applet: Applet) -> None:
    trigger = find_trigger(applet.trigger.service, applet.trigger.trigger)
    taken = {ingredient.slug for ingredient in trigger.ingredients} if trigger else set()
    for index in range(len(applet.queries)):
        name = query_name(applet, index)
        if name in taken:
            raise FieldError(f"queries.{index}.name", f"{name} is the name of another ingredient already")
        taken.add(name)


def _validate_query(index: int, reference: QueryRef, zone: str) -> QueryRef:
    path = f"queries.{index}"
    _known_service(f"{path}.service", reference.service)
    query = find_query(reference.service, reference.query)
    if query is None:
        raise FieldError(f"{path}.query", f"{reference.service} has no query {reference.query}")
    fields = _validate_fields(f"{path}.fields", query.fields, reference.fields, zone)
    _check_templates(f"{path}.fields", fields)
    return reference.model_copy(update={"fields": fields})


def _check_templates(path: str, value: Any) -> None:
    match value:
        case str():
            try:
                check(value)
            except TemplateError as error:
                raise FieldError(path, str(error)) from error
        case dict():
            for name, item in value.items():
                _check_templates(f"{path}.{name}", item)
        case list():
            for index, item in enumerate(value):
                _check_templates(f"{path}.{index}", item)


def _validate_fields(path: str, model: type[Fields], values: Mapping[str, Any], zone: str) -> dict[str, Any]:
    try:
        return model.model_validate(values, context={"zone": zone}).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors()[0]
        raise FieldError(
            ".".join((path, *map(str, first["loc"]))), first["msg"].removeprefix("Value error, ")
        ) from error
