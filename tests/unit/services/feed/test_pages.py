"""Documents that are no feeds: what the owner is told."""

import gzip
from collections.abc import Callable

import pytest

from whenthen.services.feed.feeds import Feed, NotAFeed

type Read = Callable[..., Feed]


def test_the_feeds_of_a_page_are_offered(read: Read) -> None:
    with pytest.raises(NotAFeed) as raised:
        read("web-page-with-feeds.html", "text/html")
    assert str(raised.value) == (
        "The address is a web page, not a feed. It offers: https://harbour.example/news/feed.xml, "
        "https://harbour.example/atom.xml, https://other.example/feed.json"
    )


def test_at_most_five_are_offered(read: Read) -> None:
    links = "".join(f'<link rel="alternate" type="application/rss+xml" href="/{n % 8}">' for n in range(20))
    with pytest.raises(NotAFeed) as raised:
        read(f"<html><head>{links}".encode())
    assert str(raised.value).count("https://base.example/") == 5


@pytest.mark.parametrize(
    ("body", "content_type", "words"),
    [
        (b"", "application/rss+xml", "The document is empty."),
        (b"\xef\xbb\xbf \n", "", "The document is empty."),
        (b"<html><body>Hello</body></html>", "", "web page, not a feed, and it names no feed"),
        (b"<div>Hello</div>", "text/html; charset=utf-8", "web page"),
        (b"<!-- x --><!doctype html><p>Hello", "text/html", "web page"),
        (b"<!doctype html", "", "web page"),
        (b"<!doctype html><![if x", "", "web page"),
        (b"\x89PNG\r\n\x1a\n", "image/png", "an image"),
        (b"GIF89a", "", "an image"),
        (b"%PDF-1.7", "application/pdf", "a PDF"),
        (gzip.compress(b"<rss/>"), "application/gzip", "a gzip archive"),
        (b"Not found", "text/plain", "neither XML nor JSON but text/plain"),
        (b"<", "", "neither XML nor JSON"),
        (b"<!--", "", "neither XML nor JSON"),
        (b"<?xml", "", "neither XML nor JSON"),
        (b"<!DOCTYPE rss [", "", "neither XML nor JSON"),
        (b"<!DOCTYPE rss \"'>", "", "neither XML nor JSON"),
        (b'<?xml version="1.0"?><urlset/>', "", "XML whose first element is <urlset>"),
        (b'<opml version="2.0"><body/></opml>', "text/xml", "XML whose first element is <opml>"),
        (
            b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>',
            "application/rdf+xml",
            "XML without a feed's parts",
        ),
        (b'{"error": "log in first"}', "application/json", "JSON without a JSON Feed's list of items"),
        (b"[]", "application/json", "JSON without a JSON Feed's list of items"),
        (b"oops", "application/json", "neither XML nor JSON but application/json"),
        (b"{", "", "should be JSON and can't be read"),
        (b'{"a":' * 100_000, "", "nested too deeply"),
        (b"[" * 100_000, "application/feed+json", "nested too deeply"),
    ],
)
def test_what_it_is_instead(read: Read, body: bytes, content_type: str, words: str) -> None:
    with pytest.raises(NotAFeed) as raised:
        read(body, content_type)
    assert words in str(raised.value)


def test_a_page_to_log_in(read: Read) -> None:
    with pytest.raises(NotAFeed, match="page to log in, not a feed"):
        read("login-page.html", "text/html")
