"""Feeds that are not as they should be, and yet are read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from whenthen.services.feed.feeds import Feed, NotAFeed
from whenthen.services.feed.items import oldest_first

type Read = Callable[..., Feed]

UNDECODABLE = "It has bytes that are no text in its encoding."
TEXT = "Zoë’s “café”"


@pytest.mark.parametrize(
    ("name", "content_type", "title"),
    [
        ("utf-8-with-mark.rss", "text/xml", TEXT),
        ("utf-8-with-mark.rss", "text/xml; charset=iso-8859-1", TEXT),
        ("utf-16-with-mark.rss", "text/xml; charset=utf-8", TEXT),
        ("utf-16-big-endian-without-mark.rss", "application/rss+xml", TEXT),
        ("windows-1252-undeclared.rss", "text/xml", TEXT),
        ("windows-1252-declared-latin-1.rss", "application/xml", TEXT),
        ("windows-1252-declared-utf-8.rss", "application/xml", TEXT),
        ("windows-1252-declared-utf-8.rss", 'application/xml; charset="Windows-1252"', TEXT),
        ("utf-8-declared-latin-1.rss", "application/xml", TEXT),
        ("utf-8-declared-latin-1.rss", "application/xml; charset=us-ascii", TEXT),
        ("encoding-that-is-none.rss", "application/xml; charset=zip", TEXT),
        ("encoding-that-is-none.rss", "application/xml; charset=../../etc", TEXT),
        ("gb2312.rss", "", "你好，世界"),
        ("gb2312.rss", "text/xml; charset=utf-8", "你好，世界"),
        ("iso-2022-jp.rss", "text/xml", "こんにちは"),
    ],
)
def test_encodings(read: Read, name: str, content_type: str, title: str) -> None:
    feed = read(name, content_type)
    assert ([entry.title for entry in feed.entries], feed.notes) == ([title], ())


def test_bytes_that_fit_no_encoding(read: Read) -> None:
    feed = read(
        b"<rss><channel><title>t</title><link/><description/><item><title>\xff\x81</title></item></channel></rss>"
    )
    assert feed.notes == (UNDECODABLE,)
    assert [entry.title for entry in feed.entries] == ["ÿ\ufffd"]


@pytest.mark.parametrize(
    ("name", "titles", "notes"),
    [
        ("control-characters.rss", ["ABCD"], ["It has control characters, which are left out."]),
        (
            "bare-ampersand.rss",
            ["Salt & Pepper"],
            ["It is not well-formed XML: not well-formed (invalid token) in line 3."],
        ),
        (
            "breaks-off.rss",
            ["Two"],
            [
                "It is not well-formed XML: no element found in line 5.",
                "Its last item is not complete and is left out.",
            ],
        ),
        ("text-before-xml.rss", ["One"], ["It has text before its first element."]),
        ("prefix-not-declared.rss", ["One"], ["It is not well-formed XML: unbound prefix in line 2."]),
        ("references-to-no-characters.rss", ["A\ufffdB\ufffdC\ufffdD\ufffdE\U0001f600"], []),
        ("item-without-date.rss", ["Undated", "Dated"], []),
    ],
)
def test_read_with_a_note(read: Read, name: str, titles: list[str], notes: list[str]) -> None:
    feed = read(name)
    assert ([entry.title for entry in feed.entries], list(feed.notes)) == (titles, notes)


def test_a36_missing_elements_are_told_and_the_items_are_read(read: Read) -> None:
    feed = read("channel-without-link-and-description.rss")
    assert feed.notes == ("It lacks <link> and <description>, which RSS 2.0 requires.",)
    assert len(feed.entries) == 1
    atom = read(b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>x</title></entry></feed>')
    assert atom.notes == ("It lacks <id> and <title> and <updated>, which Atom 1.0 requires.",)
    assert len(atom.entries) == 1
    assert read(b"<rss><item><title>x</title></item></rss>").entries[0].title == "x", "no channel at all"


def test_a32_dates_that_are_unknown(read: Read) -> None:
    entries = {entry.guid: entry for entry in read("odd-dates.rss").entries}
    assert {guid: entry.date for guid, entry in entries.items()} == {
        "unreadable": None,
        "two-digit-year": 1_648_857_600_000,  # 2022-04-02
        "epoch": None,
        "day-32": None,
        "year-9999": None,
        "iso": 1_648_800_000_000,
    }
    # An unknown date stands with the next item of the document, never at the epoch.
    assert [entry.guid for entry in oldest_first(list(entries.values()))] == [
        "iso",
        "year-9999",
        "day-32",
        "epoch",
        "two-digit-year",
        "unreadable",
    ]


def test_the_last_item_stays_when_the_document_has_its_end(read: Read) -> None:
    feed = read(b"<rss><channel><title>t</title><item><title>a</title></item><item><title>b</title></channel></rss>")
    assert [entry.title for entry in feed.entries] == ["a", "b"]


def test_entities_are_not_expanded(read: Read) -> None:
    feed = read("entity-bomb.rss")
    assert [entry.title for entry in feed.entries] == ["One &h; more"]
    assert feed.notes == (
        "It declares entities of its own, which are not read.",
        "It is not well-formed XML: undefined entity in line 7.",
    )


def test_entities_of_html_are_known(read: Read) -> None:
    feed = read(b"<rss><channel><title>t</title><item><title>Caf&eacute;&nbsp;&amp; bar</title></item></channel></rss>")
    assert [entry.title for entry in feed.entries] == ["Café & bar"]


def test_elements_named_like_keys_of_the_parser(read: Read) -> None:
    (entry,) = read("elements-named-like-keys.rss").entries
    assert (entry.guid, entry.title, entry.date) == ("urn:1", "One", None)
    assert entry.content == "&lt;script&gt;alert(1)&lt;/script&gt;", "not taken for HTML that is sanitised"


@pytest.mark.parametrize(
    "content",
    [
        '<summary type="text">{}</summary><content>c</content><x><summary type="html">ok</summary></x>',
        '<content type="html">{}</content>',
        '<content type="image/svg+xml">{}</content>',
        '<content type="TEXT/HTML">{}</content>',
        '<summary>{}</summary><summary_detail type="text/html"/>',
        "<description>{}</description>",
        '<content mode="base64" type="text/html">PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==</content>',
        '<content type="application/octet-stream">PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==</content>',
        '<content type="xhtml"><script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script></content>',
    ],
)
@pytest.mark.parametrize("root", ['<feed xmlns="http://www.w3.org/2005/Atom">{}</feed>', "<feed>{}<p></feed>"])
def test_no_script_reaches_the_content(read: Read, root: str, content: str) -> None:
    script = "&lt;script&gt;alert(1)&lt;/script&gt;"
    (entry,) = read(root.format(f"<entry><id>1</id>{content.format(script)}</entry>").encode()).entries
    assert "<script" not in entry.content.lower()


def test_100_000_tiny_items(read: Read) -> None:
    with pytest.raises(NotAFeed, match="has 100000 items, and at most 10000 are read"):
        read(b"<rss><channel>" + b"<item/>" * 100_000 + b"</channel></rss>")


def test_a_document_that_is_named_like_a_file_is_not_that_file(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = "<rss><channel><item><item>"
    Path(document).write_text("<rss><channel><item><item><item><item>")
    assert len(read(document.encode()).entries) == 1
