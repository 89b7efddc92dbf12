"""Whatever a server answers is a feed or a failure in words, and what is found can be stored."""

import json
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.checking import NOW
from whenthen.services.feed.feeds import Feed, NotAFeed
from whenthen.services.feed.fields import FeedFields
from whenthen.services.feed.items import feed_items
from whenthen.services.feed.reading import read_feed

FIXTURES = [path.read_bytes() for path in sorted((Path(__file__).parent / "fixtures").iterdir())]
PIECES = [
    *(
        b"<rss>",
        b"<feed>",
        b"<channel>",
        b"<item>",
        b"<entry>",
        b"</item>",
        b"<title>",
        b"</title>",
        b"<guid>",
        b"<id>",
    ),
    *(
        b"<link href='x'/>",
        b"<link>",
        b"<pubDate>",
        b"<updated>",
        b"<content type='html'>",
        b"<description>",
        b"<image>",
    ),
    *(
        b"<media:thumbnail url='x'>",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<!DOCTYPE",
        b"[<!ENTITY a 'b'>]>",
        b"<?xml",
    ),
    *(
        b"&#xD800;",
        b"&amp;",
        b"&lt;",
        b"&",
        b"\x00",
        b"\xff",
        b"\xed\xa0\x80",
        b"'",
        b'"',
        b"<svg>",
        b"<author>",
        b"<a",
    ),
    *(b"<itunes:image href='http://[::1'/>", b"<source>", b"<category>", b"<textInput>", b"</", b">", b"2022-04-02"),
]

documents = st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: b"<rss><channel><item>" + b"".join(pieces)),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["version", "title", "items", "id", "url", "author", "authors", "name", "content_html"]
                ),
                inner,
                max_size=6,
            )
        ),
        max_leaves=20,
    ).map(lambda value: json.dumps(value).encode()),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    body = draw(st.sampled_from(FIXTURES))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(body)))
        end = start + draw(st.integers(0, 30))
        body = body[:start] + draw(st.sampled_from([b"", *PIECES]) | st.binary(max_size=4)) + body[end:]
    return body


def check(body: bytes, content_type: str) -> None:
    try:
        feed = read_feed(body, content_type, "https://base.example/feed")
    except NotAFeed:
        return
    assert Feed.read(json.loads(json.dumps(feed.as_dict()))) == feed
    items, _ = feed_items(
        feed, FeedFields(feed_url="https://base.example/feed"), NOW, with_updates=True, wanted=lambda _: True
    )
    for item in items:
        assert item.unique.encode()
        assert 0 < item.occurred_at <= NOW
        for value in item.ingredients.values():
            assert "\x00" not in value
            assert len(value.encode()) <= 65_536


content_types = st.sampled_from(["", "text/xml", "application/json", "text/html; charset=utf-16"]) | st.text(
    max_size=20
)


@settings(deadline=None, max_examples=300)
@given(documents, content_types)
@example(b"<rss><item><title>\xed\xa0\x80</title></item></rss>", "")
@example(b"<rss><item<rss>", "")
@example(b'{"items": [{"id": "\\ud800\\u0000"}]}', "")
def test_any_bytes(body: bytes, content_type: str) -> None:
    check(body, content_type)


@settings(deadline=None, max_examples=300)
@given(mutated(), content_types)
def test_feeds_with_some_bytes_changed(body: bytes, content_type: str) -> None:
    check(body, content_type)
