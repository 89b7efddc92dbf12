"""What a signed request carried: JSON, a form, text or bytes."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from whenthen.model.exact_json import read_exact

_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Payload:
    """A body. Of `json`, `text` and `base64` at most one is not empty: it is not kept twice.

    Parameters
    ----------
    json:
        The body when it is JSON, as it was written; a form's fields as a JSON object.
    text:
        The body when it is text, but no JSON.
    base64:
        The body when it is no text that can be kept.
    members:
        Members of the JSON object, with numbers as `exact_json.Number`; empty when it is none.
    """

    json: str = ""
    text: str = ""
    base64: str = ""
    members: Mapping[str, Any] = field(default_factory=dict)

    def member(self, *path: str) -> str:
        """Return the text that stands at this path of the JSON object, or empty text."""
        found: Any = self.members
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        return str(found) if isinstance(found, str) else ""


def read_payload(content_type: str, body: bytes) -> Payload:
    """Return what the body holds. JSON is known by itself, since many send it as a form (D18).

    A form whose one field is `payload`, with a JSON object in it, stands for that object: so GitHub sends everything
    where it is not told to send JSON, and Slack what people do with buttons and menus.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Payload(base64=base64.b64encode(body).decode())
    is_form = content_type.partition(";")[0].strip().lower() == _FORM
    # A form of one number would be JSON, too.
    if not is_form or text.lstrip().startswith(("{", "[")):
        try:
            return _json(text)
        except (ValueError, RecursionError):
            pass
    if is_form and text.strip():
        return _form(text)
    if "\x00" in text:
        return Payload(base64=base64.b64encode(body).decode())
    return Payload(text=text)


def _json(text: str) -> Payload:
    document = read_exact(text)
    return Payload(json=text.strip(), members=document if isinstance(document, dict) else {})


def _form(text: str) -> Payload:
    values = dict(parse_qsl(text, keep_blank_values=True))
    if values.keys() == {"payload"}:
        try:
            inner = _json(values["payload"])
        except (ValueError, RecursionError):
            inner = Payload()
        if inner.members:
            return inner
    return Payload(json=json.dumps(values, ensure_ascii=False), members=values)
