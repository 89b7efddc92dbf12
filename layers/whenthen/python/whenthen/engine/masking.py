"""Taking a connection's secrets out of what people see, wherever they turn up: a target may echo what it was sent."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

from whenthen.services.connecting import secret_names
from whenthen.services.contract import Fields
from whenthen.services.registry import find_trigger

MASK = "•••"

_CUT = "…"
"""What stands where a text was shortened."""

_SHORTEST = 6
"""Shorter ones are not looked for: they would mask every other word, and protect nothing."""


def without_secrets(definition: dict[str, Any]) -> dict[str, Any]:
    """Return an applet's JSON with the secrets in its trigger's own fields masked; others are not in an applet."""
    trigger = definition["trigger"]
    fields = {**trigger["fields"], **dict.fromkeys(filter(trigger["fields"].get, secret_fields(trigger)), MASK)}
    return {**definition, "trigger": {**trigger, "fields": fields}}


def secret_fields(trigger: Mapping[str, Any]) -> frozenset[str]:
    """Return which fields of a trigger, given as JSON, are secret."""
    found = find_trigger(str(trigger.get("service")), str(trigger.get("trigger")))
    return secret_names(found.fields) if found is not None else frozenset()


def secrets_of(fields: Fields | None) -> tuple[str, ...]:
    """Return the secrets of a connection in all forms in which they are sent, the longest first."""
    if fields is None:
        return ()
    values = [getattr(fields, name) for name in secret_names(type(fields))]
    texts = [value for value in values if isinstance(value, str) and len(value) >= _SHORTEST]
    forms = {form for text in texts for form in _forms(text)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _forms(text: str) -> tuple[str, ...]:
    quoted = quote(text), quote(text, safe=""), quote_plus(text), json.dumps(text)[1:-1]
    return text, *quoted, *(_in_base64(text.encode(), offset) for offset in range(3))


def _in_base64(secret: bytes, offset: int) -> str:
    """Return the part of a secret's base64 that is the same whatever stands around it (Basic, RFC 7617).

    Parameters
    ----------
    offset:
        How many bytes stand before it, modulo 3.
    """
    first, end = -(-8 * offset // 6), 8 * (offset + len(secret)) // 6
    return base64.b64encode(bytes(offset) + secret).decode()[first:end]


def _without_beginnings(text: str, secret: str) -> str:
    """Return text without the beginnings of the secret that were left where the text was cut."""
    for length in range(len(secret) - 1, _SHORTEST - 1, -1):
        text = text.replace(secret[:length] + _CUT, MASK + _CUT)
    return text


def masked(value: Any, secrets: Sequence[str]) -> Any:
    """Return plain JSON values without the secrets in their texts."""
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, MASK)
                if _CUT in value:
                    value = _without_beginnings(value, secret)
            return value
        case dict():
            return {name: masked(item, secrets) for name, item in value.items()}
        case list() | tuple():
            return [masked(item, secrets) for item in value]
    return value
