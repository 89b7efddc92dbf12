"""Reading a source over HTTP: conditional requests, and failures in words."""

from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network
from typing import Any

import pytest

from tests.support.checking import NOW
from tests.support.sink import Reply, Sink
from whenthen.net import GuardedClient, Request
from whenthen.services.checking import Check, CheckFailed, PolledFields
from whenthen.services.documents import MAX_DOCUMENT_BYTES, Document, Gone, Source, known_source, read_document

DATE = "Sat, 02 Apr 2022 10:00:00 GMT"
type Read = Callable[..., Document | None]


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


@pytest.fixture
def read() -> Read:
    """Read a source as a check does."""
    client = GuardedClient(
        allowed_networks=[ip_network("127.0.0.0/8")], timeout_seconds=5, max_response_bytes=MAX_DOCUMENT_BYTES
    )
    check = Check(fields=PolledFields(), position=None, now=NOW, trigger_id="trigger", fetch=client.send)

    def make(source: Source, **options: Any) -> Document | None:
        return read_document(check, source, field="url", **options)

    return make


def test_a_document_comes_with_the_source_for_the_next_request(sink: Sink, read: Read) -> None:
    sink.reply("/a", [Reply(200, (("ETag", 'W/"x, y"'), ("Last-Modified", DATE), ("X-A", "1")), b"body")])
    document = read(Source(f"{sink.url}/a"), accept="text/plain")
    assert document is not None
    assert (document.body, document.url, document.headers["x-a"]) == (b"body", f"{sink.url}/a", "1")
    assert document.source == Source(f"{sink.url}/a", 'W/"x, y"', DATE)
    assert known_source({"source": document.source.as_dict()}, "other") == document.source
    assert known_source(None, "other") == known_source({}, "other") == Source("other")
    assert sink.requests[0].headers["accept"] == "text/plain"


def test_b02_validators_go_back_as_they_came(sink: Sink, read: Read) -> None:
    sink.reply("/", [Reply(304)])
    assert read(Source(f"{sink.url}/", "not even quoted", "some day")) is None
    assert sink.requests[0].headers["if-none-match"] == "not even quoted"
    assert sink.requests[0].headers["if-modified-since"] == "some day"


def test_b02_validators_are_replaced_together(sink: Sink, read: Read) -> None:
    sink.reply("/", [Reply(200, (("ETag", '"2"'),))])
    document = read(Source(f"{sink.url}/", '"1"', DATE))
    assert document is not None
    assert document.source == Source(f"{sink.url}/", '"2"', None)


def test_304_without_a_condition_is_a_failure(sink: Sink, read: Read) -> None:
    sink.reply("/", [Reply(304)])
    with pytest.raises(CheckFailed, match=r"answered 304\."):
        read(Source(f"{sink.url}/"))
    with pytest.raises(CheckFailed, match=r"answered 304\."):
        read(Source(f"{sink.url}/", '"1"'), request=Request("GET", f"{sink.url}/"))


@pytest.mark.parametrize("etag", ['"a\x01b"', '"a\tb"', f'"{"a" * 2000}"', ""])
def test_a_validator_that_can_not_go_back_is_not_kept(sink: Sink, read: Read, etag: str) -> None:
    sink.reply("/", [Reply(200, (("ETag", etag),))])
    document = read(Source(f"{sink.url}/"))
    assert document is not None
    assert document.source.etag is None
    assert read(document.source) is not None


@pytest.mark.parametrize(
    ("headers", "retry_at"),
    [
        ((), None),
        ((("Retry-After", "7"),), NOW + 7000),
        ((("Retry-After", "Mon, 21 Sep 2026 14:15:20 GMT"),), NOW + 120_000),
        ((("Retry-After", "Mon, 21 Sep 2020 14:15:20 GMT"),), None),
        ((("Retry-After", "999999999"),), NOW + 86_400_000),
        ((("Retry-After", "soon"),), None),
    ],
)
def test_b06_retry_after_in_seconds_and_as_a_date(
    sink: Sink, read: Read, headers: tuple[tuple[str, str], ...], retry_at: int | None
) -> None:
    sink.reply("/", [Reply(503, headers)])
    with pytest.raises(CheckFailed, match=r"The source answered 503\.") as raised:
        read(Source(f"{sink.url}/"))
    assert (raised.value.field, raised.value.retry_at) == ("url", retry_at)


@pytest.mark.parametrize(("status", "gone"), [(404, True), (410, True), (401, False), (500, False), (204, False)])
def test_what_is_gone_is_told_from_other_failures(sink: Sink, read: Read, status: int, gone: bool) -> None:
    sink.reply("/", [Reply(status, (), b"")])
    with pytest.raises(CheckFailed, match=f"answered {status}") as raised:
        read(Source(f"{sink.url}/"))
    assert isinstance(raised.value, Gone) is gone


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(close=True), "could not be read"),
        (Reply(200, (), b"a" * (MAX_DOCUMENT_BYTES + 1)), r"larger than 4 MiB\."),
        (Reply(200, (("Content-Encoding", "gzip"),), b"no gzip"), "broke off before its end"),
        (Reply(200, (("Content-Encoding", "br"),), b"packed"), "packed as br, which was not asked for"),
        (Reply(302, (("Location", "ftp://127.0.0.1/"),)), "could not be read"),
    ],
)
def test_there_is_no_document(sink: Sink, read: Read, reply: Reply, words: str) -> None:
    sink.reply("/", [reply])
    with pytest.raises(CheckFailed, match=words) as raised:
        read(Source(f"{sink.url}/"))
    assert raised.value.field == "url"
    assert not isinstance(raised.value, Gone)


@pytest.mark.parametrize(("status", "asked_next"), [(301, "/new"), (308, "/new"), (302, "/old"), (307, "/old")])
def test_a_redirect_for_good_is_remembered(sink: Sink, read: Read, status: int, asked_next: str) -> None:
    sink.reply("/old", [Reply(status, (("Location", "/new"),))])
    document = read(Source(f"{sink.url}/old"))
    assert document is not None
    assert document.url == f"{sink.url}/new"
    assert document.source.url == f"{sink.url}{asked_next}"


def test_another_request_than_a_get(sink: Sink, read: Read) -> None:
    document = read(Source("x", '"1"'), request=Request("POST", f"{sink.url}/", (), b"question"))
    assert document is not None
    (asked,) = sink.requests
    assert (asked.method, asked.body, asked.headers.get("if-none-match")) == ("POST", b"question", None)
    position: Mapping[str, Any] = {"source": document.source.as_dict()}
    assert known_source(position, "").url == "x"
