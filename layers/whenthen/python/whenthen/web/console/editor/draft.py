"""An applet that is being written, with whatever may be missing in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.datastructures import FormData

from whenthen.model.applet import DEFAULT_OFF_AFTER_FAILURES, MAX_NAME
from whenthen.services.connecting import secret_names
from whenthen.services.contract import Action, Query, Trigger
from whenthen.services.registry import SERVICES, find_action, find_query, find_trigger
from whenthen.web.console.field_forms import read_fields
from whenthen.web.console.language import gettext as _
from whenthen.web.console.schedule_words import when

type Json = dict[str, Any]
type Kind = Literal["trigger", "query", "action"]
type Item = Trigger | Query[Any] | Action[Any]

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
"""In what a delay is written, in seconds."""

FIELDS = "fields."


@dataclass
class Part:
    """The trigger, a query or an action.

    Parameters
    ----------
    service, slug:
        What it is; empty while that is not chosen.
    typed:
        What the form says of its fields: names below the part, ``fields.url``, and texts.
    shown:
        Of which service and item the form had all fields, ``webhooks.event``. Of others it has what can be taken over.
    stored:
        JSON values of fields that come from a stored applet or a template. What the form says goes before.
    name:
        Of a query's rows.
    delay:
        Of an action: ``kind`` (empty, ``seconds`` or ``until``), ``seconds`` (in ``unit``), ``unit``, ``until``.
    """

    kind: Kind
    service: str = ""
    slug: str = ""
    typed: list[tuple[str, str]] = field(default_factory=list)
    shown: str = ""
    stored: Json = field(default_factory=dict)
    name: str = ""
    connection: str = ""
    delay: dict[str, str] = field(default_factory=dict)

    @property
    def item(self) -> Item | None:
        """What was chosen, None while nothing was or when it is not offered any more."""
        return find_item(self.kind, self.service, self.slug)

    @property
    def fields(self) -> Json:
        """JSON values of the chosen item's fields. What can't be read stays text."""
        if self.item is None:
            return {}
        read = read_fields(self.item.fields, FormData([*self.typed]), FIELDS)
        if self.shown != f"{self.service}.{self.slug}":
            names = {name.split(".")[1] for name, _value in self.typed}
            read = {name: value for name, value in read.items() if name in names}
        return {**self.stored, **read}

    @property
    def typed_secrets(self) -> set[str]:
        """The names of the secret fields that the form had something for. It is not shown again."""
        secrets = secret_names(self.item.fields) if self.item is not None else frozenset()
        return {name for name in secrets if any(typed == (FIELDS + name) and value for typed, value in self.typed)}

    def to_json(self) -> Json:
        """Return the part as in an applet's JSON."""
        document: Json = {"service": self.service, self.kind: self.slug, "fields": self.fields}
        if self.connection:
            document["connection"] = self.connection
        if self.name:
            document["name"] = self.name
        match self.delay.get("kind"):
            case "seconds":
                amount = self.delay.get("seconds", "")
                factor = UNITS.get(self.delay.get("unit", ""), 1)
                document["delay"] = {"seconds": int(amount) * factor if _is_number(amount) else amount}
            case "until":
                document["delay"] = {"until": self.delay.get("until", "")}
        return document

    @classmethod
    def of_json(cls, kind: Kind, document: Mapping[str, Any]) -> "Part":
        """Return a part of a stored applet or a template."""
        part = cls(kind, document["service"], document[kind], stored=dict(document.get("fields", {})))
        part.name = document.get("name") or ""
        part.connection = document.get("connection") or ""
        part.delay = _delay(document.get("delay") or {})
        return part


@dataclass
class Draft:
    """An applet that is being written. Numbers are texts as they were typed."""

    trigger: Part = field(default_factory=lambda: Part("trigger"))
    queries: list[Part] = field(default_factory=list)
    actions: list[Part] = field(default_factory=lambda: [Part("action")])
    name: str = ""
    filter: str = ""
    on_failure: str = "continue"
    cool_down_minutes: str = ""
    off_after_failures: str = str(DEFAULT_OFF_AFTER_FAILURES)
    enabled: bool = True

    def parts(self) -> dict[str, Part]:
        """Return all parts by their paths, ``trigger``, ``queries.0``, ``actions.0``."""
        found = {"trigger": self.trigger}
        found |= {f"queries.{index}": part for index, part in enumerate(self.queries)}
        return found | {f"actions.{index}": part for index, part in enumerate(self.actions)}

    def to_json(self) -> Json:
        """Return the applet's JSON."""
        return {
            "name": self.name or suggested_name(self),
            "trigger": self.trigger.to_json(),
            "queries": [part.to_json() for part in self.queries],
            "filter": self.filter if self.filter.strip() else None,
            "actions": [part.to_json() for part in self.actions],
            "on_failure": self.on_failure,
            "cool_down_minutes": _number(self.cool_down_minutes),
            "off_after_failures": _number(self.off_after_failures),
            "enabled": self.enabled,
        }

    @classmethod
    def of_json(cls, document: Mapping[str, Any]) -> "Draft":
        """Return the draft of a stored applet or a template. A template may leave out all but the trigger."""
        draft = cls(
            trigger=Part.of_json("trigger", document["trigger"]),
            queries=[Part.of_json("query", part) for part in document.get("queries", ())],
            actions=[Part.of_json("action", part) for part in document.get("actions", ())] or [Part("action")],
            name=document.get("name", ""),
            filter=document.get("filter") or "",
            on_failure=document.get("on_failure", "continue"),
            enabled=document.get("enabled", True),
        )
        draft.cool_down_minutes = str(document.get("cool_down_minutes") or "")
        draft.off_after_failures = str(document.get("off_after_failures", DEFAULT_OFF_AFTER_FAILURES) or "")
        return draft


def find_item(kind: Kind, service: str, slug: str) -> Item | None:
    """Return the trigger, query or action with these slugs or None."""
    match kind:
        case "trigger":
            return find_trigger(service, slug)
        case "query":
            return find_query(service, slug)
    return find_action(service, slug)


def items_of(kind: Kind, service: str) -> tuple[Item, ...]:
    """Return what a service offers of a kind."""
    found = SERVICES.get(service)
    if found is None:
        return ()
    match kind:
        case "trigger":
            return found.triggers
        case "query":
            return found.queries
    return found.actions


def suggested_name(draft: Draft) -> str:
    """Return a name for an applet that has none, empty while nothing is chosen."""
    item = draft.trigger.item
    if item is None:
        return ""
    names = [when(item.fields, draft.trigger.fields) or _(item.name)]
    names += [_(part.item.name) for part in draft.actions[:1] if part.item is not None]
    return " → ".join(names)[:MAX_NAME]


def _delay(document: Mapping[str, Any]) -> dict[str, str]:
    if seconds := document.get("seconds"):
        unit = next(name for name, factor in reversed(UNITS.items()) if seconds % factor == 0)
        return {"kind": "seconds", "seconds": str(seconds // UNITS[unit]), "unit": unit}
    return {"kind": "until", "until": document["until"]} if document.get("until") else {}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def _number(text: str) -> int | str | None:
    """A number, nothing, or what is none: its model says so."""
    return (int(text) if _is_number(text) else text) if text else None
