"""Checks of feeds over HTTP, fired as the engine does. Ids are those of public complaints about other programs."""

from collections.abc import Callable

import pytest

from tests.support.checking import NOW
from tests.support.sink import Reply
from tests.unit.services.feed.conftest import Listener
from whenthen.services.checking import CheckFailed

type Listen = Callable[..., Listener]
type Fixture = Callable[[str], bytes]

MINUTE = 60_000
DAY = 24 * 60 * MINUTE


def item(name: str, *, guid: str | None = "", date: str = "", text: str = "text") -> str:
    parts = [f"<title>{name}</title>"]
    if guid is not None:
        parts.append(f"<guid isPermaLink='false'>{guid or name}</guid>")
    if date:
        parts.append(f"<pubDate>{date}</pubDate>")
    return f"<item>{''.join(parts)}<description>{text}</description></item>"


def rss(*items: str, head: str = "") -> str:
    channel = f"<title>t</title><link>https://e.example/</link><description>d</description>{head}"
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{channel}{"".join(items)}</channel></rss>'


def entry(guid: str, updated: str) -> str:
    return f"<entry><id>{guid}</id><title>{guid}</title><updated>{updated}</updated></entry>"


def atom(*entries: str) -> str:
    head = "<id>urn:f</id><title>t</title><updated>2022-04-01T00:00:00Z</updated>"
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{"".join(entries)}</feed>'


def test_ingredients(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("rss-2.0.xml"))
    listener.check()
    oldest, _, newest = listener.found.items
    url = f"{listener.sink.url}"
    assert newest.ingredients == {
        "EntryTitle": "Lock closed",
        "EntryUrl": "https://harbour.example/lock?a=1&b=2",
        "EntryAuthor": "Ann Example",
        "EntryContent": f'<p>Closed <a href="{url}/plan">as planned</a>.</p><img src="{url}/map.png" />',
        "EntryImageUrl": f"{url}/map.png",
        "EntryPublished": "August 23, 2010 at 11:01PM",
        "FeedTitle": "Harbour & Sea",
        "FeedUrl": f"{url}/feed",
    }
    assert newest.occurred_at == 1_282_604_465_000
    # The feed's own image stands for the one that an item lacks.
    assert oldest.ingredients["EntryImageUrl"] == "https://harbour.example/logo.png"
    assert listener.sink.requests[0].headers["accept"].startswith("application/atom+xml")


def test_a01_an_unsorted_feed_fires_nothing_twice(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("newest-item-second.atom"))
    assert listener.titles() == []
    assert [found.ingredients["EntryTitle"] for found in listener.found.items] == ["Older", "Newer"]
    # Other bytes, same items: the document is read again.
    listener.serve(fixture("newest-item-second.atom") + b"\n")
    assert listener.titles() == []
    assert len(listener.found.items) == 2


def test_a02_an_item_without_a_date_fires_once(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(rss())
    listener.check()
    listener.serve(fixture("item-without-date.rss"))
    assert [(found.unique, found.occurred_at) for found in listener.check()] == [
        ("guid a", 1_648_893_600_000),
        ("guid b", NOW),
    ]
    assert listener.found.items[1].ingredients["EntryPublished"] == ""
    listener.serve(fixture("item-without-date.rss") + b"\n")
    assert listener.titles(NOW + DAY) == []


def test_a03_another_wording_of_an_item_without_a_guid_does_not_fire(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("no-guids.rss"))
    listener.check()
    listener.serve(fixture("no-guids.rss").replace(b"wording", b"way to put it"))
    assert listener.titles() == []
    assert len(listener.found.items) == 2


def test_a04_feeds_without_guids_are_told_apart(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("neither-guid-nor-link.rss"))
    listener.check()
    assert len(listener.found.items) == 2, "the same title at two dates; a text alone is no identity"
    assert listener.found.note.startswith("1 of its items have no id, link or title and are left out")
    by_content = listen(identity="content")
    by_content.check()
    assert (len(by_content.found.items), by_content.found.note) == (3, "")
    by_title = listen(identity="title")
    by_title.check()
    assert [found.unique for found in by_title.found.items] == ["title Same title"]


def test_a05_all_items_are_shown_oldest_first_so_that_a_cap_comes_after_the_seen_ones(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(*(item(name) for name in "cba")))
    listener.check()
    listener.serve(rss(*(item(name) for name in "edcba")))
    assert listener.titles() == ["d", "e"]
    assert len(listener.found.items) == 5


def test_a05_what_did_not_fit_is_found_again_from_the_old_position(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("a")), ETag='"1"')
    listener.check()
    kept = listener.checks.position
    listener.serve(rss(item("b"), item("a")), ETag='"2"')
    listener.check()
    listener.checks.position = kept
    listener.check()
    assert [found.unique for found in listener.found.items] == ["guid a", "guid b"]
    assert listener.sink.requests[-1].headers["if-none-match"] == '"1"'


def test_a06_a35_a_later_update_fires_only_where_it_is_asked_for(listen: Listen) -> None:
    new, updated = listen(), listen("new_or_updated_feed_item")
    for version in ("2022-04-01T00:00:00Z", "2022-04-02T00:00:00Z", "2022-04-02T02:00:00+02:00"):
        new.serve(atom(entry("urn:2", version), entry("urn:1", "2022-03-01T00:00:00Z")))
        fired = [new.titles(), updated.titles()]
        if version == "2022-04-02T00:00:00Z":
            assert fired == [[], ["urn:2"]]
        else:
            assert fired == [[], []], "the same instant, written in another way, is no update"
    assert len(new.found.items) == len(updated.found.items) == 2


def test_a09_a_later_date_of_publishing_does_not_fire(listen: Listen) -> None:
    new, updated = listen(), listen("new_or_updated_feed_item")
    for day in ("01", "02"):
        new.serve(rss(item("a", date=f"{day} Apr 2022 10:00:00 GMT")))
        fired = [new.titles(), updated.titles()]
    assert fired == [[], ["a"]]


def test_an_update_counts_whatever_the_date_of_publishing(listen: Listen) -> None:
    listener = listen("new_or_updated_feed_item")
    published = "<published>2022-04-01T00:00:00Z</published></entry>"
    listener.serve(atom(entry("urn:1", "2022-04-02T00:00:00Z").replace("</entry>", published)))
    listener.check()
    listener.serve(atom(entry("urn:1", "2022-04-03T00:00:00Z").replace("</entry>", published)))
    assert [found.ingredients["EntryPublished"] for found in listener.check()] == ["April 01, 2022 at 12:00AM"]


def test_an_item_of_the_future_occurs_now(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("a", date="02 Apr 2035 10:00:00 GMT")))
    listener.check()
    (found,) = listener.found.items
    assert (found.occurred_at, found.ingredients["EntryPublished"]) == (NOW, "April 02, 2035 at 10:00AM")


def test_a10_items_of_one_second_all_fire(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss())
    listener.check()
    listener.serve(rss(*(item(name, date="Sat, 02 Apr 2022 10:00:00 GMT") for name in "edcba")))
    assert listener.titles() == ["a", "b", "c", "d", "e"]


def test_a14_an_item_is_the_same_whatever_the_position(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("b"), item("a")))
    listener.check()
    first = listener.found.items
    listener.checks.position = None
    assert listener.titles(NOW + MINUTE) == []
    assert [found.unique for found in listener.found.items] == [found.unique for found in first]


def test_a15_each_of_three_new_items_fires(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("a")))
    listener.check()
    listener.serve(rss(*(item(name) for name in "dcba")))
    assert listener.titles() == ["b", "c", "d"]


def test_a16_the_first_check_shows_all_and_fires_nothing(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(*(item(str(n)) for n in range(10))))
    assert listener.titles() == []
    assert len(listener.found.items) == 10


def test_a17_a_feed_of_5_000_items_is_read(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(*(item(str(n), date="Sat, 02 Apr 2022 10:00:00 GMT") for n in range(5000))))
    listener.check()
    assert len({found.unique for found in listener.found.items}) == 5000
    assert len(str(listener.found.position)) < 500


def test_a19_a_document_that_is_too_large_fails_with_the_limit(listen: Listen) -> None:
    listener = listen()
    listener.serve(b"<rss>" + b" " * (4 * 1024 * 1024))
    with pytest.raises(CheckFailed, match="larger than 4 MiB") as raised:
        listener.check()
    assert raised.value.field == "feed_url"


def test_a20_an_item_that_comes_late_with_an_older_date_fires(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("new", date="02 Apr 2022 10:00:00 GMT")))
    listener.check()
    listener.serve(rss(item("new", date="02 Apr 2022 10:00:00 GMT"), item("late", date="01 Apr 2022 10:00:00 GMT")))
    assert listener.titles() == ["late"]


def test_a28_a_counter_in_the_title_does_not_fire(listen: Listen) -> None:
    listener = listen()
    for count in (3, 4):
        listener.serve(rss(item(f"Talk ({count} comments)", guid="talk")))
        assert listener.titles() == []
    listener.serve(rss("<item><title>Talk (5)</title><link>/talk</link></item>"))
    assert listener.titles() == ["Talk (5)"]
    listener.serve(rss("<item><title>Talk (6)</title><link>/talk</link></item>"))
    assert listener.titles() == []


def test_a30_two_items_with_one_guid_both_fire(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(rss())
    listener.check()
    listener.serve(fixture("one-guid-for-two-items.rss"))
    assert listener.titles() == ["First", "Second"]


def test_a30_the_second_of_two_items_with_one_guid_comes_later(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("one-guid-for-two-items.rss").replace(b"<item><title>Second", b"<x><title>Second"))
    listener.check()
    listener.serve(fixture("one-guid-for-two-items.rss"))
    assert listener.titles() == ["Second"]


def test_a32_a_date_with_two_digits_of_a_year(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("odd-dates.rss"))
    listener.check()
    published = {found.unique: found.ingredients["EntryPublished"] for found in listener.found.items}
    assert published["guid two-digit-year"] == "April 02, 2022 at 12:00AM"
    assert published["guid unreadable"] == published["guid epoch"] == published["guid day-32"] == ""
    assert all(0 < found.occurred_at <= NOW for found in listener.found.items)


def test_a36_a_feed_that_lacks_elements_is_told_and_read(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("channel-without-link-and-description.rss"), ETag='"1"')
    listener.check()
    note = "It lacks <link> and <description>, which RSS 2.0 requires."
    assert (listener.found.note, len(listener.found.items)) == (note, 1)
    listener.serve(b"", status=304)
    listener.check()
    assert listener.found.note == note, "it is still so"


def test_b01_one_check_is_one_request(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("a")))
    listener.check()
    assert len(listener.sink.requests) == 1
    listener.serve("<html>")
    with pytest.raises(CheckFailed):
        listener.check()
    assert len(listener.sink.requests) == 2


def test_b02_both_validators_are_replaced_by_each_document(listen: Listen) -> None:
    listener = listen()
    last_modified = "Sat, 02 Apr 2022 10:00:00 GMT"
    listener.serve(rss(item("a")), ETag='W/"1"', Last_Modified=last_modified)
    listener.check()
    listener.serve(rss(item("b")), ETag='W/"2"', Last_Modified=last_modified)
    assert listener.titles() == ["b"]
    listener.serve(rss(item("c")))
    assert listener.titles() == ["c"]
    listener.check()
    asked = [
        (request.headers.get("if-none-match"), request.headers.get("if-modified-since"))
        for request in listener.sink.requests
    ]
    assert asked == [(None, None), ('W/"1"', last_modified), ('W/"2"', last_modified), (None, None)]


def test_what_has_not_changed_leaves_the_position(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("a")), ETag='"1"')
    listener.check()
    position = listener.found.position
    listener.serve(b"", status=304)
    assert (listener.check(), listener.found.items, listener.found.position) == ([], (), position)


def test_the_same_bytes_are_not_read_again_and_their_validators_are_kept(
    listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = listen()
    listener.serve(rss(item("a")), ETag='"1"')
    listener.check()
    before = dict(listener.found.position)
    monkeypatch.setattr("whenthen.services.feed.checks.read_apart", None)
    listener.check()
    assert (listener.found.items, listener.found.position) == ((), before)
    listener.serve(rss(item("a")), ETag='"2"')
    listener.check()
    assert listener.found.items == ()
    assert listener.found.position == before | {"source": {**before["source"], "etag": '"2"'}}


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7), ("Mon, 21 Sep 2026 14:15:20 GMT", 120), ("999999", 86_400), ("soon", None)]
)
def test_b06_retry_after_is_passed_on(listen: Listen, header: str, seconds: int | None) -> None:
    listener = listen()
    listener.serve(b"", status=429, Retry_After=header)
    with pytest.raises(CheckFailed, match=r"answered 429\.") as raised:
        listener.check()
    assert raised.value.retry_at == (None if seconds is None else NOW + seconds * 1000)


def test_b07_ttl_holds_also_when_nothing_has_changed(listen: Listen) -> None:
    listener = listen()
    listener.serve(rss(item("a"), head="<ttl>90</ttl>"), ETag='"1"')
    listener.check()
    assert listener.found.not_before == NOW + 90 * MINUTE
    listener.check(NOW + MINUTE)
    assert listener.found.not_before == NOW + 91 * MINUTE, "the same bytes"
    listener.serve(b"", status=304)
    listener.check(NOW + 2 * MINUTE)
    assert listener.found.not_before == NOW + 92 * MINUTE
    listener.serve(rss(item("a")))
    listener.check()
    assert listener.found.not_before is None


def test_b07_hours_and_days_to_skip(listen: Listen, fixture: Fixture) -> None:
    listener = listen(interval_minutes=15)
    listener.serve(fixture("skip-hours-and-days.rss"))
    listener.check()
    # From Monday 14:13 over the hours 14 and 15.
    assert listener.found.not_before == 1_790_006_400_000


def test_matching_items(listen: Listen) -> None:
    listener = listen("new_feed_item_matches", keyword='"open again" OR ship')
    listener.serve(rss(item("a", text="The ship"), item("b", text="none")))
    assert listener.titles() == []
    listener.serve(
        rss(
            item("The Ship", guid="c"),
            item("d", text="&lt;b&gt;Open&lt;/b&gt;&lt;br/&gt; again"),
            item("e", text='&lt;a href="/ship"&gt;x&lt;/a&gt;'),
            item("a", text="The ship"),
            item("b", text="none, and now the ship"),
        )
    )
    assert listener.titles() == ["b", "d", "The Ship"], "b holds it only now"


def test_a_feed_that_has_moved_for_good_is_asked_where_it_is(listen: Listen) -> None:
    listener = listen()
    listener.serve(b"", status=301, Location="/new")
    listener.serve(rss(item("a")), path="/new")
    listener.check()
    listener.serve(rss(item("b")), path="/new")
    assert listener.titles() == ["b"]
    assert [request.path for request in listener.sink.requests] == ["/feed", "/new", "/new"]
    assert listener.found.items[0].ingredients["FeedUrl"] == f"{listener.sink.url}/feed"


def test_a_feed_that_has_moved_for_a_while_is_asked_where_it_was(listen: Listen) -> None:
    listener = listen()
    listener.serve(b"", status=302, Location="/new")
    listener.serve(rss("<item><guid>relative</guid><title>a</title></item>"), path="/new")
    listener.check()
    listener.serve(b"", status=302, Location="/elsewhere/new")
    listener.serve(rss("<item><guid>relative</guid><title>a!</title></item>"), path="/elsewhere/new")
    assert listener.titles() == [], "the identity does not depend on where the document was"
    assert [request.path for request in listener.sink.requests] == ["/feed", "/new", "/feed", "/elsewhere/new"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(404), "answered 404"),
        (Reply(410), "answered 410"),
        (Reply(200, (), b"<html>Domain for sale</html>"), "web page"),
        (Reply(close=True), "could not be read"),
    ],
)
def test_a_new_address_that_is_dead_is_forgotten(listen: Listen, reply: Reply, words: str) -> None:
    listener = listen()
    listener.serve(b"", status=301, Location="/new")
    listener.serve(rss(item("a")), path="/new")
    listener.check()
    listener.sink.reply("/new", [reply])
    listener.serve(rss(item("b"), item("a")))
    assert listener.titles() == []
    assert words in listener.found.note
    assert "the address in the field is asked next time" in listener.found.note
    assert listener.titles() == ["b"]
    assert [request.path for request in listener.sink.requests] == ["/feed", "/new", "/new", "/feed"]


def test_a_new_address_in_trouble_is_asked_again(listen: Listen) -> None:
    listener = listen()
    listener.serve(b"", status=301, Location="/new")
    listener.serve(rss(item("a")), path="/new")
    listener.check()
    listener.serve(b"", path="/new", status=503, Retry_After="60")
    for _ in range(2):
        with pytest.raises(CheckFailed, match="answered 503"):
            listener.check()
    assert [request.path for request in listener.sink.requests] == ["/feed", "/new", "/new", "/new"]


def test_an_address_that_is_gone_for_good_fails(listen: Listen) -> None:
    listener = listen()
    listener.serve(b"", status=301, Location="/new")
    listener.serve(rss(item("a")), path="/new")
    listener.check()
    listener.serve(b"", path="/new", status=404)
    listener.check()
    for _ in range(2):
        with pytest.raises(CheckFailed, match="answered 404"):
            listener.check()


@pytest.mark.parametrize(
    ("body", "headers", "words"),
    [
        (b"", {}, "The document is empty."),
        (b"<html><link rel=alternate type=application/rss+xml href=/real>", {}, "It offers: http://127.0.0.1:"),
        (b'{"a": 1}', {"Content_Type": "application/json"}, "JSON without"),
        (b"\xff\xd8\xff\xe0", {"Content_Type": "image/jpeg"}, "an image"),
        (b"packed", {"Content_Encoding": "br"}, "packed as br, which was not asked for"),
    ],
)
def test_what_is_no_feed_is_told_at_the_field(listen: Listen, body: bytes, headers: dict[str, str], words: str) -> None:
    listener = listen()
    listener.serve(body, **headers)
    with pytest.raises(CheckFailed) as raised:
        listener.check()
    assert words in str(raised.value)
    assert raised.value.field == "feed_url"


def test_entities_from_outside_are_not_fetched(listen: Listen, fixture: Fixture) -> None:
    listener = listen()
    listener.serve(fixture("outside-entity.rss").replace(b"@URL@", listener.sink.url.encode()))
    listener.check()
    assert [found.ingredients["EntryTitle"] for found in listener.found.items] == ["One &file;&web;"]
    assert [request.path for request in listener.sink.requests] == ["/feed"]
    assert listener.found.note.startswith("It declares entities of its own, which are not read.")
