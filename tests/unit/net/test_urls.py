import traceback

import pytest

from whenthen.net import InvalidUrl
from whenthen.net.urls import join_url, parse_url, same_origin


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.org/path",
        "//example.org",
        "/path",
        "http:///path",
        "http://",
        "ftp://example.org",
        "file:///etc/passwd",
        "gopher://example.org",
        "unix:///var/run/docker.sock",
        "ws://example.org",
        "http://user@example.org",
        "http://user:password@example.org",
        "http://:password@example.org",
        "http://example.org\\@127.0.0.1",
        "http://127.0.0.1\\.example.org",
        "http://example..org",
        "http://.example.org",
        "http://exam ple.org",
        "http://127%2e0.0.1",
        "http://" + "a" * 64 + ".org",
        "http://" + "a." * 127 + "org",
        "http://example.org:0",
        "http://example.org:65536",
        "http://example.org:-1",
        "http://example.org:http",
        "http://0177.0.0.1",
        "http://256.1.1.1",
        "http://[::1",
        "http://[::g]",
        "http://①②⑦.⓪.⓪.①",
        "http://example.org/\r\nX-Injected: 1",
        "http://example.org/\x00",
        "http://example.org/\ud800",
        "http://example.org/" + "a" * 70_000,
    ],
)
def test_g06_bad_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl) as raised:
        parse_url(url)
    assert not raised.value.retryable


@pytest.mark.parametrize(
    ("url", "parsed"),
    [
        ("http://example.org", "http://example.org"),
        ("HTTPS://Example.ORG:443/A?b#c", "https://example.org/A?b"),
        ("http://example.org./", "http://example.org./"),
        ("http://my_container:8080/", "http://my_container:8080/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://[2606:4700::1]:8080/", "http://[2606:4700::1]:8080/"),
        ("http://2130706433/", "http://2130706433/"),
        ("http://example.org/a b", "http://example.org/a%20b"),
    ],
)
def test_good_url_is_normalized_and_loses_its_fragment(url: str, parsed: str) -> None:
    assert str(parse_url(url)) == parsed


def test_error_does_not_quote_the_url() -> None:
    with pytest.raises(InvalidUrl) as raised:
        parse_url("http://user:hunter2:x@[example.org:hunter2/hunter2")
    # The traceback shows source lines, of which this test's own hold the URL.
    assert "hunter2" not in "".join(traceback.format_exception_only(raised.value))
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


@pytest.mark.parametrize(
    ("reference", "joined"),
    [
        ("/b", "http://example.org:81/b"),
        ("c?d#e", "http://example.org:81/a/c?d"),
        ("//other.test/b", "http://other.test/b"),
        ("https://other.test", "https://other.test"),
    ],
)
def test_redirect_reference_is_resolved(reference: str, joined: str) -> None:
    assert str(join_url("http://example.org:81/a/b", reference)) == joined


@pytest.mark.parametrize("reference", ["file:///etc/passwd", "http://user@other.test", "http://[::1", "javascript:0"])
def test_g02_redirect_reference_is_checked_like_any_url(reference: str) -> None:
    with pytest.raises(InvalidUrl):
        join_url("http://example.org/", reference)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://a.test/x", "http://A.test:80/y", True),
        ("https://a.test", "http://a.test", False),
        ("http://a.test", "http://a.test:81", False),
        ("http://a.test", "http://b.a.test", False),
    ],
)
def test_same_origin(one: str, other: str, same: bool) -> None:
    assert same_origin(parse_url(one), parse_url(other)) is same
