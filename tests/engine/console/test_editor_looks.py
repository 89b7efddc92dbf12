"""What the applet editor shows while an applet is written: runs, items, test calls, and what actions would send."""

import re
from typing import Any

import time_machine

from tests.support.editing import press
from tests.support.pages import Pages, Shown, form_values
from tests.support.sink import Reply, Sink

LARGEST = "9223372036854775807"

FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>Harbour &lt;b&gt; News</title><link>http://x/</link>
<description>d</description>
<item><title>Open &lt;again&gt;</title><link>http://example.org/1</link><guid>1</guid>
<pubDate>Mon, 23 Nov 2026 10:00:00 GMT</pubDate></item>
<item><title>Second</title><link>javascript:alert(1)</link><guid>2</guid></item></channel></rss>"""


def feed(**headers: str) -> Reply:
    return Reply(body=FEED, headers=(("Content-Type", "application/rss+xml"), *headers.items()))


def door(pages: Pages, kind: str = "event") -> Shown:
    page = pages.get(f"/applets/new?service=webhooks&trigger={kind}")
    page = press(pages, page, "service.actions.0.notifications", {"trigger.fields.event": "front door/é"})
    return press(pages, page, "check", {"trigger.fields.event": "front door"})


def call(pages: Pages, page: Shown, **options: Any) -> Any:
    """Call the address that the page shows."""
    url = str(page.find("#address")["value"])
    return pages.house.hooks.post(url.removeprefix("http://localhost"), **options)


def test_the_next_runs_of_a_schedule(clock: time_machine.Traveller, pages: Pages) -> None:
    """The owner lives in Paris; the schedule is kept in Tokyo."""
    page = pages.get("/applets/new?service=date_time&trigger=cron")
    assert "Fill in the fields" in page.find("#trigger-found").get_text()
    values = {"trigger.fields.expression": "0 9 * * 1-5", "trigger.fields.zone": "Asia/Tokyo"}
    page = press(pages, page, "look", values)
    shown = page.find("#trigger-found").get_text(" ")
    assert re.findall(r"2026-\d\d-\d\d \d\d:\d\d", shown)[:2] == ["2026-11-30 01:00", "2026-12-01 01:00"]
    assert len(page.soup.select("#trigger-found time")) == 5
    assert "09:00, Monday through Friday" in shown
    assert "Europe/Paris" in shown
    assert "Asia/Tokyo" in shown
    wrong = press(pages, page, "look", {"trigger.fields.expression": "99 * * * *"})
    assert wrong.texts("#trigger-fields-expression-error") != [""]
    assert wrong.soup.select("#trigger-found time") == []
    pages.client.headers["Accept-Language"] = "ja"
    assert "月曜日" in press(pages, page, "look", values).find("#trigger-found").get_text(" ")


def test_what_a_source_shows(pages: Pages, sink: Sink) -> None:
    """The newest item is the sample of the ingredients, stays so while the form is changed, and nothing is stored."""
    sink.reply("/feed", [feed()])
    page = pages.get("/applets/new?service=feed&trigger=new_feed_item")
    assert sink.requests == []
    page = press(pages, page, "look", {"trigger.fields.feed_url": f"{sink.url}/feed"})
    shown = page.find("#trigger-found")
    assert "2 items" in shown.get_text()
    assert "Open <again>" in shown.get_text()
    assert shown.select("b, script, a[href^=javascript]") == []
    asked = len(sink.requests)
    page = press(pages, page, "service.actions.0.notifications")
    assert "Open <again>" in page.find("#actions-0-fields-message-chips").get_text()
    page = press(pages, page, "preview", {"actions.0.fields.message": "{{EntryTitle}}!"})
    assert "Open <again>!" in page.find("#trial").get_text()
    assert len(sink.requests) == asked
    page = press(pages, page, "change.trigger")
    page = press(pages, page, "item.trigger.webhooks.event")
    assert form_values(page.find("#editor-form"))["samples"] == ""
    assert pages.house.table("SELECT COUNT(*) AS n FROM triggers") == [{"n": 0}]


def test_a_source_that_can_not_be_read(pages: Pages, sink: Sink) -> None:
    """Its failure is told at the field and hinders nobody from writing on."""
    sink.reply("/page", [Reply(body=b"<html>no feed", headers=(("Content-Type", "text/html"),))])
    sink.reply("/down", [Reply(503)])
    page = pages.get("/applets/new?service=feed&trigger=new_feed_item")
    wrong = press(pages, page, "look", {"trigger.fields.feed_url": f"{sink.url}/page"})
    assert wrong.texts("#trigger-fields-feed_url-error") != [""]
    assert "can't be read" in wrong.find("#trigger-found").get_text()
    wrong = press(pages, wrong, "service.actions.0.notifications")
    refused = press(pages, wrong, "save", {"actions.0.fields.message": "m"})
    assert refused.status == 422
    assert refused.texts("#trigger-fields-feed_url-error") != [""]
    down = press(pages, refused, "look", {"trigger.fields.feed_url": f"{sink.url}/down"})
    assert "That may pass" in down.find("#trigger-found").get_text()
    assert press(pages, down, "save").path.endswith("?made=1")


def test_a_test_call(pages: Pages) -> None:
    """A key is made, a call comes, its values are shown exactly and are samples; nothing else is stored or run."""
    page = door(pages)
    assert "/trigger/front%20door/with/key/" in page.find(".address").get_text()
    assert "Wait for a test call" in page.find("#call").get_text()
    page = press(pages, page, "make-key")
    assert "Waiting for a test call" in page.find("#call").get_text()
    assert page.find("#call")["hx-trigger"] == "load delay:2s"
    answer = call(pages, page, json={"value1": "<b>open</b>", "value2": int(LARGEST)})
    assert answer.status_code == 200
    page = press(pages, page, "await")
    shown = page.find("#call").get_text(" ")
    assert "It has arrived." in shown
    assert "<b>open</b>" in shown
    assert LARGEST in shown
    assert "hx-trigger" not in page.find("#call").attrs
    assert LARGEST in page.find("#actions-0-fields-message-chips").get_text()
    assert pages.house.activity() == []
    made = press(pages, page, "save", {"actions.0.fields.message": "{{Value2}}"})
    assert made.path.endswith("?made=1")
    assert call(pages, page, json={"value2": int(LARGEST)}).status_code == 200
    assert pages.house.messages() == [LARGEST]
    names = [key["name"] for key in pages.house.call("GET", "/keys").json()["items"]]
    assert "front door" in names


def test_a_key_is_shown_in_its_form_alone(pages: Pages) -> None:
    page = press(pages, door(pages), "make-key")
    key = str(page.find("#address")["value"]).rpartition("/")[2]
    assert key in press(pages, page, "check").html
    other = door(pages)
    assert key not in other.html
    assert key[:4] in other.find("#trigger-found").get_text()
    assert key not in str(pages.house.database.sent)


def test_members_of_a_payload_are_ingredients(pages: Pages) -> None:
    page = press(pages, door(pages, "json_event"), "make-key")
    body = f'{{"count": {LARGEST}, "a b": 1, "state": {{"on": true}}, "<i>": 2}}'
    assert call(pages, page, content=body).status_code == 200
    page = press(pages, page, "await")
    chips = {
        str(chip["data-insert"]): chip.get_text(" ")
        for chip in page.soup.select("#actions-0-fields-message-chips .chip")
    }
    assert LARGEST in chips["{{(JsonPayload|fromjson).count}}"]
    assert "{{(JsonPayload|fromjson).state}}" in chips
    assert not any("a b" in name or "<i>" in name for name in chips)
    assert page.find("#filter-chips [data-insert='(JsonPayload|fromjson).count']")
    values = {"actions.0.fields.message": "{{(JsonPayload|fromjson).count}}"}
    assert LARGEST in press(pages, page, "preview", values).find("#trial").get_text()


def test_a_source_with_much_to_show(pages: Pages, sink: Sink) -> None:
    """Given an item longer than a form can carry, then its beginning is the sample."""
    long = FEED.replace(b"Second", b"x" * 200_000).replace(b"Mon, 23 Nov 2026 10:00:00 GMT", b"")
    long = long.replace(b"Open &lt;again&gt;", b"y" * 200_000)
    sink.reply("/feed", [Reply(body=long)])
    page = pages.get("/applets/new?service=feed&trigger=new_feed_item")
    page = press(pages, page, "look", {"trigger.fields.feed_url": f"{sink.url}/feed"})
    page = press(pages, page, "service.actions.0.notifications")
    chips = page.texts("#actions-0-fields-message-chips .chip")
    assert any("yyy…" in chip or "xxx…" in chip for chip in chips)


def test_waiting_ends(clock: time_machine.Traveller, pages: Pages) -> None:
    page = press(pages, door(pages), "make-key")
    clock.shift(599)
    page = press(pages, page, "await")
    assert page.find("#call").has_attr("hx-post")
    clock.shift(5)
    page = press(pages, page, "await")
    assert not page.find("#call").has_attr("hx-post")
    assert "ten minutes" in page.find("#call").get_text()
    page = press(pages, page, "wait")
    assert page.find("#call").has_attr("hx-post")
    assert not press(pages, page, "stop-waiting").find("#call").has_attr("hx-post")


def test_waiting_anew_shows_what_comes_anew(clock: time_machine.Traveller, pages: Pages) -> None:
    page = press(pages, door(pages), "make-key")
    call(pages, page, json={"value1": "first"})
    clock.shift(5)
    page = press(pages, page, "wait")
    assert page.find("#call").has_attr("hx-post")
    clock.shift(5)
    call(pages, page, json={"value1": "second"})
    assert "second" in press(pages, page, "await").find("#call").get_text()


def test_other_addresses(pages: Pages) -> None:
    fields = {"scheme": "github", "secret": "long-enough-secret"}
    signed = {"service": "signed_webhooks", "name": "Mine", "fields": fields}
    made = pages.house.call("POST", "/connections", signed).json()
    page = pages.get("/applets/new?service=signed_webhooks")
    assert page.find("#address")["value"] == f"http://localhost/hooks/{made['id']}"
    assert fields["secret"] not in page.html
    page = press(pages, pages.get("/applets/new?service=location&trigger=entered"), "make-key")
    assert str(page.find("#address")["value"]).startswith("http://localhost/location/")
    assert "OwnTracks" in page.text
    assert not page.soup.select("#call")


def test_what_would_be_sent(pages: Pages) -> None:
    """A dry run with the samples of the catalog: nothing is sent, and what hinders is told."""
    page = press(pages, door(pages), "preview")
    assert "Fill in the rest" in page.find("#trial").get_text()
    page = press(pages, page, "add-action", {"actions.0.fields.message": "It is {{Value1}}"})
    page = press(pages, page, "item.actions.1.webhooks.make_web_request")
    page = press(
        pages,
        page,
        "preview",
        {"actions.1.fields.url": "https://example.org/{{Value1}}", "filter": "Value1 == 'x' or skip('Not x')"},
    )
    shown = page.find("#trial").get_text(" ")
    assert "It is open" in shown
    assert "https://example.org/open" in shown
    assert "Not x" in shown
    assert pages.house.activity() == []


def test_a_page_asks_little(pages: Pages) -> None:
    """At most three statements that scan, whatever the form holds."""
    pages.house.call("POST", "/connections", {"service": "button", "name": "Mine", "fields": {}})
    page = press(pages, door(pages), "add-action")
    page = press(pages, page, "item.actions.1.email.send_email")
    pages.house.database.sent.clear()
    assert press(pages, page, "preview").status == 200
    keyed = re.compile(r"^SELECT [^;]*? FROM \w+ WHERE \w+ = CAST\('[^']*' AS TEXT\)( UNION ALL|$)", re.S)
    scans = [sql for sql in pages.house.database.sent if sql.startswith("SELECT") and not keyed.match(sql)]
    assert len(scans) <= 3, scans
