"""The web request that rendered fields describe."""

from typing import Any

import pytest
from pydantic import ValidationError

from whenthen.errors import FieldError
from whenthen.model.encoding import Encoding
from whenthen.services.notifications.actions import send_notification
from whenthen.services.notifications.fields import SendNotificationFields
from whenthen.services.webhooks.actions import make_web_request
from whenthen.services.webhooks.fields import EventFields, MakeWebRequestFields, parse_headers
from whenthen.services.work import Send, Task

URL = "https://example.org/in"


def send(**fields: Any) -> Send:
    return make_web_request(Task(MakeWebRequestFields(**{"url": URL, **fields}), "key-1"))


def headers(work: Send) -> dict[str, str]:
    names = [name.lower() for name, _ in work.request.headers]
    assert len(names) == len(set(names))
    return {name.lower(): value for name, value in work.request.headers}


def test_the_least() -> None:
    work = send()
    assert (work.request.method, work.request.url, work.request.body) == ("GET", URL, None)
    assert headers(work) == {"idempotency-key": "key-1"}


@pytest.mark.parametrize(
    ("content_type", "sent"),
    [
        ("application/json", "application/json"),
        ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded"),
        ("text/plain", "text/plain; charset=utf-8"),
        ("text/html", "text/html; charset=utf-8"),
        ("text/xml", "text/xml; charset=utf-8"),
        ("application/xml", "application/xml"),
    ],
)
def test_a_body_and_its_type(content_type: str, sent: str) -> None:
    work = send(method="POST", content_type=content_type, body="ü\n")
    assert work.request.body == b"\xc3\xbc\n"
    assert headers(work)["content-type"] == sent


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH"])
def test_what_may_be_repeated(method: str) -> None:
    """RFC 9110, 9.2.2; and what the owner says."""
    assert send(method=method).repeatable is (method not in ("POST", "PATCH"))
    assert send(method=method, repeatable=True).repeatable is True


def test_headers_are_lines() -> None:
    text = "X-One: 1\n\n  X-Two :  a: b \r\nAuthorization: Bearer x\nX-Empty:"
    assert parse_headers(text) == (("X-One", "1"), ("X-Two", "a: b"), ("Authorization", "Bearer x"), ("X-Empty", ""))
    assert headers(send(additional_headers=text))["authorization"] == "Bearer x"


@pytest.mark.parametrize(
    "line",
    [
        "Host: x", "content-LENGTH: 1", "Transfer-Encoding: chunked", "Connection: x", "Content-Type: x", "TE: x",
        "Idempotency-Key: mine", "Upgrade: x", "no colon", ": x", "Ünicode: x", "A B: x", "X\x00: y", "X\t: y: {",
    ],
)  # fmt: skip
def test_headers_that_can_not_be_given(line: str) -> None:
    if line.startswith("X\t"):
        assert parse_headers(line) == (("X", "y: {"),)
        return
    with pytest.raises(ValidationError, match=r"is set by whenthen|is not a header|NUL"):
        send(additional_headers=f"X-Good: 1\n{line}")


def test_what_a_template_made_is_checked_when_it_is_known() -> None:
    fields = MakeWebRequestFields(url="{{Value1}}", additional_headers="Host: {{Value1}}")
    with pytest.raises(FieldError) as caught:
        make_web_request(Task(fields, "k"))
    assert caught.value.field == "additional_headers"


@pytest.mark.parametrize(
    "url",
    ["", " ", "example.org", "ftp://example.org", "//example.org", "http://", "https://u@example.org", "http:///x"],
)
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(ValidationError) as caught:
        send(url=url)
    assert caught.value.errors()[0]["loc"] == ("url",)


@pytest.mark.parametrize("url", ["http://[::1", "https://[x]/"])
def test_urls_that_can_not_be_read(url: str) -> None:
    with pytest.raises(ValidationError) as caught:
        send(url=url)
    assert caught.value.errors()[0]["loc"] == ("url",)


def test_encodings() -> None:
    by_type = {"application/json": Encoding.JSON, "text/plain": Encoding.PLAIN, "text/html": Encoding.HTML}
    for content_type, encoding in by_type.items():
        fields = MakeWebRequestFields.model_validate({"url": URL, "content_type": content_type})
        assert fields.encodings()["body"] is encoding
    assert fields.encodings()["url"] is Encoding.URL
    assert fields.encodings()["additional_headers"] is Encoding.HEADER


@pytest.mark.parametrize("name", ["door", "front door", "Tür", "日本", "a.b-c_d", "%", "?", "x" * 128])
def test_event_names(name: str) -> None:
    assert EventFields(event=name).event == name


@pytest.mark.parametrize("name", ["", "a/b", "a\nb", "a\x00", "a\x7f", "x" * 129, "a\u2028b"])
def test_event_names_that_are_none(name: str) -> None:
    with pytest.raises(ValidationError):
        EventFields(event=name)


@pytest.mark.parametrize("link", ["javascript:alert(1)", "ftp://x", "/x", "x"])
def test_a_notification_links_to_the_web(link: str) -> None:
    with pytest.raises(ValidationError, match="must begin with http"):
        SendNotificationFields(message="m", link=link)
    # Text from outside that looks like a template is not excused.
    with pytest.raises(FieldError, match="must begin with http"):
        send_notification(Task(SendNotificationFields(message="m", link=link + "{{"), "k"))


def test_a_notification() -> None:
    work = send_notification(Task(SendNotificationFields(message="m", title="t", link="HTTPS://example.org"), "k"))
    assert (work.title, work.body, work.link) == ("t", "m", "HTTPS://example.org")
