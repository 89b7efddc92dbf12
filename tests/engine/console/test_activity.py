"""The pages of the activity: the stream, its filters and its live part, an execution, running it again."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
import time_machine

from tests.support.embedded import START, House, notification, web_request
from tests.support.pages import Pages, Shown, other_user
from tests.support.sink import Reply, Sink
from whenthen.engine import activity
from whenthen.web.console import activity_pages
from whenthen.web.console.attempts import time_words

FRAGMENT = {"HX-Request": "true"}

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "\u202egnp.exe\u200b\u2066",
    "𝕏🙂" * 3,
    "n" * 100,
    "{{7*7}} {% raise %}",
]


def links(page: Shown) -> list[str]:
    return [str(link["href"]) for link in page.soup.select(".entry-words > a")]


def open_first(pages: Pages) -> Shown:
    return pages.get(links(pages.get("/activity"))[0])


def live(page: Shown, selector: str) -> str:
    return str(page.find(selector)["hx-get"])


def test_nothing_has_run_yet(pages: Pages) -> None:
    page = pages.get("/activity")
    assert "Nothing has run yet." in page.text
    assert page.soup.select("nav.pager") == []


def test_the_stream_is_newest_first_under_its_days(clock: time_machine.Traveller, pages: Pages, house: House) -> None:
    """Given events on two days of the owner's zone (23:59 and 0:01 in Paris), then each stands under its day."""
    house.make_applet(name="Porte")
    clock.move_to(datetime(2026, 11, 29, 22, 59, tzinfo=UTC))
    house.fire()
    clock.shift(120)
    house.fire()
    house.work()
    page = pages.get("/activity")
    assert page.texts("h2") == ["Today", "Yesterday"]
    assert page.texts(".entry > time") == ["00:01", "23:59"]
    assert page.texts(".entry-words > a") == ["Porte", "Porte"]
    assert page.texts(".entry .badge") == ["succeeded", "succeeded"]
    clock.shift(86_400)
    assert pages.get("/activity").texts("h2") == ["Yesterday", "2026-11-29"]


def test_what_its_source_dates_back(clock: time_machine.Traveller, pages: Pages, house: House, sink: Sink) -> None:
    """Given a feed's new item of last year, when it has run, then it stands under the day on which it did."""
    item = "<item><guid>{}</guid><title>News</title><pubDate>Mon, 07 Apr 2025 10:30:00 GMT</pubDate></item>"
    feed = "<rss version='2.0'><channel><title>F</title>{}</channel></rss>"
    sink.reply("/feed", [Reply(body=feed.format(item.format(1)).encode())])
    trigger = {"service": "feed", "trigger": "new_feed_item", "fields": {"feed_url": f"{sink.url}/feed"}}
    made = house.make_applet(name="News", trigger=trigger, actions=[notification("{{EntryTitle}}")])
    sink.reply("/feed", [Reply(body=feed.format(item.format(2) + item.format(1)).encode())])
    house.call("POST", f"/applets/{made['id']}/check")
    house.work()
    page = pages.get("/activity?day=2026-11-29")
    assert (page.texts("h2.day"), page.texts(".entry > time")) == (["Today"], ["04-07"])
    assert page.texts(".entry .reason") == ["Its event is dated 2025-04-07 12:30."]
    assert "succeeded less than a minute ago" in pages.get("/applets").texts(".applet .facts")[0]


def test_filters_are_kept_in_the_form_and_in_the_links(
    clock: time_machine.Traveller, pages: Pages, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_pages, "_PAGE", 2)
    door = house.make_applet(name="Door")["id"]
    house.make_applet(name="Bell", filter="skip('Nobody is at home')")
    for _ in range(3):
        house.fire()
    house.work()
    found = pages.get(f"/activity?applet={door}&state=succeeded&service=webhooks&day=2026-11-29&text=")
    assert found.texts(".entry-words > a") == ["Door", "Door"]
    assert found.find("#applet option[selected]").get_text() == "Door"
    assert found.find("#state option[selected]")["value"] == "succeeded"
    assert found.find("#service option[selected]")["value"] == "webhooks"
    assert found.find("#day")["value"] == "2026-11-29"
    more = pages.get(found.link("More"))
    assert (len(links(more)), more.find("#state option[selected]")["value"]) == (1, "succeeded")
    assert set(links(more)).isdisjoint(links(found))
    assert more.soup.select("#stream[hx-get]") == []
    assert pages.get(more.link("Newest")).texts(".entry-words > a") == ["Door", "Door"]
    assert pages.get("/activity?text=nobody").texts(".entry-words > a") == ["Bell", "Bell"]
    assert "Other filters may show more." in pages.get("/activity?day=2026-11-28").text


@pytest.mark.parametrize(
    ("query", "field"), [("state=odd", "state"), ("day=yesterday", "day"), (f"text={'x' * 201}", "text")]
)
def test_a_filter_that_is_none(pages: Pages, query: str, field: str) -> None:
    page = pages.get(f"/activity?{query}")
    assert page.status == 422
    assert page.find(".notice a")["href"] == f"#{field}"
    assert page.find(f"#{field}")["aria-invalid"] == "true"
    assert pages.get("/activity?before=odd").status == 422


def test_a_page_that_is_empty_and_not_the_last(pages: Pages, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = activity.Page([], "W10", "")
    monkeypatch.setattr(activity_pages.activity, "read_activity", lambda *_, **__: empty)
    page = pages.get("/activity?text=rare")
    assert "Nothing in this part; look further back." in page.text
    assert page.link("More") == "/activity?text=rare&before=W10"


def test_the_first_page_is_live(pages: Pages, house: House) -> None:
    """Given an open page, when nothing has changed, then 204, else the list and how many are new."""
    house.make_applet()
    house.fire()
    page = pages.get("/activity")
    assert pages.get(live(page, "#stream"), **FRAGMENT).status == 204
    house.work()
    changed = pages.get(live(page, "#stream"), **FRAGMENT)
    assert changed.texts(".badge") == ["succeeded"]
    assert changed.soup.select("html, #news") == []
    house.fire()
    house.fire()
    newer = pages.get(live(changed, "#stream"), **FRAGMENT)
    assert newer.texts("#news[hx-swap-oob=innerHTML]") == ["2 new"]
    assert len(links(newer)) == 3
    assert pages.get(live(newer, "#stream"), **FRAGMENT).status == 204


def test_the_filter_offers_all_applets(pages: Pages, house: House) -> None:
    chosen = house.make_applet(name="b")["id"]
    house.make_applet(name="A")
    page = pages.get(f"/activity/applets?applet={chosen}", **FRAGMENT)
    assert page.texts("option") == ["All applets", "A", "b"]
    assert page.find("option[selected]")["value"] == chosen


def test_an_execution_shows_what_came_in_and_each_attempt(pages: Pages, house: House, sink: Sink) -> None:
    sink.reply("/odd", [Reply(400, body=b"no <b>thanks</b>")])
    house.make_applet(
        name="Door",
        queries=[{"service": "webhooks", "query": "web_request", "fields": {"url": f"{sink.url}/now"}}],
        actions=[web_request(f"{sink.url}/in"), web_request(f"{sink.url}/odd")],
    )
    house.fire(query={"value1": "open", "value2": "9" * 301})
    house.work()
    page = open_first(pages)
    assert page.texts("h1") == ["Door"]
    assert page.texts(".badge")[0] == "failed"
    assert "400" in page.find(".because").get_text()
    assert page.texts("#execution h3") == [
        "What query 1 found",
        "Query 1: Webhooks , Make a web request",
        "Action 1: Webhooks , Make a web request",
        "Action 2: Webhooks , Make a web request",
    ]
    assert page.texts(".try .badge") == ["succeeded", "succeeded", "failed"]
    assert page.texts(".try summary") == [
        "Request GET",
        "Answer 200",
        "Request POST",
        "Answer 200",
        "Request POST",
        "Answer 400",
    ]
    assert '{"said": "open"}' in page.texts(".try pre")
    assert "no <b>thanks</b>" in page.texts(".try pre")
    folded = page.find("details[id^=came-in]")
    assert folded.find("pre").get_text() == "9" * 301
    assert "301 characters" in folded.find("summary").get_text()


def test_numbers_are_exact(pages: Pages, house: House) -> None:
    house.make_applet(kind="json_event", actions=[notification("x")])
    house.hooks.post(
        f"/trigger/door/json/with/key/{house.webhook_key}", content='{"id": 9223372036854775807, "x": 1.10}'
    )
    house.work()
    assert '{"id": 9223372036854775807, "x": 1.10}' in open_first(pages).text


def test_why_it_is_as_it_is(pages: Pages, house: House, sink: Sink) -> None:
    house.make_applet(filter="skip('The door is shut')")
    house.fire()
    house.work()
    skipped = open_first(pages)
    assert "The door is shut" in skipped.text
    assert "Nothing was done, on purpose" in skipped.text
    assert "Nothing was sent." in skipped.text
    assert skipped.texts("form[action^='/activity/'] button") == ["Run everything again"]


def test_an_unknown_outcome_is_explained_in_the_list_and_on_its_page(pages: Pages, house: House, sink: Sink) -> None:
    sink.reply("/in", [Reply(close=True)])
    house.make_applet(actions=[web_request(f"{sink.url}/in")])
    house.fire()
    house.work()
    words = "whenthen doesn't send it again by itself, since it may have been done."
    assert words in pages.get("/activity").find(".entry").get_text()
    page = open_first(pages)
    assert f"The request was sent and no answer came. {words}" in page.find("#execution").get_text()
    assert page.texts("form[action^='/activity/'] button") == ["Run what has failed", "Run everything again"]


def test_an_execution_under_way_is_live(pages: Pages, house: House) -> None:
    house.make_applet(actions=[{**notification("x"), "delay": {"seconds": 3600}}])
    house.fire()
    queued = open_first(pages)
    assert pages.get(live(queued, "#execution"), **FRAGMENT).status == 204
    house.work()
    waiting = pages.get(live(queued, "#execution"), **FRAGMENT)
    assert waiting.texts(".badge") == ["waiting"]
    assert waiting.texts("#news[hx-swap-oob]") == ["waiting"]
    assert re.search(r"Goes on \d{4}-\d\d-\d\d \d\d:\d\d \( in .*? \)", waiting.text)
    assert "Run it again" not in waiting.text
    house.make_applet(event="bell")
    house.fire("bell")
    house.work()
    assert open_first(pages).soup.select("#execution[hx-get]") == []


def test_running_again(pages: Pages, house: House, sink: Sink) -> None:
    """Given one action of two that has failed, when what has failed is run again, then that alone is, with its key."""
    sink.reply("/odd", [Reply(400)])
    house.make_applet(actions=[web_request(f"{sink.url}/in"), web_request(f"{sink.url}/odd")])
    house.fire()
    house.work()
    failed = open_first(pages)
    assert "idempotency key" in failed.text
    sink.reply("/odd", [Reply(200)])
    queued = pages.submit(failed, "form[action^='/activity/']", what="failed")
    assert (queued.status, queued.texts(".badge")[0]) == (200, "queued")
    twice = pages.submit(failed, "form[action^='/activity/']", what="failed")
    assert (twice.status, twice.path, twice.texts(".badge")[0]) == (200, queued.path, "queued")
    assert "not run again" not in twice.text
    house.work()
    done = open_first(pages)
    assert done.texts(".badge")[0] == "succeeded"
    assert done.texts("#execution h2") == [
        "What happened", "What came in", "What was done, run 2", "What was done, run 1", "Run it again",
    ]  # fmt: skip
    paths = [request.path for request in sink.requests]
    assert (paths.count("/in"), paths.count("/odd")) == (1, 2)
    refused = pages.submit(done, "form[action^='/activity/']", what="failed")
    assert (refused.status, refused.texts("[role=alert]")) == (422, ["It was not run again: no action has failed"])
    assert pages.submit(done, "form[action^='/activity/']", what="all").texts(".badge")[0] == "queued"


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_and_values_are_text(pages: Pages, house: House, sink: Sink, hostile: str) -> None:
    sink.reply("/in", [Reply(400, body=hostile.encode())])
    house.make_applet(
        name=hostile, actions=[web_request(f"{sink.url}/in", body="{{Value1}}", content_type="text/plain")]
    )
    house.fire(query={"value1": hostile, "value2": hostile * 5})
    house.work()
    page = open_first(pages)
    for shown in (pages.get("/activity"), pages.get("/activity/applets"), pages.get("/dashboard"), page):
        assert hostile in shown.soup.get_text()
        assert shown.soup.select("main script, img, [onerror]") == []
        assert [a for a in shown.soup.select("a[href]") if not str(a["href"]).startswith(("/", "#"))] == []
    assert hostile in [tag.get_text() for tag in page.soup.select(".try pre")]


def test_another_owners_executions_are_not_there(pages: Pages, house: House) -> None:
    applet = house.make_applet()["id"]
    house.fire()
    house.work()
    identifier = house.activity()[0]["execution_id"]
    eve = other_user(pages)
    for path in (f"/activity/{identifier}", f"/activity/{identifier}?seen=x"):
        assert eve.get(path).status == 404
        assert eve.get(path, **FRAGMENT).status == 404
    csrf = str(eve.get("/activity").find("main ~ footer form[action='/sign-out'] [name=csrf]")["value"])
    assert eve.post(f"/activity/{identifier}", {"csrf": csrf, "what": "all"}).status == 404
    assert links(eve.get(f"/activity?applet={applet}")) == []
    assert eve.get(f"/activity/applets?applet={applet}").texts("option") == ["All applets"]
    assert house.activity()[0]["state"] == "succeeded"


def test_a_rerun_needs_the_forms_token(pages: Pages, house: House) -> None:
    house.make_applet()
    house.fire()
    house.work()
    assert pages.post(links(pages.get("/activity"))[0], {"what": "all"}).status == 403
    assert house.activity()[0]["state"] == "succeeded"


@pytest.mark.parametrize(
    "identifier",
    ["x", "202611291800.a", "999999999999.a.b", "202611291800.<script>.b", "202611291800.a/b.c?d#e",
     "202611291800.a.b.c", "202611291800.🙂.b", "202611291800.'--.b", ".."],
)  # fmt: skip
def test_ids_that_are_none(pages: Pages, identifier: str) -> None:
    page = pages.get(f"/activity/{quote(identifier, safe='')}x")
    assert page.status == 404
    assert page.soup.select("main script") == []


def test_payload_that_was_erased(clock: time_machine.Traveller, pages: Pages, house: House) -> None:
    house.call("PATCH", "/me", {"payload_days": 1})
    house.make_applet()
    house.fire(query={"value1": "confidential"})
    house.work()
    page = open_first(pages)
    assert "confidential" in page.text
    for hours in (2, 48):
        clock.move_to((START + timedelta(hours=hours)).replace(minute=13))
        house.tick()
    erased = pages.get(page.path)
    assert "The content is not kept any more" in erased.text
    assert not {"confidential", "Nothing was sent."} & set(erased.text.split("."))
    refused = pages.submit(erased, "form[action^='/activity/']", what="all")
    assert (refused.status, "payload has been erased" in refused.find("[role=alert]").get_text()) == (409, True)


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_999, "60.0 s"), (60_000, "1 minute"), (7_200_000, "2 hours"),
     (47 * 3_600_000, "47 hours"), (48 * 3_600_000, "2 days")],
)  # fmt: skip
def test_lengths_of_time(ms: int, words: str) -> None:
    assert time_words(ms) == words
