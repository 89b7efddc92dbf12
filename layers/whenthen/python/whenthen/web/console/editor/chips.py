"""Ingredients as chips: what a click puts into a field, with a sample of what it stands for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from whenthen.model.applet import default_query_name
from whenthen.model.exact_json import read_exact, write_exact
from whenthen.services.registry import find_trigger
from whenthen.web.console.editor.draft import Draft
from whenthen.web.console.language import gettext as _

_MAX_SAMPLE = 60
_MAX_MEMBERS = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Chip:
    """An ingredient: `expression` is how filters name it, `label` what it is, `sample` a value, cut when it is long."""

    expression: str
    label: str
    sample: str

    @property
    def template(self) -> str:
        """How texts name it."""
        return "{{" + self.expression + "}}"


def chips_for(draft: Draft, path: str, samples: Mapping[str, str]) -> tuple[Chip, ...]:
    """Return the ingredients that a part can use.

    Parameters
    ----------
    path:
        Of the part, or ``filter``. A query can use the trigger's and those of queries before it.
    samples:
        Values of the trigger's ingredients; those without one have their sample of the catalog.
    """
    chips: list[Chip] = []
    trigger = find_trigger(draft.trigger.service, draft.trigger.slug)
    for ingredient in trigger.ingredients if trigger is not None else ():
        value = samples.get(ingredient.slug, ingredient.sample)
        chips.append(Chip(ingredient.slug, _(ingredient.name), _cut(value)))
        chips += _members(ingredient.slug, value)
    for index, query in enumerate(draft.queries):
        if path == f"queries.{index}":
            break
        rows = query.name or default_query_name(index)
        item = query.item
        for ingredient in getattr(item, "ingredients", ()):
            chips.append(Chip(f"{rows}[0].{ingredient.slug}", _(ingredient.name), _cut(ingredient.sample)))
            chips += _members(f"{rows}[0].{ingredient.slug}", ingredient.sample)
    return tuple(chips)


def _members(expression: str, value: str) -> list[Chip]:
    """Those of a JSON object that have a plain name."""
    if not value.lstrip().startswith("{"):
        return []
    try:
        members = read_exact(value)
    except (ValueError, RecursionError):
        return []
    names = [name for name in members if _NAME.fullmatch(name)][:_MAX_MEMBERS]
    return [Chip(f"({expression}|fromjson).{name}", name, _cut(_text(members[name]))) for name in names]


def _text(value: object) -> str:
    try:
        return value if isinstance(value, str) else write_exact(value, (", ", ": "))
    except RecursionError:
        return ""


def _cut(value: str) -> str:
    return value if len(value) <= _MAX_SAMPLE else value[:_MAX_SAMPLE] + "…"
