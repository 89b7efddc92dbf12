import pytest

from whenthen.net import Answer, InvalidUrl, Request
from whenthen.net.redirects import is_redirect, redirected

HEADERS = (
    ("Authorization", "Bearer secret"),
    ("Cookie", "a=b"),
    ("X-Api-Key", "secret"),
    ("Content-Type", "application/json"),
    ("Content-Language", "en"),
    ("Accept", "text/html"),
    ("accept-language", "en"),
    ("User-Agent", "mine"),
    ("Idempotency-Key", "1.0"),
)


def follow(method: str, status: int, location: str) -> Request:
    request = Request(method, "https://a.test/one", HEADERS, b"{}")
    return redirected(request, Answer(status, {"location": location}, b"", "https://a.test/one"))


@pytest.mark.parametrize(
    ("status", "method", "followed_by"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
        (301, "PUT", "PUT"),
        (302, "DELETE", "DELETE"),
        (303, "PUT", "GET"),
        (302, "GET", "GET"),
        (303, "HEAD", "HEAD"),
    ],
)
def test_method_and_body_follow_rfc_9110(status: int, method: str, followed_by: str) -> None:
    request = follow(method, status, "/two")
    assert (request.method, request.url) == (followed_by, "https://a.test/two")
    changed = method != followed_by
    assert request.body == (None if changed else b"{}")
    assert ("Content-Type" in dict(request.headers)) is not changed
    assert dict(request.headers)["Authorization"] == "Bearer secret"


@pytest.mark.parametrize("location", ["https://b.test/", "http://a.test/", "https://a.test:8443/", "//b.test"])
def test_another_origin_sees_no_credentials(location: str) -> None:
    names = [name for name, _ in follow("POST", 307, location).headers]
    assert names == ["Content-Type", "Accept", "accept-language", "User-Agent", "Idempotency-Key"]


def test_g02_bad_location_is_refused() -> None:
    with pytest.raises(InvalidUrl):
        follow("GET", 302, "file:///etc/passwd")


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (302, {"location": "/"}, True),
        (302, {}, False),
        (302, {"location": ""}, False),
        (201, {"location": "/"}, False),
        (300, {"location": "/"}, False),
        (304, {"location": "/"}, False),
    ],
)
def test_what_counts_as_a_redirect(status: int, headers: dict[str, str], expected: bool) -> None:
    assert is_redirect(Answer(status, headers, b"", "https://a.test/")) is expected
