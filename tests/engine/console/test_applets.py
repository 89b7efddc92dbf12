"""The list of applets, and what is done with one."""

import json
import re

import pytest
import time_machine

from tests.support.embedded import Json, applet, notification, web_request
from tests.support.history import HOUR, close
from tests.support.hostile_texts import assert_is_text, with_hostile_texts
from tests.support.pages import Pages, Shown, form_values, other_user
from tests.support.sink import Reply, Sink
from whenthen.clock import now_ms
from whenthen.store.errors import Unreachable

PATHS = (
    ("GET", ""),
    ("GET", "/recent"),
    ("GET", "/numbers"),
    ("GET", "/try"),
    ("POST", "/try"),
    ("POST", "/check"),
    ("POST", "/key"),
    ("POST", "/switch"),
    ("POST", "/duplicate"),
    ("POST", "/delete"),
    ("POST", "/restore"),
)


def _page(pages: Pages, made: Json, rest: str = "") -> Shown:
    return pages.get(f"/applets/{made['id']}{rest}")


def _text(shown: Shown, selector: str) -> str:
    return " ".join(shown.find(selector).get_text().split())


def _press(pages: Pages, shown: Shown, action: str, **headers: str) -> Shown:
    """Send the form with this action as it is."""
    return pages.post(action, form_values(shown.find(f'form[action="{action}"]')), **headers)


def _feed(url: str) -> Json:
    return {"service": "feed", "trigger": "new_feed_item", "fields": {"feed_url": url}}


def test_the_first_visit(pages: Pages) -> None:
    """Given no applets, then the list says what they are and has templates."""
    shown = pages.get("/applets")
    assert shown.link("Make an applet") == "/applets/new"
    assert shown.soup.select('.template a[href="/applets/new?template=webhook_to_notification"]')
    assert not shown.soup.select("#q")


def test_the_list_says_how_applets_stand(pages: Pages) -> None:
    """Given an applet that has run and a schedule, then each has its sentence, its last run and what comes next."""
    house = pages.house
    made = house.make_applet()
    daily = {"service": "date_time", "trigger": "every_day_at", "fields": {"time": "07:30"}}
    timer = house.make_applet(name="Morning", trigger=daily)
    off = house.make_applet(name="Off", enabled=False)
    house.fire(query={"value1": "open"})
    house.work()
    house.database.sent.clear()
    shown = pages.get("/applets")
    row = _text(shown, f"#applet-{made['id']}")
    assert "When Webhooks: Receive a web request (door), then Notifications: Send a notification" in row
    assert "succeeded less than a minute ago 100 % of 1 succeeded in 7 days" in row
    assert (
        "When Date & Time: Every day at 07:30, then Notifications: Send a notification No runs in 7 days Next run in"
        in (_text(shown, f"#applet-{timer['id']}"))
    )
    assert [button["aria-checked"] for button in shown.soup.select("[role=switch]")] == ["false", "true", "true"]
    assert shown.find(f"#applet-{off['id']} [role=switch]")["aria-labelledby"] == f"name-{off['id']}"
    assert shown.texts("#count") == ["3 applets"]
    # What has no key in it scans.
    assert len([sql for sql in house.database.sent if " FROM " in sql and "= CAST(" not in sql]) <= 3


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=door", ["Door"]),
        ("q=+DOOR++webHOOKS", ["Door"]),
        ("q=date", ["Morning"]),
        ("q=nothing", []),
        ("state=on", ["Morning", "Door"]),
        ("state=off", ["Gate"]),
        ("state=failing", []),
        ("state=%3Cscript%3E", ["Gate", "Morning", "Door"]),
        ("q=door&state=off", []),
        ("page=2", []),
    ],
)
def test_looking_for_applets(pages: Pages, query: str, names: list[str]) -> None:
    house = pages.house
    house.make_applet()
    timer = {"service": "date_time", "trigger": "every_minutes", "fields": {"minutes": 15}}
    house.make_applet(name="Morning", trigger=timer)
    house.make_applet(name="Gate", enabled=False)
    shown = pages.get(f"/applets?{query}")
    assert shown.texts(".applet h2") == names
    part = pages.get(f"/applets?{query}", **{"HX-Request": "true"})
    assert part.texts(".applet h2") == names
    assert not part.soup.select("html, #q")


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", "page=%00", "page=9999999"])
def test_no_such_page(pages: Pages, query: str) -> None:
    assert pages.get(f"/applets?{query}").status == 404


def test_pages_of_many_applets(pages: Pages) -> None:
    """Given more applets than a page shows, then links lead on and back, with what was looked for."""
    for number in range(52):
        pages.house.make_applet(name=f"Lamp {number}", enabled=False)
    first = pages.get("/applets?q=lamp&state=off")
    assert len(first.soup.select(".applet")) == 50
    second = pages.get(first.link("More →"))
    assert second.texts(".applet h2") == ["Lamp 1", "Lamp 0"]
    assert pages.get(second.link("← Back")).texts(".applet h2") == first.texts(".applet h2")


def test_what_needs_attention(pages: Pages) -> None:
    """Given a run that failed, then its applet is among those that need attention."""
    house = pages.house
    made = house.make_applet(actions=[web_request("http://127.0.0.1:1/", body="{{Value1}}")], filter="Value1|int > 0")
    house.make_applet(name="Fine", event="other")
    with Sink() as sink:
        sink.reply("/gone", [Reply(status=410)])
        house.call("PATCH", f"/applets/{made['id']}", {"actions": [web_request(f"{sink.url}/gone")]})
        house.fire(query={"value1": "5"})
        house.work()
    shown = pages.get("/applets?state=failing")
    assert shown.texts(".applet h2") == ["Door"]
    assert shown.texts(".applet .state-failed") == ["failed"]


def test_what_went_wrong_before_needs_attention(clock: time_machine.Traveller, pages: Pages) -> None:
    """Given failures that are in the log, or before a try that waits, then their applets need attention still."""
    house = pages.house
    with Sink() as sink:
        sink.reply("/odd", [Reply(400), Reply(200), Reply(400), Reply(503)])
        for name in ("Bad", "Mended"):
            house.make_applet(name=name, event=name, actions=[web_request(f"{sink.url}/odd")])
        for event in ("Mended", "Mended", "Bad", "Bad"):
            house.fire(event)
            house.work()
            clock.shift(1)
        assert pages.get("/applets").texts(".applet .facts .badge") == ["succeeded", "waiting"]
        assert pages.get("/applets?state=failing").texts(".applet h2") == ["Bad"]
        clock.shift(5 * HOUR // 1000)
        close(house.runtime.history, now_ms())
        # What is in the log has days of UTC, not those of the owner's zone.
        assert pages.get("/applets").texts(".applet .facts")[0].startswith("Last run on 2026-11-29 UTC 50 % of 2")
        assert pages.get("/applets?state=failing").texts(".applet h2") == ["Bad"]


def test_the_switch(pages: Pages) -> None:
    """Given the switch, when it is pressed, then the applet is as the form says, also when it is sent twice."""
    made = pages.house.make_applet()
    action = f"/applets/{made['id']}/switch"
    before = pages.get("/applets")
    for _ in range(2):
        assert _press(pages, before, action).path == f"/applets/{made['id']}"
        assert pages.house.call("GET", f"/applets/{made['id']}").json()["enabled"] is False
    row = _press(pages, _page(pages, made), action, **{"HX-Request": "true"})
    assert (row.status, row.find("[role=switch]")["aria-checked"]) == (200, "true")
    assert row.soup.find("html") is None
    assert pages.house.call("GET", f"/applets/{made['id']}").json()["enabled"] is True


def test_a_switch_that_cannot(pages: Pages) -> None:
    """Given a connection that is missing, when the applet is turned on, then the page says what to choose."""
    tell = {"service": "ntfy", "action": "publish", "fields": {"topic": "x", "message": "y"}}
    post = {"service": "gotify", "action": "send_message", "fields": {"message": "y"}, "connection": "0" * 32}
    document = {"whenthen": 1, "applets": [applet(actions=[tell, post])], "connections": []}
    (row,) = pages.house.call("POST", "/import", document).json()["items"]
    action = f"/applets/{row['id']}/switch"
    for headers in ({}, {"HX-Request": "true"}):
        shown = _press(pages, pages.get("/applets"), action, **headers)
        assert shown.status == 422
        assert shown.texts("[role=alert] li") == [
            "Then · Push a message · Connection: is needed: a connection to gotify"
        ]
        assert shown.find("[role=switch]")["aria-checked"] == "false"


def test_a_copy(pages: Pages) -> None:
    made = pages.house.make_applet()
    shown = _press(pages, _page(pages, made), f"/applets/{made['id']}/duplicate")
    assert shown.path.endswith("?copied=1")
    assert shown.texts("h1") == ["Door (copy)"]
    assert shown.find("[role=switch]")["aria-checked"] == "false"
    assert pages.get("/applets").texts("#count") == ["2 applets"]


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("clicks", [1, 2])
def test_deleting_can_be_undone(pages: Pages, enabled: bool, clicks: int) -> None:
    """Given an applet that was deleted, also by two clicks, when that is undone, also twice, then it is as it was."""
    made = pages.house.make_applet(enabled=enabled)
    page = _page(pages, made)
    for _ in range(clicks):
        deleted = _press(pages, page, f"/applets/{made['id']}/delete")
    assert deleted.path.startswith("/applets?deleted=")
    assert "Door" not in deleted.texts("h2")
    assert _page(pages, made).status == 404
    for _ in range(2):
        shown = _press(pages, deleted, f"/applets/{made['id']}/restore")
        assert shown.texts(".notice") == ["Your applet is back."]
    assert pages.house.call("GET", f"/applets/{made['id']}").json()["enabled"] is enabled


@pytest.mark.parametrize("given", ["", "x", "../inbox", '"><script>', "0" * 16, "f" * 100])
def test_nothing_that_was_deleted(pages: Pages, given: str) -> None:
    shown = pages.get("/applets?deleted=" + given)
    assert shown.status == 200
    assert not shown.soup.select('form[action*="restore"]')


def test_the_page_says_what_an_applet_does(pages: Pages) -> None:
    made = pages.house.make_applet(
        name="Door",
        filter="Value1 == 'open'",
        queries=[{"service": "webhooks", "query": "web_request", "fields": {"url": "https://example.org/{{Value1}}"}}],
        actions=[notification("{{Value1}}"), {**notification("later"), "delay": {"seconds": 93784}}],
        on_failure="stop",
        cool_down_minutes=90,
    )
    shown = _page(pages, made)
    assert shown.texts(".part .role") == ["When", "With", "Only if", "Then", "Then"]
    assert "Event name door" in shown.text
    assert "URL https://example.org/{{Value1}} Its rows are query1" in shown.text
    assert "Value1 == 'open'" in shown.text
    assert "after 1 day 2 hours 3 minutes 4 seconds" in shown.text
    assert "When an action fails, those after it are left out." in shown.text
    assert "After a run it pauses: for 1 hour 30 minutes." in shown.text
    assert "Your applet is on." in pages.get(f"/applets/{made['id']}?made=1").text


def test_secrets_are_not_shown(pages: Pages) -> None:
    fields = {"url": "https://example.org", "trigger": "new_photo", "service_key": "hush-hush"}
    made = pages.house.make_applet(trigger={"service": "partner", "trigger": "event", "fields": fields}, enabled=False)
    assert "hush-hush" not in _page(pages, made).html
    assert "hush-hush" not in pages.get("/applets/export").html


def test_the_url_of_a_webhook(pages: Pages) -> None:
    """Given a webhook, then its page has the URL; a key that is made for it is shown once and works."""
    made = pages.house.make_applet(event="front door é?")
    shown = _page(pages, made)
    assert shown.find("#address-1")["value"] == (
        "http://localhost/trigger/front%20door%20%C3%A9%3F/with/key/YOUR-WEBHOOK-KEY"
    )
    keyed = _press(pages, shown, f"/applets/{made['id']}/key")
    url = str(keyed.find("#address-1")["value"])
    assert keyed.headers["cache-control"] == "no-store"
    assert pages.house.hooks.get(url.removeprefix("http://localhost")).status_code == 200
    assert pages.house.messages() == ["front door é?: "]
    key = url.rpartition("/")[2]
    assert key not in _page(pages, made).html
    assert pages.house.call("GET", "/keys").json()["items"][-1]["name"] == "Door"


@pytest.mark.parametrize(
    ("service", "trigger", "fields", "url"),
    [
        ("webhooks", "json_event", {"event": "a"}, "/trigger/a/json/with/key/YOUR-WEBHOOK-KEY"),
        ("location", "entered", {"lat": 1.5, "lng": 2, "radius": 100}, "/location/YOUR-WEBHOOK-KEY"),
    ],
)
def test_other_addresses(pages: Pages, service: str, trigger: str, fields: Json, url: str) -> None:
    made = pages.house.make_applet(trigger={"service": service, "trigger": trigger, "fields": fields})
    assert _page(pages, made).find("#address-1")["value"] == f"http://localhost{url}"


def test_the_link_of_a_button(pages: Pages) -> None:
    house = pages.house
    connection = house.call("POST", "/connections", {"service": "button", "name": "Mine"}).json()["id"]
    signed = house.call(
        "POST",
        "/connections",
        {"service": "signed_webhooks", "name": "Repo", "fields": {"scheme": "github", "secret": "s"}},
    ).json()["id"]
    trigger = {"service": "button", "trigger": "pressed", "fields": {"label": "Go"}, "connection": connection}
    shown = _page(pages, house.make_applet(trigger=trigger))
    url = str(shown.find("#address-1")["value"])
    assert "Go" in house.hooks.get(url.removeprefix("http://localhost")).text
    assert shown.link("Mine") == f"/connections/{connection}"
    trigger = {"service": "signed_webhooks", "trigger": "received", "connection": signed}
    shown = _page(pages, house.make_applet(trigger=trigger))
    assert shown.find("#address-1")["value"] == f"http://localhost/hooks/{signed}"


def test_what_it_has_done(pages: Pages) -> None:
    """Given a webhook that nobody has called, then the page waits; when it is called, then that shows."""
    house = pages.house
    made = house.make_applet(filter="Value1 == 'open' or skip('<b>closed</b>')")
    shown = _page(pages, made, "/recent")
    assert "Waiting for the first call…" in shown.text
    again = str(shown.find("#recent")["hx-get"])
    assert pages.get(again).status == 204
    house.fire(query={"value1": "closed"})
    assert pages.get(again).texts("#recent .badge") == ["queued"]
    house.work()
    shown = pages.get(again)
    assert shown.texts("#recent .badge") == ["skipped"]
    assert "<b>closed</b>" in shown.text
    execution = house.activity()[0]["execution_id"]
    assert shown.find("#recent li a")["href"] == f"/activity/{execution}"
    assert pages.get(str(shown.find("#recent")["hx-get"])).status == 204
    house.fire(query={"value1": "open"})
    house.work()
    numbers = _page(pages, made, "/numbers")
    assert "Runs 2 2 Succeeded 1 1 Failed 0 0 Unknown 0 0 Skipped 1 1 Success rate 100 % 100 %" in numbers.text


def test_checks_in_words(pages: Pages) -> None:
    """A25. Given a feed, then its page says what the checks found, when the next one is, and why one failed."""
    with Sink() as sink:
        sink.reply(
            "/feed", [Reply(body=_rss("a")), Reply(body=_rss("a")), Reply(body=_rss("a", "b")), Reply(status=410)]
        )
        made = pages.house.make_applet(trigger=_feed(f"{sink.url}/feed"), actions=[notification("{{EntryTitle}}")])
        action = f"/applets/{made['id']}/check"
        shown = _page(pages, made)
        assert "Checked less than a minute ago: nothing new." in _text(shown, "#check")
        assert re.search("Next check in [45] minutes", _text(shown, "#check"))
        assert _press(pages, shown, action).texts("#check [role=status]") == ["Nothing new."]
        part = _press(pages, shown, action, **{"HX-Request": "true"})
        assert part.texts("#check [role=status]") == ["1 new event."]
        assert part.soup.find("html") is None
        failed = _press(pages, shown, action)
    assert "Checked less than a minute ago: it failed." in _text(failed, "#check")
    assert "410" in _text(failed, "#check")
    assert failed.texts("#check details li")[0].endswith("failed")
    assert "check fails" in pages.get("/applets?state=failing").text


def test_what_is_not_checked(pages: Pages) -> None:
    """Given a trigger whose events arrive, or an applet that is off, then there is nothing to check."""
    made = pages.house.make_applet()
    shown = _page(pages, made)
    assert not shown.soup.select("#check")
    token = form_values(shown.find('form[action="/sign-out"]'))["csrf"]
    assert pages.post(f"/applets/{made['id']}/check", {"csrf": token}).status == 404
    assert _page(pages, made, "?found=<script>").status == 200


def test_schedules_in_words(pages: Pages) -> None:
    """Given schedules, then the page says when they run next, or that they never will again."""
    daily = {"service": "date_time", "trigger": "every_day_at", "fields": {"time": "07:30", "zone": "Asia/Tokyo"}}
    shown = _page(pages, pages.house.make_applet(trigger=daily))
    assert "Next run in" in _text(shown, "#check")
    assert not shown.soup.select("#check form")
    past = {"service": "date_time", "trigger": "once_at", "fields": {"at": "2020-01-01T00:00"}}
    shown = _page(pages, pages.house.make_applet(trigger=past))
    assert "It will not run any more" in _text(shown, "#check")
    made = pages.house.make_applet(trigger=daily)
    pages.house.call("PATCH", f"/applets/{made['id']}", {"enabled": False})
    assert "It does not run while it is off." in _page(pages, made).text
    assert pages.get("/applets").status == 200


def test_trying_sends_nothing(pages: Pages) -> None:
    """Given other ingredients than the samples, then what would be sent has them, and the form keeps them."""
    with Sink() as sink:
        made = pages.house.make_applet(
            filter="Value1 == 'open' or skip('It is closed')",
            actions=[notification("{{Value1}} {{Value2}}"), web_request(sink.url)],
        )
        form = _page(pages, made, "/try")
        shown = pages.submit(form, **{"ingredient.Value1": "open", "ingredient.Value2": '<b>"9007199254740993'})
        assert 'open <b>"9007199254740993' in _text(shown, "#trial")
        assert sink.url in _text(shown, "#trial")
        assert shown.find("#ingredient-Value2")["value"] == '<b>"9007199254740993'
        shown = pages.submit(form, **{"ingredient.Value1": "closed"})
        assert "It would end at the filter. It is closed" in shown.text
        assert sink.requests == []
    assert pages.house.inbox() == []


@with_hostile_texts
def test_hostile_texts_are_text(pages: Pages, hostile: str) -> None:
    """Given an applet whose name and fields are hostile, then they are shown as they are written, everywhere."""
    made = pages.house.make_applet(
        name=hostile,
        enabled=False,
        trigger={"service": "table", "trigger": "new_row", "fields": {"table": "T"}},
        actions=[{"service": "table", "action": "add_row", "fields": {"table": "T", "values": {"C": "x"}}}],
        filter=f"Table == {json.dumps(hostile, ensure_ascii=False)}",
    )
    shown = _page(pages, made)
    for page in (shown, pages.get("/applets"), pages.get("/applets?q=T"), _page(pages, made, "/try")):
        assert_is_text(page, hostile)
    assert shown.find("h1").get_text() == hostile
    assert hostile in json.loads(shown.texts("code")[0].removeprefix("Table == "))
    deleted = _press(pages, shown, f"/applets/{made['id']}/delete")
    assert deleted.status == 200


@pytest.mark.parametrize(("method", "rest"), PATHS)
def test_applets_of_others(pages: Pages, method: str, rest: str) -> None:
    """Given another owner's applet, or none, then no path with its id is there; without a token it is refused."""
    made = pages.house.make_applet()
    eve = other_user(pages)
    token = form_values(eve.get("/applets").find('form[action="/sign-out"]'))["csrf"]
    for applet_id in (made["id"], "f" * 16, "<script>", "%252e%252e"):
        path = f"/applets/{applet_id}{rest}"
        found = eve.get(path) if method == "GET" else eve.post(path, {"csrf": token, "on": "false"})
        assert found.status == 404, path
    if method == "POST":
        assert pages.post(f"/applets/{made['id']}{rest}", {"csrf": "x"}).status == 403
    assert pages.house.call("GET", f"/applets/{made['id']}").json() == made


def test_while_the_database_is_down(pages: Pages) -> None:
    made = pages.house.make_applet()
    pages.house.database.error = Unreachable("gone")
    assert pages.get("/applets").status == 503
    assert _page(pages, made).status == 503


def _rss(*names: str) -> bytes:
    items = "".join(f"<item><guid>{name}</guid><title>{name}</title></item>" for name in reversed(names))
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'.encode()
