"""The applet editor: choosing parts, filling in fields, saving."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.datastructures import FormData

from tests.support.editing import definition, press, problems
from tests.support.embedded import House, Json, applet, notification, web_request
from tests.support.pages import Pages, Shown, form_values, other_user
from tests.support.samples import parts
from tests.support.sink import Reply, Sink
from whenthen.services.contract import Action, Query, Service, Trigger
from whenthen.web.console.applet_templates import APPLET_TEMPLATES
from whenthen.web.console.editor.draft import Draft
from whenthen.web.console.editor.reading import read_form

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}} {% raw %} {{ config }}",
    "\u202eRTL\u200b\U0001f6aa",
    "x" * 200,
]


@pytest.fixture(scope="module")
def shared_pages(shared: House) -> Pages:
    """A browser for tests that leave nothing behind."""
    made = Pages(shared)
    assert made.sign_up().status == 200
    return made


def new_door(pages: Pages, **values: Any) -> Shown:
    """A form whose applet is ready to be saved."""
    page = pages.get("/applets/new?service=webhooks&trigger=event")
    page = press(pages, page, "service.actions.0.notifications", {"trigger.fields.event": "door"})
    return press(pages, page, "check", {"actions.0.fields.message": "It is {{Value1}}", **values})


def applets(pages: Pages) -> list[Json]:
    items: list[Json] = pages.house.call("GET", "/applets").json()["items"]
    return items


def test_from_nothing_to_an_applet(pages: Pages) -> None:
    """Given an empty form, when a trigger, an action and their fields are chosen, then the applet runs."""
    page = pages.get("/applets/new")
    page = press(pages, page, "service.trigger.webhooks")
    page = press(pages, page, "item.trigger.webhooks.event")
    page = press(pages, page, "service.actions.0.notifications", {"trigger.fields.event": "door"})
    assert page.find("#name")["placeholder"] == "Receive a web request → Send a notification"
    made = press(pages, page, "save", {"actions.0.fields.message": "It is {{Value1}}"})
    assert made.status == 200
    assert made.path == f"/applets/{applets(pages)[0]['id']}?made=1"
    pages.house.fire(query={"value1": "open"})
    assert pages.house.messages() == ["It is open"]


def test_all_of_an_applet(pages: Pages) -> None:
    """Every part of an applet can be written, and actions can be moved and removed."""
    page = new_door(pages, filter="Value1 == 'open'", name=" My door ")
    page = press(pages, page, "add-query")
    page = press(pages, page, "service.queries.0.webhooks")
    page = press(
        pages, page, "add-action", {"queries.0.fields.url": "https://example.org/now", "queries.0.name": "now"}
    )
    page = press(pages, page, "item.actions.1.webhooks.make_web_request")
    values = {
        "actions.1.fields.url": "https://example.org/{{Value1}}",
        "actions.1.fields.body": "line\r\nline",
        "actions.1.delay.kind": "seconds",
        "actions.1.delay.seconds": "2",
        "actions.1.delay.unit": "hours",
    }
    page = press(pages, page, "up-action.1", values)
    page = press(pages, page, "add-action")
    page = press(pages, page, "service.actions.2.notifications")
    page = press(pages, page, "remove-action.2")
    settings = {"on_failure": "stop", "cool_down_minutes": "10", "off_after_failures": "", "enabled": None}
    until = {"actions.1.delay.kind": "until", "actions.1.delay.until": "{{Value2}}"}
    made = press(pages, page, "save", settings | until)
    assert made.path.startswith("/applets/")
    stored = definition(pages, applets(pages)[0]["id"])
    assert stored["actions"][0]["fields"]["body"] == "line\nline"
    assert [action.get("delay") for action in stored["actions"]] == [{"seconds": 7200}, {"until": "{{Value2}}"}]
    assert stored["queries"][0]["name"] == "now"
    shown = {name: stored[name] for name in ("name", "filter", "on_failure", "cool_down_minutes", "enabled")}
    expected = {"name": "My door", "filter": "Value1 == 'open'", "on_failure": "stop", "enabled": False}
    assert shown == expected | {"cool_down_minutes": 10}
    assert stored["off_after_failures"] is None


def test_editing_changes_nothing_by_itself(pages: Pages) -> None:
    """Given an applet with all there is, when it is opened and saved, then it is the same, with the same trigger."""
    query = {"service": "webhooks", "query": "web_request", "name": "now", "fields": {"url": "https://example.org"}}
    actions = [
        {**web_request("https://example.org", additional_headers="A: b\nC: d"), "delay": {"seconds": 90}},
        {**notification(), "delay": {"until": "{{Value1}}"}},
    ]
    more: Json = {"filter": "Value1 == 'a\nb'", "cool_down_minutes": 7, "off_after_failures": 3, "enabled": False}
    made = pages.house.make_applet(queries=[query], actions=actions, on_failure="stop", **more)
    before = definition(pages, made["id"])
    trigger = pages.house.table("SELECT trigger_id FROM applets")
    page = pages.get(f"/applets/{made['id']}/edit")
    saved = press(pages, page, "save")
    assert saved.path == f"/applets/{made['id']}"
    assert definition(pages, made["id"]) == before
    assert pages.house.table("SELECT trigger_id FROM applets") == trigger
    assert pages.house.call("GET", f"/applets/{made['id']}").json()["version"] == 2


@pytest.mark.parametrize(
    ("service", "part", "fields"),
    [
        pytest.param(service, part, sample.fields_at("http://192.0.2.1"), id=f"{service.slug}-{part.slug}")
        for service, part, sample in parts()
    ],
)
def test_the_fields_of_every_part_survive_the_form(
    shared_pages: Pages, service: Service, part: Trigger | Action[Any] | Query[Any], fields: Json
) -> None:
    kind = {Trigger: "trigger", Query: "query"}.get(type(part), "action")
    model = part.fields.model_validate(fields, context={"zone": "Europe/Paris"})
    stored = model.model_dump(mode="json")
    document = applet()
    own = {"service": service.slug, kind: part.slug, "fields": stored}
    document |= {"trigger": own} if kind == "trigger" else {"queries" if kind == "query" else "actions": [own]}
    path = {"trigger": "trigger", "query": "queries.0", "action": "actions.0"}[kind]
    page = _page_of(shared_pages, document)
    again = press(shared_pages, page, "check")
    for shown in (page, again):
        values = form_values(shown.find("#editor-form"))
        draft = _draft(values)
        read = draft.parts()[path].fields
        secrets = {"service_key": stored["service_key"]} if stored.get("service_key") else {}
        assert part.fields.model_validate({**read, **secrets}).model_dump(mode="json") == stored
        assert not any(json.dumps(secret) in shown.html for secret in secrets.values())


def _page_of(pages: Pages, document: Json) -> Shown:
    """The form of a template with this applet."""
    with pytest.MonkeyPatch.context() as patch:
        template = next(iter(APPLET_TEMPLATES.values()))
        patch.setitem(APPLET_TEMPLATES, "tried", type(template)("tried", "Tried", "", document))
        return pages.get("/applets/new?template=tried")


def _draft(values: Json) -> Draft:
    pairs = [(name, item) for name, value in values.items() for item in (value if isinstance(value, list) else [value])]
    return read_form(FormData(pairs))


def test_what_is_missing_is_told_when_it_is_saved(pages: Pages) -> None:
    page = pages.get("/applets/new?service=webhooks&trigger=event")
    assert not any(page.texts(".error"))
    page = press(pages, page, "save", {"filter": "Value1 ==", "cool_down_minutes": "soon"})
    assert page.status == 422
    told = problems(page)
    assert [line.partition(":")[0] for line in told[:2]] == ["Event name", "Only if"]
    assert [line.partition(":")[0] for line in told[2:]] == ["Choose what to do.", "Cool-down"]
    for link in page.soup.select("#problems a"):
        page.find(str(link["href"]))
    assert page.find("#trigger-fields-event")["aria-invalid"] == "true"
    assert "trigger-fields-event-error" in page.find("#trigger-fields-event")["aria-describedby"]
    assert page.find("#filter").get_text().strip() == "Value1 =="
    assert page.find("#cool_down_minutes")["value"] == "soon"
    assert applets(pages) == []


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"trigger.fields.event": "a/b"}, "trigger-fields-event"),
        ({"actions.0.fields.link": "javascript:alert(1)"}, "actions-0-fields-link"),
        ({"actions.0.fields.message": "{{Value1"}, "actions-0-fields-message"),
        ({"actions.0.delay.kind": "until", "actions.0.delay.until": "some day"}, "actions-0-delay"),
        ({"actions.0.delay.kind": "seconds", "actions.0.delay.seconds": "-1"}, "actions-0-delay"),
        ({"filter": "now("}, "filter"),
        ({"name": "x" * 201}, "name"),
    ],
)
def test_mistakes_are_told_at_once_and_at_the_field(shared_pages: Pages, values: Json, path: str) -> None:
    page = press(shared_pages, new_door(shared_pages), "check", values)
    assert page.status == 200
    assert page.texts(f"#{path}-error") not in ([], [""])
    assert press(shared_pages, page, "save").status == 422
    assert applets(shared_pages) == []


def test_what_may_be_a_slip(pages: Pages) -> None:
    page = press(pages, new_door(pages), "check", {"actions.0.fields.message": "{{Valu1}}", "filter": "Value9 == 1"})
    assert "did you mean Value1?" in page.texts("#actions-0-notes li")[0]
    assert "Value9 is no ingredient" in page.texts("#filter-notes li")[0]
    assert press(pages, page, "save").path.endswith("?made=1")


def test_a_form_makes_one_applet(pages: Pages) -> None:
    """Given a double click or a reload, then there is one applet; what has changed since can be saved to it."""
    page = new_door(pages)
    first, second = press(pages, page, "save"), press(pages, page, "save")
    assert first.path == second.path
    changed = press(pages, page, "save", {"actions.0.fields.message": "New"})
    assert changed.status == 422
    assert "made already" in changed.text
    assert press(pages, changed, "save").path == f"/applets/{applets(pages)[0]['id']}"
    assert [item["actions"][0]["fields"]["message"] for item in applets(pages)] == ["New"]
    other = new_door(pages)
    with ThreadPoolExecutor(4) as threads:
        paths = set(threads.map(lambda _number: press(pages, other, "save").path, range(4)))
    assert len(paths) == 1
    assert first.path not in paths
    assert len(applets(pages)) == 2


def test_the_form_of_an_applet_that_was_deleted(pages: Pages) -> None:
    page = new_door(pages)
    made = press(pages, page, "save").path
    pages.house.call("DELETE", f"/applets/{applets(pages)[0]['id']}")
    again = press(pages, page, "save")
    assert again.path.endswith("?made=1")
    assert again.path != made


def test_an_applet_that_was_changed_elsewhere(pages: Pages) -> None:
    made = pages.house.make_applet()
    page = pages.get(f"/applets/{made['id']}/edit")
    pages.house.call("PATCH", f"/applets/{made['id']}", {"name": "Theirs"})
    shown = press(pages, page, "save", {"name": "Mine"})
    assert shown.status == 422
    assert "changed elsewhere" in shown.text
    assert shown.find("#name")["value"] == "Mine"
    assert applets(pages)[0]["name"] == "Theirs"
    for _ in range(2):
        # The second of two clicks on the same form.
        assert press(pages, shown, "save").path == f"/applets/{made['id']}"
    assert applets(pages)[0]["name"] == "Mine"
    assert press(pages, page, "save", {"version": ""}).status == 422


def test_secrets_stay_where_they_are(pages: Pages, sink: Sink) -> None:
    """F07: a key in a trigger's own fields is not sent to the browser, is kept, and goes to no other address."""
    sink.reply("/ifttt/v1/triggers/new", [Reply(body=b'{"data": []}')])
    fields = {"url": sink.url, "trigger": "new", "service_key": "key-of-mine"}
    trigger = {"service": "partner", "trigger": "event", "fields": fields}
    made = pages.house.make_applet(trigger=trigger)
    page = pages.get(f"/applets/{made['id']}/edit")
    assert "It is set." in page.text
    saved = press(pages, page, "save", {"name": "Renamed", "trigger.fields.limit": "7"})
    assert saved.path == f"/applets/{made['id']}"
    assert _service_key(pages) == "key-of-mine"
    typed = press(
        pages, pages.get(f"/applets/{made['id']}/edit"), "check", {"trigger.fields.service_key": "another-key"}
    )
    assert "Give this again" in typed.text
    for shown in (page, saved, typed):
        assert "key-of-mine" not in shown.html
        assert "another-key" not in shown.html
    with Sink() as elsewhere:
        elsewhere.reply("/ifttt/v1/triggers/new", [Reply(body=b'{"data": []}')])
        page = pages.get(f"/applets/{made['id']}/edit")
        press(pages, page, "save", {"trigger.fields.url": elsewhere.url})
        assert _service_key(pages) == ""
        assert all("key-of-mine" not in str(request.headers) for request in elsewhere.requests)


def _service_key(pages: Pages) -> str:
    document = json.loads(
        pages.house.table("SELECT CAST(definition AS TEXT) AS definition FROM applets")[0]["definition"]
    )
    return str(document["trigger"]["fields"]["service_key"])


def test_connections_can_be_chosen(pages: Pages) -> None:
    page = pages.get("/applets/new?service=button")
    assert page.link("Connect") == "/connections/new?service=button"
    refused = press(pages, page, "save", {"trigger.fields.label": "Open"})
    assert refused.texts("#trigger-connection-error") != [""]
    made = pages.house.call("POST", "/connections", {"service": "button", "name": "<b>Mine", "fields": {}}).json()
    page = press(pages, refused, "choose")
    assert page.find(f"#trigger-connection option[value='{made['id']}']").has_attr("selected")
    assert "/button/" in str(page.find("#address")["value"])
    page = press(pages, page, "service.actions.0.notifications")
    assert press(pages, page, "save", {"actions.0.fields.message": "m"}).path.endswith("?made=1")
    assert applets(pages)[0]["trigger"]["connection"] == made["id"]


def test_another_owner_sees_nothing(pages: Pages) -> None:
    made = pages.house.make_applet()
    button = pages.house.call("POST", "/connections", {"service": "button", "name": "Mine", "fields": {}}).json()
    eve = other_user(pages)
    path = f"/applets/{made['id']}/edit"
    form = form_values(pages.get(path).find("#editor-form"))
    own = form_values(eve.get("/applets/new").find("#editor-form"))["csrf"]
    assert eve.get(path).status == 404
    for operation in ("save", "check", "make-key", "preview"):
        assert eve.post(path, {**form, "csrf": own, "op": operation}).status == 404
        assert pages.post("/applets/nothing/edit", {**form, "op": operation}).status == 404
    page = eve.get("/applets/new?service=button")
    assert "Mine" not in page.find("#trigger").get_text()
    page = press(eve, page, "save", {"trigger.fields.label": "Open", "trigger.connection": button["id"]})
    assert "no such connection" in page.texts("#trigger-connection-error")[0]
    assert not page.soup.select("#address")


def test_a_form_without_its_token(pages: Pages) -> None:
    form = form_values(new_door(pages).find("#editor-form"))
    assert pages.post("/applets/new", {**form, "op": "save", "csrf": ""}).status == 403
    assert applets(pages) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(shared_pages: Pages, text: str) -> None:
    names = ["name", "filter", "actions.0.fields.message", "actions.0.fields.title", "actions.0.delay.until"]
    values = dict.fromkeys(
        [*names, "trigger.fields.event", "search.queries.0", "trigger.service", "draft", "key"], text
    )
    page = press(
        shared_pages, new_door(shared_pages), "add-query", values | {"actions.0.delay.kind": "until", "op": "add-query"}
    )
    assert page.status == 200
    values.pop("trigger.service")
    page = press(shared_pages, press(shared_pages, new_door(shared_pages), "add-query", values), "preview", values)
    assert page.status == 200
    assert page.find("#name")["value"] == text
    assert page.find("#actions-0-fields-message").get_text().strip() == text
    assert not page.soup.select("main script, main img, main [onerror]")
    assert "49" not in page.find("#name")["value"]


@pytest.mark.parametrize(
    "operation",
    [
        *("service.trigger.nothing", "item.actions.99.email.send_email", "service.actions.0.button"),
        *("item.trigger.notifications.send_notification", "remove-action.0", "up-action.x", "down-action.²"),
        *("change.filter", "add-query.x.y", "", "."),
    ],
)
def test_buttons_that_are_not_there(shared_pages: Pages, operation: str) -> None:
    page = press(shared_pages, new_door(shared_pages), operation)
    assert page.status == 200
    assert press(shared_pages, page, "remove-query.0").status == 200
    values = form_values(page.find("#editor-form"))
    assert values["trigger.trigger"] == "event"
    assert values["actions.0.action"] == "send_notification"


def test_no_more_parts_than_an_applet_may_have(pages: Pages) -> None:
    page = new_door(pages)
    for _number in range(12):
        page = press(pages, page, "add-action")
        page = press(pages, page, "add-query")
    assert len(page.soup.select("[name$='.action']")) == 10
    assert len(page.soup.select("[name$='.query']")) == 5
    assert not page.soup.select("#add-action, #add-query")


def test_choosing_again_keeps_what_fits(pages: Pages) -> None:
    """Given a feed trigger, when another one is chosen, then its URL is there still."""
    page = pages.get("/applets/new?service=feed&trigger=new_feed_item")
    page = press(
        pages, page, "change.trigger", {"trigger.fields.feed_url": "https://example.org/a", "trigger.fields.x": "y"}
    )
    assert "Look now" not in page.text
    page = press(pages, page, "service.trigger.feed")
    page = press(pages, page, "item.trigger.feed.new_feed_item_matches")
    assert page.find("#trigger-fields-feed_url")["value"] == "https://example.org/a"


def test_searching(pages: Pages) -> None:
    page = press(pages, pages.get("/applets/new"), "search", {"search.trigger": "SUNRISE"})
    assert page.texts("#trigger-options button") == ["Sunrise"]
    assert press(pages, page, "search", {"search.trigger": "<nothing>"}).texts("#trigger-options button") == []
    page = press(pages, page, "item.trigger.date_time.sunrise")
    assert page.find("#trigger-fields-latitude")


def test_templates_and_links(pages: Pages) -> None:
    for slug, template in APPLET_TEMPLATES.items():
        page = pages.get(f"/applets/new?template={slug}")
        assert page.status == 200
        assert page.find("#name")["value"] == template.name
        assert page.texts("#problems li") == []
    assert pages.get("/applets/new?template=nothing").find("#trigger-search")
    assert pages.get("/applets/new?service=nothing&trigger=x").find("#trigger-search")
    assert pages.get("/applets/new?service=feed").texts("#trigger-options button")[0] == "New feed item"


def test_who_has_no_idea_finds_the_templates(pages: Pages) -> None:
    assert pages.get("/applets/new").link("See the templates") == "/applets/templates"
    assert "See the templates" not in pages.get("/applets/new?service=webhooks&trigger=event").text


def test_a_choice_is_not_called_optional(pages: Pages) -> None:
    """Given a field that always has a value, then its label does not say that it may be left empty; others do."""
    page = pages.get("/connections/new?service=email")
    assert page.texts('label[for="fields-kind"]') == ["Sent by"]
    assert page.texts("#fields-kind option") == ["SMTP", "SES"]
    assert "optional" in page.texts('label[for="fields-host"]')[0]
