"""A connection's fields as a form, and the form as what is to change."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData

from whenthen.engine.connections.contents import TOKEN, Shown
from whenthen.services.connecting import ConnectionType, secret_names
from whenthen.web.console.field_forms import FormField, form_fields, read_fields
from whenthen.web.console.language import gettext as _

PREFIX = "fields."

_OF_FEW = {
    "signed_webhooks": (
        "verify_token", "signature_header", "algorithm", "encoding", "prefix", "timestamp_header", "id_header",
        "signed_content", "type_header",
    ),
    "email": ("region", "access_key_id", "secret_access_key", "endpoint"),
    "button": ("signing_key",),
}  # fmt: skip
"""Fields that most people leave as they are, by service: they stand apart."""


def new_fields(kind: ConnectionType[Any], values: Mapping[str, Any], errors: Mapping[str, str]) -> list[FormField]:
    """Return the fields of a connection that is to be made, with these values and errors (by path)."""
    return form_fields(kind.fields, values, errors, PREFIX)


def kept_fields(
    kind: ConnectionType[Any], shown: Shown, values: Mapping[str, Any], errors: Mapping[str, str]
) -> list[FormField]:
    """Return the fields of a connection that there is. A secret that is set stays so when its field is left empty."""
    found = []
    for item in form_fields(kind.fields, {**shown.fields, **values}, errors, PREFIX):
        name = item.name.removeprefix(PREFIX)
        if shown.oauth and name == TOKEN:
            continue
        if name in shown.secrets:
            kept = _("It is set, and is not shown. Leave this empty to keep it.")
            item = replace(item, help=f"{kept} {item.help}".strip(), required=False)
        found.append(item)
    return found


def removable(kind: ConnectionType[Any], shown: Shown) -> list[tuple[str, str]]:
    """Return the secrets that are set and may go, as name and label."""
    may_go = [
        item
        for item in form_fields(kind.fields, {}, {}, "")
        if item.name in shown.secrets and not item.required and not (shown.oauth and item.name == TOKEN)
    ]
    return [(item.name, item.label) for item in may_go if kind.fields.model_fields[item.name].default == ""]


def changes(kind: ConnectionType[Any], shown: Shown, form: FormData) -> dict[str, Any]:
    """Return the fields that a form changes. What was emptied gets the value that it has when it is left out."""
    secrets = secret_names(kind.fields)
    read = read_fields(kind.fields, form, PREFIX)
    for name, field in kind.fields.model_fields.items():
        if name not in secrets and name not in read and not field.is_required():
            read[name] = field.default
    forgotten = {str(name): "" for name in form.getlist("forget") if name in secrets}
    return {
        **forgotten,
        **{name: value for name, value in read.items() if name in secrets or shown.fields.get(name) != value},
    }


def split(service: str, fields: list[FormField]) -> tuple[list[FormField], list[FormField]]:
    """Return the fields for everybody, and those for few."""
    few: Collection[str] = _OF_FEW.get(service, ())
    apart = [item for item in fields if item.name.removeprefix(PREFIX) in few]
    return [item for item in fields if item not in apart], apart
