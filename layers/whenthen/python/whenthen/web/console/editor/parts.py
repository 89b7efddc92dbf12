"""The parts of a draft as the page shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whenthen.services.checking import PolledFields
from whenthen.services.connecting import secret_names
from whenthen.services.contract import Service
from whenthen.services.registry import SERVICES
from whenthen.services.schedules.fields import ScheduleFields
from whenthen.store.connections import ConnectionRow
from whenthen.web.console.editor.chips import Chip, chips_for
from whenthen.web.console.editor.draft import FIELDS, Draft, Item, Part
from whenthen.web.console.editor.picking import Picker, pick
from whenthen.web.console.editor.reading import without_secrets
from whenthen.web.console.field_forms import FormField, form_fields
from whenthen.web.console.language import gettext as _

_SELDOM_CHANGED = {*PolledFields.model_fields, *ScheduleFields.model_fields}
"""Fields of triggers that have their good value already."""

_INGREDIENT_KINDS = ("line", "text", "lines", "pairs")


@dataclass(frozen=True, slots=True)
class Page:
    """What the parts of one page share: the owner's connections, what is wrong, and where to go on."""

    connections: Sequence[ConnectionRow]
    errors: Mapping[str, str]
    samples: Mapping[str, str]
    search: Mapping[str, str]
    zone: str
    focus: str = ""


@dataclass(frozen=True, slots=True)
class PartView:
    """A part of the form.

    Parameters
    ----------
    picker:
        What can be chosen; None when something was.
    carried:
        Names and texts of fields to be sent along while nothing is chosen.
    chips:
        The ingredients that its texts can use.
    errors:
        What is wrong with the part as a whole, and with its connection.
    """

    path: str
    part: Part
    service: Service | None
    item: Item | None
    picker: Picker | None
    carried: Sequence[tuple[str, str]]
    fields: Sequence[FormField]
    chips: Sequence[Chip]
    connections: Sequence[ConnectionRow]
    errors: Mapping[str, str]

    @property
    def id(self) -> str:
        """The element's id."""
        return self.path.replace(".", "-")

    @property
    def further_fields(self) -> list[FormField]:
        """Those that are shown when somebody asks for them."""
        return [field for field in self.fields if _is_further(self.part, field)]

    @property
    def main_fields(self) -> list[FormField]:
        """The others, required ones first."""
        shown = [field for field in self.fields if not _is_further(self.part, field)]
        return sorted(shown, key=lambda field: not field.required)

    @property
    def has_pairs(self) -> bool:
        """Whether it has fields with rows of which there can be more."""
        return any(field.kind == "pairs" for field in self.fields)

    @property
    def live_ids(self) -> list[str]:
        """The ids of what a check renews while somebody is writing."""
        slots = [self.id + name for name in ("-error", "-connection-error", "-notes")]
        return slots + [f"{field.id}-error" for field in self.fields]

    @property
    def chips_ids(self) -> list[str]:
        """The ids of the chips, whose samples change with what was found."""
        if not self.chips:
            return []
        return [f"{field.id}-chips" for field in self.fields if self.takes_chips(field)]

    def focused(self, field: FormField, focus: str) -> FormField:
        """Return a field that is gone on with if it is the first of a part that was just chosen."""
        if focus != f"{self.id}-first" or field.kind in ("choices", "pairs") or field != self.main_fields[0]:
            return field
        return replace(field, attributes={**field.attributes, "autofocus": True})

    def takes_chips(self, field: FormField) -> bool:
        """Say if ingredients can be put into a field."""
        return bool(self.chips) and self.part.kind != "trigger" and field.kind in _INGREDIENT_KINDS


def view(draft: Draft, path: str, page: Page) -> PartView:
    """Return a part as the page shows it."""
    part = draft.parts()[path]
    item = part.item
    service = SERVICES.get(part.service)
    errors = {
        "part": next((page.errors[name] for name in _own_paths(part, path) if name in page.errors), ""),
        "connection": page.errors.get(f"{path}.connection", ""),
        **{name: page.errors.get(f"{path}.{name}", "") for name in ("name", "delay.seconds", "delay.until")},
    }
    errors["delay.seconds"] = errors["delay.seconds"] or page.errors.get(f"{path}.delay", "")
    if item is None:
        picker = pick(path, part, page.search.get(path, ""))
        return PartView(path, part, service, None, picker, _carried(part, path), (), (), (), errors)
    chips = () if part.kind == "trigger" else chips_for(draft, path, page.samples)
    fields = _fields(part, item, path, page)
    return PartView(path, part, service, item, None, (), fields, chips, _connections(item, page), errors)


def _own_paths(part: Part, path: str) -> tuple[str, ...]:
    return path, f"{path}.service", f"{path}.{part.kind}", f"{path}.fields"


def _carried(part: Part, path: str) -> list[tuple[str, str]]:
    return [(f"{path}.{name}", value) for name, value in without_secrets(part)]


def _fields(part: Part, item: Item, path: str, page: Page) -> list[FormField]:
    fields = form_fields(item.fields, part.fields, page.errors, f"{path}.{FIELDS}")
    secrets = secret_names(item.fields)
    changed = []
    for field in fields:
        slug = _slug(field)
        if slug in secrets:
            field = _secret(field, slug, part)
        if field.kind == "zone":
            field = replace(field, attributes={**field.attributes, "list": "zones", "placeholder": page.zone})
        changed.append(field)
    return changed


def _slug(field: FormField) -> str:
    return field.name.rpartition(".")[2]


def _is_further(part: Part, field: FormField) -> bool:
    return part.kind == "trigger" and not field.required and _slug(field) in _SELDOM_CHANGED


def _secret(field: FormField, slug: str, part: Part) -> FormField:
    if slug in part.typed_secrets and not field.error:
        return replace(field, error=_("Give this again before you save: secrets are not sent back to you."))
    if part.stored.get(slug):
        return replace(field, help=f"{field.help} {_('It is set. Leave it empty to keep it.')}".strip())
    return field


def _connections(item: Item, page: Page) -> list[ConnectionRow]:
    if not item.connects:
        return []
    return [row for row in page.connections if row.service == item.connects]


def connects(draft: Draft) -> bool:
    """Say if any part of the draft takes a connection."""
    return any(_connects(part.item) for part in draft.parts().values())


def _connects(item: Any) -> bool:
    return item is not None and bool(item.connects)


def choose_only_connections(draft: Draft, rows: Sequence[ConnectionRow]) -> None:
    """Choose for a part that needs a connection the one that there is, if there is one."""
    for part in draft.parts().values():
        item = part.item
        if item is None or not item.connects or item.may_connect or part.connection:
            continue
        own = [row for row in rows if row.service == item.connects]
        if len(own) == 1:
            part.connection = own[0].connection_id
