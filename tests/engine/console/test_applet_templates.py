"""The templates: each is an applet once its owner has filled in what is left empty."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.pages import Pages
from tests.support.samples import samples
from whenthen.engine.drafts import look
from whenthen.engine.trying import try_applet
from whenthen.services.contract import Action, Query, Trigger
from whenthen.services.registry import SERVICES, find_action, find_query, find_trigger
from whenthen.web.console.applet_templates import APPLET_TEMPLATES, AppletTemplate

_CONNECTION = "0123456789abcdef" * 2

_PUSH = {"pusher": {"name": "ada"}, "repository": {"full_name": "ada/engine"}}
_GIVEN = {"github_push_to_phone": {"EventType": "push", "JsonPayload": json.dumps(_PUSH)}}
"""What arrives, where the trigger's own samples are of another sender."""

every_template = pytest.mark.parametrize("template", APPLET_TEMPLATES.values(), ids=lambda item: item.slug)


def _parts(applet: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Trigger | Action[Any] | Query[Any]]]:
    """Each part's JSON with what it is of."""
    finds: tuple[tuple[str, list[dict[str, Any]], Any], ...] = (
        ("trigger", [applet["trigger"]], find_trigger),
        ("query", applet.get("queries", []), find_query),
        ("action", applet["actions"], find_action),
    )
    for kind, parts, find in finds:
        for part in parts:
            found = find(part["service"], part[kind])
            assert found is not None, part
            yield part, found


def _filled(applet: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str], dict[str, Any]]:
    """The applet with its blanks filled from the services' samples, its connections' services and their fields."""
    connections, accounts = {}, {}
    for number, (part, found) in enumerate(_parts(applet)):
        sample = samples(SERVICES[part["service"]])[found.slug]
        needed = found.fields.model_json_schema().get("required", [])
        given = sample.fields_at("https://example.org")
        part["fields"] = {name: given[name] for name in needed} | part["fields"]
        if found.connects and not found.may_connect:
            part["connection"] = f"{number:x}{_CONNECTION[1:]}"
            connections[part["connection"]] = found.connects
            accounts[part["connection"]] = sample.account_of(found)
    return applet, connections, accounts


@every_template
def test_filled_in_it_is_an_applet(template: AppletTemplate) -> None:
    """Given a template with its blanks filled, then nothing is wrong or odd, and each action has something to send."""
    applet, connections, accounts = _filled(template.draft())
    draft = look(applet, zone="Europe/Paris", connections=connections)
    assert draft.problems == ()
    assert draft.warnings == ()
    opened: Any = SimpleNamespace(
        peek=lambda _owner, connection, _service, _deadline: SimpleNamespace(fields=accounts[connection])
    )
    trial = try_applet(opened, "owner", draft.must_be_good(), _GIVEN.get(template.slug, {}), "Europe/Paris")
    assert trial.ends == ""
    for tried in (*trial.queries, *trial.actions):
        assert tried.error == ""
        assert tried.sends
        assert tried.notes == ()


@every_template
def test_nobody_else_knows_what_is_left_out(template: AppletTemplate) -> None:
    """Given a template, then it has no connection, no address and nobody's place."""
    for part, _ in _parts(template.draft()):
        assert "connection" not in part
        assert not {"url", "feed_url", "to", "latitude", "lat"} & set(part["fields"])


def test_the_page(pages: Pages) -> None:
    shown = pages.get("/applets/templates")
    assert {str(link["href"]) for link in shown.soup.select(".template a")} == {
        f"/applets/new?template={slug}" for slug in APPLET_TEMPLATES
    }
