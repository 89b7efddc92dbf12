"""Each format of feeds, and what becomes of its parts."""

from collections.abc import Callable

import pytest

from whenthen.services.feed.feeds import Entry, Feed, Wishes

type Read = Callable[..., Feed]

AUGUST_23 = 1_282_604_460_000
"""2010-08-23T23:01:00Z."""


def test_rss_2(read: Read) -> None:
    feed = read("rss-2.0.xml")
    assert (feed.title, feed.author, feed.image) == ("Harbour & Sea", "", "https://harbour.example/logo.png")
    assert (feed.wishes, feed.notes) == (Wishes(30), ())
    assert feed.entries == (
        Entry(
            guid="harbour-3",
            link="https://harbour.example/lock?a=1&b=2",
            title="Lock closed",
            author="Ann Example",
            content='<p>Closed <a href="https://base.example/plan">as planned</a>.</p>'
            '<img src="https://base.example/dir/map.png" />',
            image="https://base.example/dir/map.png",
            published=AUGUST_23 + 5000,
            updated=None,
        ),
        Entry(
            guid="https://harbour.example/ships",
            link="https://harbour.example/ships",
            title="Two ships",
            author="bob@harbour.example (Bob)",
            content="Two <em>ships</em> came in.",
            image="https://harbour.example/ships-small.jpg",
            published=1_282_464_000_000,
            updated=None,
        ),
        Entry(
            guid="",
            link="https://harbour.example/night",
            title="Quiet night",
            author="",
            content="Nothing.",
            image="",
            published=1_282_384_800_000,
            updated=None,
        ),
    )


def test_atom_1(read: Read) -> None:
    feed = read("atom-1.0.xml")
    assert (feed.title, feed.author, feed.image, feed.notes) == (
        "Atom & Co",
        "Dora",
        "https://atom.example/logo.svg",
        (),
    )
    first, second = feed.entries
    assert (first.guid, first.link) == ("tag:atom.example,2010:1", "https://atom.example/blog/posts/1")
    assert first.title == "a < b"
    assert first.content == '<p>See <a href="https://atom.example/blog/plan">it</a></p>'
    assert (first.published, first.updated, first.date) == (AUGUST_23, 1_282_629_600_000, AUGUST_23)
    assert (second.author, second.link) == ("Eve", "https://atom.example/blog/posts/0.json")
    # A plain text is made HTML, so that EntryContent is always of one kind.
    assert second.content == "if a &lt; b &amp; b &lt; c"
    assert (second.published, second.updated, second.date) == (None, 1_282_291_200_000, 1_282_291_200_000)


@pytest.mark.parametrize(
    ("name", "title", "entry"),
    [
        ("rss-0.90.rdf", "Ninety", ("", "https://old.example/1", "One", None)),
        ("rss-0.91-netscape.xml", "Ninety-one", ("", "https://old.example/1", "One", None)),
        ("rss-0.92.xml", "Ninety-two", ("", "https://old.example/1", "", None)),
        ("rss-1.0.rdf", "RDF news", ("https://rdf.example/1", "https://rdf.example/1", "One", AUGUST_23)),
        ("atom-0.3.xml", "Atom 0.3", ("tag:old:1", "https://old.example/1", "One", 1_072_951_200_000)),
        ("json-1.json", "JSON one", ("https://json.example/1", "https://json.example/1", "", None)),
    ],
)
def test_older_formats(read: Read, name: str, title: str, entry: tuple[object, ...]) -> None:
    feed = read(name)
    assert feed.title == title
    assert [(item.guid, item.link, item.title, item.date) for item in feed.entries] == [entry]
    assert feed.notes == ()


def test_json_feed(read: Read) -> None:
    feed = read("json-1.1.json", "text/plain")
    assert (feed.title, feed.author, feed.image, feed.notes) == ("JSON & Co", "Gil", "", ())
    assert feed.entries == (
        Entry(
            guid="9007199254740993",
            link="https://base.example/posts/2",
            title="Two <tags>",
            author="Hal, Ida",
            content='<p>See <a href="https://base.example/plan">it</a></p>',
            image="https://base.example/two.png",
            published=AUGUST_23,
            updated=1_282_629_600_000,
        ),
        Entry("1", "https://elsewhere.example/", "", "", "Short", "", None, None),
    )
    assert (read("json-1.json").author, read("json-1.json").image) == ("Frank", "https://json.example/icon.png")
    assert read("json-1.json").entries[0].content == "a &lt; b"


@pytest.mark.parametrize(
    ("document", "notes"),
    [
        ('{"items": []}', ("It does not name a version of JSON Feed.", "It lacks a title, which JSON Feed requires.")),
        (
            '{"version": "https://jsonfeed.org/version/1", "title": "t", "items": [1, null, {"id": "x"}]}',
            ("Some of its items are no objects and are left out.",),
        ),
        (
            '{"version": ["https://jsonfeed.org/version/1"], "title": {}, "items": [{"id": [], "url": {}}]}',
            ("It does not name a version of JSON Feed.", "It lacks a title, which JSON Feed requires."),
        ),
    ],
)
def test_json_feeds_with_faults_are_read(read: Read, document: str, notes: tuple[str, ...]) -> None:
    assert read(document.encode()).notes == notes


def test_the_content_decides_what_it_is(read: Read) -> None:
    assert read("rss-0.92.xml", "application/json").title == "Ninety-two"
    assert read("rss-0.92.xml", "text/html").title == "Ninety-two"
    assert read("json-1.json", "application/rss+xml").title == "JSON one"


def test_the_update_period_is_no_wish(read: Read, fixture: Callable[[str], bytes]) -> None:
    assert b"<sy:updatePeriod>" in fixture("rss-1.0.rdf")
    assert read("rss-1.0.rdf").wishes == Wishes()


def test_long_texts_are_cut(read: Read) -> None:
    content = "&lt;p&gt;" + "ä&lt;br/&gt;&amp;amp;" * 20_000
    feed = read(
        f"<rss><channel><title>{'t' * 5000}</title><item><title>{'t' * 5000}</title><author>{'a' * 2500}</author>"
        f"<link>/{'l' * 9000}</link><description>{content}</description></item></channel></rss>".encode()
    )
    (entry,) = feed.entries
    assert [len(text) for text in (feed.title, entry.title, entry.author, entry.link)] == [2000, 2000, 2000, 0]
    assert 65_500 < len(entry.content.encode()) <= 65_536
    assert entry.content.endswith(("ä", "/>", ";")), "neither within a tag nor within an entity"


def test_links_and_images_are_web_addresses(read: Read) -> None:
    feed = read(
        b"""<rss xmlns:media="http://search.yahoo.com/mrss/"><channel>
        <item><guid>1</guid><link>javascript:alert(1)</link><media:thumbnail url="data:image/png;base64,AA=="/></item>
        <item><guid>2</guid><link>magnet:?xt=urn:btih:1</link><media:content medium="image" url="/a.png"/></item>
        <item><guid>3</guid><link>http://[::1/</link><enclosure type="audio/mpeg" url="/a.mp3"/></item>
        <item><guid>relative</guid><enclosure type="image/png" url="/b.png"/></item>
        </channel></rss>"""
    )
    assert [(entry.guid, entry.link, entry.image) for entry in feed.entries] == [
        ("1", "", ""),
        ("2", "magnet:?xt=urn:btih:1", "https://base.example/a.png"),
        ("3", "https://base.example/a.mp3", ""),
        ("relative", "https://base.example/b.png", "https://base.example/b.png"),
    ]
