"""Field models (of triggers, queries, actions and connections) as form fields, and forms as their JSON."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel
from starlette.datastructures import FormData

from whenthen.services.date_time.fields import WEEKDAYS
from whenthen.web.console.language import gettext as _

type Kind = Literal["line", "lines", "text", "secret", "number", "yes", "choice", "choices", "pairs", "zone"]

MORE_PAIRS = 2
"""How many empty rows are offered after those that are filled in."""

_TEXTS = {
    "additional_headers",
    "body",
    "caption",
    "content",
    "data",
    "description",
    "details",
    "embed_description",
    "html",
    "message",
    "status",
    "text",
    "trigger_fields",
}
"""Fields that people write more than a line into; their schemas say how long they may be, not this."""

_NAMES: dict[str, str] = (
    {str(day): day.capitalize() for day in WEEKDAYS}
    | {name: name.upper() for name in ("hmac", "html", "ses", "smtp", "starttls", "tls")}
    | {name: name.capitalize() for name in ("meta", "shopify", "slack", "stripe")}
    | {"github": "GitHub", "standard_webhooks": "Standard Webhooks"}
)
"""How values are called that are names."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_MAX_PAIRS = 100


@dataclass(frozen=True, slots=True)
class FormField:
    """A field as a form shows it.

    Parameters
    ----------
    name:
        Of the form's field: the prefix and the field's own, ``actions.0.fields.url``. `pairs` have ``.0.name`` and
        ``.0.value`` after it, and so on.
    value:
        As text; a list of texts for `choices`, of pairs of texts for `pairs`.
    options:
        What can be chosen, as value and text.
    """

    name: str
    label: str
    help: str
    kind: Kind
    value: Any
    required: bool
    error: str = ""
    options: tuple[tuple[str, str], ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The element's id."""
        return self.name.replace(".", "-")


def form_fields(
    model: type[BaseModel], values: Mapping[str, Any], errors: Mapping[str, str], prefix: str
) -> list[FormField]:
    """Return a model's fields in order.

    Parameters
    ----------
    values:
        JSON values by field, valid or not; the default stands where there is none.
    errors:
        What is wrong, by the path of the field: the prefix, its name and what is within.
    prefix:
        Of the form's names, with a dot at its end, or empty.
    """
    schema = model.model_json_schema()
    required = schema.get("required", [])
    found = []
    for slug, property_schema in schema.get("properties", {}).items():
        resolved = _resolved(property_schema, schema.get("$defs", {}))
        kind = _kind(slug, resolved)
        name = prefix + slug
        found.append(
            FormField(
                name=name,
                label=_(resolved.get("title", slug)),
                help=_(resolved["description"]) if "description" in resolved else "",
                kind=kind,
                value=_shown(kind, values.get(slug, resolved.get("default"))),
                required=slug in required,
                error=_error(errors, name),
                options=_options(resolved, schema.get("$defs", {})) if kind in ("choice", "choices") else (),
                attributes=_attributes(kind, resolved),
            )
        )
    return found


def read_fields(model: type[BaseModel], form: FormData, prefix: str) -> dict[str, Any]:
    """Return what a form says of a model's fields, as JSON. What can't be read stays text, for the model to refuse.

    A secret that was left empty is left out: it stays as it is.
    """
    schema = model.model_json_schema()
    read: dict[str, Any] = {}
    for slug, property_schema in schema.get("properties", {}).items():
        resolved = _resolved(property_schema, schema.get("$defs", {}))
        kind = _kind(slug, resolved)
        name = prefix + slug
        if kind == "pairs":
            read[slug] = _read_pairs(form, name)
        elif kind == "choices":
            read[slug] = [value for value in form.getlist(name) if isinstance(value, str) and value]
        elif kind == "yes":
            read[slug] = name in form
        elif name in form:
            text = _unified(str(form[name]))
            if kind == "lines":
                read[slug] = [line.strip() for line in text.split("\n") if line.strip()]
            elif kind != "secret" or text:
                read[slug] = _number(text, resolved) if kind == "number" else text
        if kind in ("number", "line") and read.get(slug) == "" and slug not in schema.get("required", []):
            # Left empty: as if it had not been there.
            del read[slug]
    return read


@cache
def chosen_fields(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of a model's fields whose values are chosen, each known by `choice_name`."""
    schema = model.model_json_schema()
    fields = {slug: _resolved(part, schema.get("$defs", {})) for slug, part in schema.get("properties", {}).items()}
    return frozenset(slug for slug, part in fields.items() if _kind(slug, part) in ("choice", "choices"))


def _resolved(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return definitions[reference.rpartition("/")[2]] | schema if reference else schema


def _kind(slug: str, schema: dict[str, Any]) -> Kind:
    if "enum" in schema:
        return "choice"
    match schema.get("type"):
        case "boolean":
            return "yes"
        case "integer" | "number":
            return "number"
        case "array":
            return "choices" if "enum" in schema["items"] or "$ref" in schema["items"] else "lines"
        case "object":
            return "pairs"
    if any(part.get("type") == "integer" for part in schema.get("anyOf", ())):
        return "number"
    if schema.get("format") == "password":
        return "secret"
    if slug == "zone":
        return "zone"
    return "text" if slug in _TEXTS else "line"


def _shown(kind: Kind, value: Any) -> Any:
    match kind:
        case "pairs":
            pairs = [(str(name), str(text)) for name, text in value.items()] if isinstance(value, dict) else []
            return [*pairs, *[("", "")] * MORE_PAIRS]
        case "choices":
            return [str(item) for item in value] if isinstance(value, list | tuple) else []
        case "lines":
            return "\n".join(map(str, value)) if isinstance(value, list | tuple) else ""
        case "yes":
            return bool(value)
        case "secret":
            return ""
    return "" if value is None else str(value)


def _options(schema: dict[str, Any], definitions: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    values = schema["enum"] if "enum" in schema else _resolved(schema["items"], definitions)["enum"]
    return tuple((str(value), choice_name(str(value))) for value in values)


def choice_name(value: str) -> str:
    """Return how a value to choose is called."""
    return _(_NAMES.get(value) or (value.replace("_", " ") if re.fullmatch(r"[a-z_]+", value) else value))


def _attributes(kind: Kind, schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if kind in ("line", "text", "secret") and schema.get("maxLength", 0) > 0:
        found["maxlength"] = schema["maxLength"]
    if kind == "number" and "anyOf" not in schema:
        found["inputmode"] = "decimal"
    if kind == "secret":
        found["autocomplete"] = "new-password"
    return found


def _error(errors: Mapping[str, str], name: str) -> str:
    """What is wrong with a field, or with something in it."""
    return next((words for path, words in errors.items() if path == name or path.startswith(f"{name}.")), "")


def _read_pairs(form: FormData, name: str) -> dict[str, str]:
    pairs = {}
    for index in range(_MAX_PAIRS):
        key = form.get(f"{name}.{index}.name")
        if not isinstance(key, str):
            break
        value = form.get(f"{name}.{index}.value", "")
        if key.strip() or value:
            pairs[key.strip()] = _unified(str(value))
    return pairs


def _unified(text: str) -> str:
    """A browser sends every line break as CRLF (HTML, 4.10.21.4)."""
    return text.replace("\r\n", "\n")


def _number(text: str, schema: dict[str, Any]) -> Any:
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        number = Decimal(text.replace(",", ".")) if schema.get("type") == "number" else None
    except InvalidOperation:
        return text
    return float(number) if number is not None and number.is_finite() else text
