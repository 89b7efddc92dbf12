"""A look at a trigger that no applet has yet: nothing is stored, and nothing fires."""

from typing import Any

import pytest
import time_machine

from tests.support.embedded import House, Json
from tests.support.listing import Listing, names
from tests.support.sink import Reply, Sink
from whenthen.services.date_time.words import cron_words
from whenthen.services.feed.manifest import SERVICE as FEED

ITEM = "<item><guid>{0}</guid><title>{0} &lt;b&gt; 9007199254740993</title><link>https://example.org/{0}</link></item>"
PAGE = b'<!doctype html><link rel="alternate" type="application/rss+xml" href="/rss"><title>News</title>'
PLACE = {"latitude": 48.85, "longitude": 2.35}
EMPTY = {
    "next_runs": [],
    "zone": "",
    "words": "",
    "is_checked": False,
    "items": [],
    "count": 0,
    "title": "",
    "note": "",
}


def rss(*items: str, title: str = "Harbour") -> Reply:
    text = f"<rss version='2.0'><channel><title>{title}</title>{''.join(map(ITEM.format, items))}</channel></rss>"
    return Reply(headers=(("Content-Type", "application/rss+xml"),), body=text.encode())


def feed(url: str) -> Json:
    return {"service": "feed", "trigger": FEED.triggers[0].slug, "fields": {"feed_url": url}}


def schedule(trigger: str, **fields: Any) -> Json:
    return {"service": "date_time", "trigger": trigger, "fields": fields}


def look(house: House, trigger: Json) -> Json:
    """What the API says, which writes nothing."""
    house.database.sent.clear()
    answer = house.call("POST", "/preview", {"trigger": trigger})
    assert answer.status_code == 200, answer.text
    assert not [sql for sql in house.database.sent if not sql.startswith("SELECT")]
    found: Json = answer.json()
    return found


def test_a_feed_is_found(house: House, sink: Sink) -> None:
    sink.reply("/feed", [rss(*"gfedcba")])
    found = look(house, feed(sink.url + "/feed"))
    assert (found["title"], found["count"], found["failure"], found["is_checked"]) == ("Harbour", 7, None, True)
    assert [item["ingredients"]["EntryTitle"] for item in found["items"]] == [
        f"{name} <b> 9007199254740993" for name in "gfedc"
    ]
    assert set(found["items"][0]["ingredients"]) == {item.slug for item in FEED.triggers[0].ingredients}


def test_a_page_offers_its_feeds(house: House, sink: Sink) -> None:
    sink.reply("/", [Reply(headers=(("Content-Type", "text/html"),), body=PAGE)])
    failure = look(house, feed(sink.url + "/"))["failure"]
    assert failure == {
        "field": "trigger.fields.feed_url",
        "message": f"The address is a web page, not a feed. It offers: {sink.url}/rss",
        "may_pass": False,
    }


@pytest.mark.parametrize(("reply", "may_pass"), [(Reply(status=503), True), (Reply(status=404), False)])
def test_a_source_that_is_only_out_of_order_says_so(house: House, sink: Sink, reply: Reply, may_pass: bool) -> None:
    sink.reply("/feed", [reply])
    failure = look(house, feed(sink.url + "/feed"))["failure"]
    assert (failure["message"], failure["may_pass"]) == (f"The source answered {reply.status}.", may_pass)


def test_addresses_of_our_own_network_are_not_asked(house: House) -> None:
    """G06."""
    failure = look(house, feed("http://169.254.169.254/latest"))["failure"]
    assert failure["field"] == "trigger.fields.feed_url"


def test_hostile_items_are_shown_as_an_event_would_have_them(listing: Listing) -> None:
    listing.show("x" * 500_000, "\x00half \ud800", *names(3))
    found = look(listing.house, listing.trigger())
    longest, hostile, *_ = (item["ingredients"]["Name"] for item in found["items"])
    assert hostile == "half ?"
    assert 1000 < len(longest) < 500_000


def test_a_look_leaves_the_applets_that_have_the_trigger_alone(listing: Listing) -> None:
    made = listing.make()
    listing.show("new")
    before = listing.house.call("GET", f"/applets/{made['id']}").json()
    assert look(listing.house, made["trigger"])["count"] == 1
    assert listing.house.call("GET", f"/applets/{made['id']}").json() == before
    assert listing.house.activity() == []
    listing.house.call("POST", f"/applets/{made['id']}/check")
    assert len(listing.house.activity()) == 1


@pytest.mark.parametrize(
    ("trigger", "runs", "words"),
    [
        # Paris is an hour ahead of UTC.
        (schedule("cron", expression="0 9 * * 1-5"), ["11-30T08", "12-01T08", "12-02T08", "12-03T08", "12-04T08"],
         "At 09:00, Monday through Friday"),
        (schedule("every_day_at", time="9:00", zone="Asia/Tokyo"),
         ["11-30T00", "12-01T00", "12-02T00", "12-03T00", "12-04T00"], ""),
        (schedule("once_at", at="2026-12-24T18:00"), ["12-24T17"], ""),
        (schedule("once_at", at="2020-12-24T18:00"), [], ""),
        ({"service": "weather", "trigger": "todays_report_at", "fields": {"time": "9:00", **PLACE}},
         ["11-30T08", "12-01T08", "12-02T08", "12-03T08", "12-04T08"], ""),
    ],
)  # fmt: skip
def test_the_next_runs_of_a_schedule(
    house: House, clock: time_machine.Traveller, trigger: Json, runs: list[str], words: str
) -> None:
    """C16: in the owner's zone, or the trigger's own."""
    house.call("PATCH", "/me", {"zone": "Europe/Paris"})
    found = look(house, trigger)
    assert found["next_runs"] == [f"2026-{run}:00:00.000Z" for run in runs]
    assert (found["words"], found["zone"]) == (words, trigger["fields"].get("zone", "Europe/Paris"))


def test_what_arrives_by_itself_has_nothing_to_look_at(house: House) -> None:
    trigger = {"service": "webhooks", "trigger": "event", "fields": {"event": "door"}}
    assert look(house, trigger) == {**EMPTY, "failure": None}


@pytest.mark.parametrize(
    ("trigger", "fields"),
    [
        (schedule("cron", expression="61 * * * *", more=1), ["trigger.fields.expression", "trigger.fields.more"]),
        ({"service": "no", "trigger": "no"}, ["trigger.service"]),
        ({"service": "feed"}, ["trigger.trigger"]),
        ({**feed("https://example.org/feed"), "connection": "0" * 32}, ["trigger.connection"]),
    ],
)
@pytest.mark.parametrize("path", ["/preview", "/test-calls"])
def test_what_is_wrong_with_a_trigger_is_told_at_once(
    house: House, path: str, trigger: Json, fields: list[str]
) -> None:
    answer = house.call("POST", path, {"trigger": trigger})
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == fields


@pytest.mark.parametrize(
    ("expression", "english", "japanese"),
    [
        ("*/15 * * * *", "Every 15 minutes", "15 分ごと, 毎時"),
        ("0 9 * * mon-fri", "At 09:00, Monday through Friday", "09:00、月曜日 から 金曜日 まで"),
        ("30 18 24 12 *", "At 18:30, on day 24 of the month, only in December", "18:30、月の 24 日目、12月 でのみ"),
        ("0 0 * * 7", "At 00:00, only on Sunday", "00:00、日曜日 にのみ"),
        # Either of both is enough (crontab(5)), unless one begins with a star.
        ("0 0 1 * 1", "At 00:00, on day 1 of the month, or on Monday", "00:00、月の 1 日目, または月曜日"),
        ("0 0 */2 * 1", "", ""),
        ("0 0 15 * 1#2", "", ""),
        ("0 0 L,3 * *", "", ""),
        ("0 0 5,*/7 * *", "", ""),
        # Runs at :00 and :45, not every 45 minutes.
        ("*/45 * * * *", "", ""),
        ("0 0 */3 * *", "", ""),
    ],
)
def test_cron_expressions_in_words(expression: str, english: str, japanese: str) -> None:
    assert [cron_words(expression, language) for language in ("en", "ja", "eo")] == [english, japanese, english]
