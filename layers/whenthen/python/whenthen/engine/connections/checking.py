"""What is wrong with a connection's fields."""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import ValidationError

from whenthen.errors import FieldError
from whenthen.services.connecting import ConnectionType, secret_names
from whenthen.services.registry import SERVICES

_LEADING_WORDS = ("url", "server", "host", "port", "endpoint", "security")
"""Fields with such a word in their name say where secrets go."""


def kind_of(service: str) -> ConnectionType[Any]:
    """Return what connections of the service are like. Raises FieldError for a service that takes none."""
    if service not in SERVICES:
        raise FieldError("service", f"there is no service {service}")
    kind = SERVICES[service].connection
    if kind is None:
        raise FieldError("service", f"{service} takes no connections")
    return kind


def validate_fields(kind: ConnectionType[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as their service understands them, as plain JSON values.

    Raises
    ------
    FieldError
        At ``fields.<name>``.
    """
    try:
        fields: dict[str, Any] = kind.fields.model_validate(dict(values)).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors()[0]
        raise FieldError(
            ".".join(("fields", *map(str, first["loc"]))), first["msg"].removeprefix("Value error, ")
        ) from error
    return fields


def check_oauth(kind: ConnectionType[Any], fields: Mapping[str, Any]) -> None:
    """Refuse what can't get its token by OAuth. Raises FieldError."""
    if kind.oauth is None:
        raise FieldError("oauth", "this service gives no tokens by OAuth: give one by hand")
    if not fields.get("client_id"):
        raise FieldError("fields.client_id", "is needed: the id of your app at the service")


def leads_elsewhere(kind: ConnectionType[Any], old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Say if secrets would go to another place with the new fields."""
    names = new.keys() - secret_names(kind.fields)
    return any(old.get(name) != new[name] and any(word in name for word in _LEADING_WORDS) for name in names)


def check_given_again(kind: ConnectionType[Any], old: Mapping[str, Any], given: Collection[str]) -> None:
    """Refuse to keep secrets that were not given again. Raises FieldError."""
    for name in sorted(secret_names(kind.fields)):
        if old.get(name) and name not in given:
            raise FieldError(f"fields.{name}", "has to be given again, since the connection is to lead elsewhere")
