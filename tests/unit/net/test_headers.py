import tomllib
from pathlib import Path

import pytest

from whenthen.net import InvalidRequest, Request
from whenthen.net.headers import VERSION, fold_headers, outgoing_headers
from whenthen.net.urls import parse_url

URL = "http://example.org:8080/path"


def outgoing(request: Request) -> dict[bytes, bytes]:
    return dict(outgoing_headers(request, parse_url(request.url)))


@pytest.mark.parametrize(
    "header",
    [
        ("X-A", "1\r\nX-B: 2"),
        ("X-A", "1\n"),
        ("X-A", "1\r"),
        ("X-A", "1\x00"),
        ("X-A", "\x7f"),
        ("X-A", "\ud800"),
        ("X-A\r\nX-B", "1"),
        ("X A", "1"),
        ("X-A:", "1"),
        ("", "1"),
        ("X-Ä", "1"),
        ("Host", "127.0.0.1"),
        ("content-length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("Upgrade", "websocket"),
    ],
)
def test_header_that_would_break_the_message_is_refused(header: tuple[str, str]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        outgoing(Request("GET", URL, (header,)))
    assert not raised.value.retryable
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("method", ["", "GET /other HTTP/1.1\r\n", "G T", "CONNECT", "connect"])
def test_method_that_cannot_be_sent_is_refused(method: str) -> None:
    with pytest.raises(InvalidRequest):
        outgoing(Request(method, URL))


def test_defaults_fill_in_what_the_caller_left_open() -> None:
    assert outgoing(Request("GET", URL)) == {
        b"Host": b"example.org:8080",
        b"Connection": b"close",
        b"User-Agent": f"whenthen/{VERSION}".encode(),
        b"Accept": b"*/*",
        b"Accept-Encoding": b"gzip",
    }


def test_caller_may_override_defaults_in_any_case() -> None:
    sent = outgoing(Request("GET", URL, (("user-agent", "mine"), ("ACCEPT", "text/html"))))
    assert sent[b"user-agent"] == b"mine"
    assert sent[b"ACCEPT"] == b"text/html"
    assert b"User-Agent" not in sent
    assert b"Accept" not in sent


def test_value_is_trimmed_and_sent_as_utf_8() -> None:
    assert outgoing(Request("GET", URL, (("X-A", " grün\t"),)))[b"X-A"] == "grün".encode()


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [
        ("GET", None, None),
        ("DELETE", None, None),
        ("POST", None, b"0"),
        ("POST", b"", b"0"),
        ("GET", b"four", b"4"),
    ],
)
def test_body_is_announced(method: str, body: bytes | None, length: bytes | None) -> None:
    assert outgoing(Request(method, URL, (), body)).get(b"Content-Length") == length


def test_answer_headers_are_folded() -> None:
    raw = [(b"X-A", b"1"), (b"x-a", b"2"), (b"Server", "grün".encode()), (b"Via", "grün".encode("latin-1"))]
    assert fold_headers(raw) == {"x-a": "1, 2", "server": "grün", "via": "grün"}


def test_user_agent_has_the_version_of_the_package() -> None:
    pyproject = Path(__file__).parents[3] / "pyproject.toml"
    assert tomllib.loads(pyproject.read_text())["project"]["version"] == VERSION


def test_repr_keeps_secrets_out_of_logs() -> None:
    request = Request("POST", "https://example.org/hook/hunter2", (("Authorization", "hunter2"),), b"hunter2")
    assert "hunter2" not in repr(request)
