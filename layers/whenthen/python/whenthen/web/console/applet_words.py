"""An applet in words: what each of its parts is, what it is set to, and which part a problem is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from whenthen.engine.masking import MASK
from whenthen.model.applet import ActionRef, Applet, Delay, QueryRef, TriggerRef, query_name
from whenthen.services.connecting import secret_names
from whenthen.services.contract import Trigger
from whenthen.services.registry import SERVICES, find_action, find_query, find_trigger
from whenthen.services.schedules.fields import ClockFields
from whenthen.web.console.field_forms import choice_name, chosen_fields
from whenthen.web.console.language import gettext as _
from whenthen.web.console.language import ngettext
from whenthen.web.console.mistakes import by_path
from whenthen.web.console.schedule_words import duration, when

_MAX_DETAIL = 48


@dataclass(frozen=True, slots=True)
class Words:
    """A part of an applet in words.

    Parameters
    ----------
    service, service_name:
        The service's slug, and its name as people know it.
    values:
        What its fields are set to, by their titles, without those that are as they would be anyhow; JSON values.
    connection:
        The id of its connection, or None.
    rows:
        The name of the ingredient with a query's rows; empty for other parts.
    wait:
        How long an action waits before it runs; empty when it does not.
    """

    service: str
    service_name: str
    name: str
    values: tuple[tuple[str, Any], ...] = ()
    connection: str | None = None
    rows: str = ""
    wait: str = ""


def sentence(applet: Applet) -> str:
    """Return the applet in one sentence: When this, then that."""
    actions = [_named(_action(action)) for action in applet.actions]
    return _("When %(trigger)s, then %(actions)s") % {
        "trigger": _told(applet.trigger),
        "actions": _(" and ").join(actions),
    }


def services_of(applet: Applet) -> list[tuple[str, str]]:
    """Return slug and name of each service that takes part, once, in order of the parts."""
    parts: list[TriggerRef | QueryRef | ActionRef] = [applet.trigger, *applet.queries, *applet.actions]
    return list(dict.fromkeys((part.service, service_name(part.service)) for part in parts))


def service_name(slug: str) -> str:
    """Return a service's name; of one that is gone its slug."""
    found = SERVICES.get(slug)
    return _(found.name) if found else slug


def trigger_words(reference: TriggerRef) -> Words:
    """Return an applet's trigger in words."""
    return _words(reference, reference.trigger, find_trigger(reference.service, reference.trigger))


def query_words(applet: Applet) -> list[Words]:
    """Return an applet's queries in words."""
    return [
        _words(part, part.query, find_query(part.service, part.query), rows=query_name(applet, index))
        for index, part in enumerate(applet.queries)
    ]


def action_words(applet: Applet) -> list[Words]:
    """Return an applet's actions in words."""
    return [_action(part) for part in applet.actions]


def settings_words(applet: Applet) -> list[str]:
    """Return what is set of how an applet runs, a sentence each, without what every applet does."""
    found = []
    if applet.on_failure == "stop" and len(applet.actions) > 1:
        found.append(_("When an action fails, those after it are left out."))
    if minutes := applet.cool_down_minutes:
        found.append(_("After a run it pauses: for %(time)s.") % {"time": duration(minutes * 60)})
    if failures := applet.off_after_failures:
        found.append(
            ngettext(
                "It turns itself off after %(num)d failure.",
                "It turns itself off after %(num)d failures in a row.",
                failures,
            )
            % {"num": failures}
        )
    return found


def problems(applet: Applet, error: Exception) -> list[str]:
    """Return what is wrong with an applet, each with the part and the field that it is about.

    Parameters
    ----------
    error:
        One of `mistakes.MISTAKES`.
    """
    return [f"{_where(applet, path)}: {message}" for path, message in by_path(error).items()]


def _where(applet: Applet, path: str) -> str:
    """Return the words for a path of an applet's JSON such as ``actions.0.fields.url``."""
    kind, _dot, rest = path.partition(".")
    if kind == "trigger":
        return " · ".join([_("When"), trigger_words(applet.trigger).name, *_field(rest, _trigger_model(applet))])
    index, _dot, rest = rest.partition(".")
    if kind == "actions" and index.isdigit() and int(index) < len(applet.actions):
        action = applet.actions[int(index)]
        found = find_action(action.service, action.action)
        return " · ".join([_("Then"), _action(action).name, *_field(rest, found.fields if found else None)])
    if kind == "queries" and index.isdigit() and int(index) < len(applet.queries):
        query = applet.queries[int(index)]
        asked = find_query(query.service, query.query)
        return " · ".join(
            [_("With"), query_words(applet)[int(index)].name, *_field(rest, asked.fields if asked else None)]
        )
    return _("Only if") if kind == "filter" else path


def _trigger_model(applet: Applet) -> type[BaseModel] | None:
    found = find_trigger(applet.trigger.service, applet.trigger.trigger)
    return found.fields if found else None


def _field(path: str, model: type[BaseModel] | None) -> list[str]:
    kind, _dot, rest = path.partition(".")
    if kind == "connection":
        return [_("Connection")]
    if kind == "fields" and rest:
        name = rest.partition(".")[0]
        return [_title(name, _properties(model).get(name, {}))]
    return []


def _told(reference: TriggerRef) -> str:
    """Return a trigger with what tells it from others of its kind."""
    words, found = trigger_words(reference), find_trigger(reference.service, reference.trigger)
    if found is None:
        return _named(words)
    if schedule := when(found.fields, reference.fields):
        return f"{words.service_name}: {schedule}"
    return _named(words) + _detail(found, reference)


def _detail(found: Trigger, reference: TriggerRef) -> str:
    """Return the first text that a trigger needs, to be put after its name."""
    needed = found.fields.model_json_schema().get("required", [])
    values = (reference.fields.get(name) for name in needed)
    text = next((value for value in values if isinstance(value, str)), "")
    if not text or len(text) > _MAX_DETAIL:
        return ""
    # Today's weather report at 07:30.
    return f" {text}" if issubclass(found.fields, ClockFields) else f" ({text})"


def _named(words: Words) -> str:
    return f"{words.service_name}: {words.name}"


def _action(part: ActionRef) -> Words:
    return _words(part, part.action, find_action(part.service, part.action), wait=_wait(part.delay))


def _wait(delay: Delay | None) -> str:
    if delay is None:
        return ""
    if delay.seconds is not None:
        return _("after %(time)s") % {"time": duration(delay.seconds)}
    return _("not before %(time)s") % {"time": delay.until}


def _words(
    reference: TriggerRef | QueryRef | ActionRef, slug: str, found: Any, *, rows: str = "", wait: str = ""
) -> Words:
    return Words(
        service=reference.service,
        service_name=service_name(reference.service),
        name=_(found.name) if found else slug,
        values=tuple(_values(found.fields if found else None, reference.fields)),
        connection=reference.connection,
        rows=rows,
        wait=wait,
    )


def _values(model: type[BaseModel] | None, fields: Mapping[str, Any]) -> list[tuple[str, Any]]:
    properties = _properties(model)
    secrets = secret_names(model) if model is not None else frozenset()  # type: ignore[arg-type]
    chosen = chosen_fields(model) if model is not None else frozenset()
    found = []
    for name in [*properties, *(name for name in fields if name not in properties)]:
        value = fields.get(name)
        schema = properties.get(name, {})
        if value in (None, "", [], {}) or value == schema.get("default"):
            continue
        if name in secrets:
            value = MASK
        elif name in chosen:
            value = ", ".join(choice_name(str(item)) for item in (value if isinstance(value, list) else [value]))
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        elif isinstance(value, bool):
            value = _("yes") if value else _("no")
        found.append((_title(name, schema), value))
    return found


def _properties(model: type[BaseModel] | None) -> dict[str, Any]:
    properties: dict[str, Any] = model.model_json_schema()["properties"] if model is not None else {}
    return properties


def _title(name: str, schema: Mapping[str, Any]) -> str:
    return _(str(schema.get("title", name)))
