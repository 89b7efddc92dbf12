"""The editor's form as a draft."""

import re
from collections.abc import Iterator

from starlette.datastructures import FormData

from whenthen.model.applet import MAX_ACTIONS, MAX_QUERIES
from whenthen.model.exact_json import read_exact
from whenthen.services.connecting import secret_names
from whenthen.web.console.editor.draft import FIELDS, Draft, Kind, Part, find_item
from whenthen.web.console.visit import text_of

MAX_SAMPLES = 100_000
"""The most characters of samples that a form carries."""

_DELAY = ("kind", "seconds", "unit", "until")


def read_form(form: FormData) -> Draft:
    """Return what the form says. Parts are numbered anew, in their order."""
    return Draft(
        trigger=_part(form, "trigger", "trigger"),
        queries=[_part(form, "query", path) for path in _paths(form, "queries", MAX_QUERIES)],
        actions=[_part(form, "action", path) for path in _paths(form, "actions", MAX_ACTIONS)] or [Part("action")],
        name=text_of(form, "name"),
        filter=text_of(form, "filter").replace("\r\n", "\n"),
        on_failure=text_of(form, "on_failure") or "continue",
        cool_down_minutes=text_of(form, "cool_down_minutes"),
        off_after_failures=text_of(form, "off_after_failures"),
        enabled="enabled" in form,
    )


def read_samples(form: FormData) -> dict[str, str]:
    """Return the values that ingredients had when the source was looked at last, or a test call came."""
    written = form.get("samples")
    if not isinstance(written, str) or not 0 < len(written) <= MAX_SAMPLES:
        return {}
    try:
        values = read_exact(written)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _paths(form: FormData, parts: str, most: int) -> Iterator[str]:
    pattern = re.compile(rf"{parts}\.([0-9]{{1,3}})\.service")
    numbers = sorted({int(found[1]) for name in form if (found := pattern.fullmatch(name))})
    return (f"{parts}.{number}" for number in numbers[:most])


def _part(form: FormData, kind: Kind, path: str) -> Part:
    part = Part(kind, text_of(form, f"{path}.service"), text_of(form, f"{path}.{kind}"))
    part.shown = text_of(form, f"{path}.shown")
    below = f"{path}."
    part.typed = [
        (name.removeprefix(below), value)
        for name, value in form.multi_items()
        if name.startswith(below + FIELDS) and isinstance(value, str)
    ]
    part.name = text_of(form, f"{path}.name")
    part.connection = text_of(form, f"{path}.connection")
    part.delay = {name: value for name in _DELAY if (value := text_of(form, f"{path}.delay.{name}"))}
    return part


def without_secrets(part: Part) -> list[tuple[str, str]]:
    """Return what the form said of the fields, to be sent along while another item is being chosen."""
    service, _dot, slug = part.shown.partition(".")
    known = find_item(part.kind, service, slug)
    secrets = secret_names(known.fields) if known is not None else frozenset()
    return [(name, value) for name, value in part.typed if name.removeprefix(FIELDS) not in secrets]
