"""Fields of the feed service."""

import pytest
from pydantic import ValidationError

from whenthen.services.feed.fields import FeedFields, MatchingFields


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://example.org/feed?a=1", "https://example.org/feed?a=1"),
        ("  http://example.org:8080/feed ", "http://example.org:8080/feed"),
        ("feed://example.org/x", "http://example.org/x"),
        ("feed:https://example.org/x", "https://example.org/x"),
        ("FEED:http://example.org/x", "http://example.org/x"),
        ("feed://https://example.org/x", "https://example.org/x"),
        ("https://example.org/feed#latest", "https://example.org/feed"),
        ("https://[2001:db8::1]/feed", "https://[2001:db8::1]/feed"),
    ],
)
def test_addresses_of_feeds(given: str, kept: str) -> None:
    fields = FeedFields.model_validate({"feed_url": given})
    assert fields.feed_url == kept
    assert fields.source() == kept
    assert (fields.identity, fields.interval_minutes) == ("auto", 5)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "example.org/feed",
        "ftp://example.org/feed",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "feed:",
        "feed:file:///etc/passwd",
        "https://ann:secret@example.org/feed",
        "https://example.org:99999/",
        "https://exa mple.org/",
        "https://[::1/",
        f"https://example.org/{'a' * 8192}",
    ],
)
def test_what_is_no_address_of_a_feed(given: str) -> None:
    with pytest.raises(ValidationError) as raised:
        FeedFields.model_validate({"feed_url": given})
    (error,) = raised.value.errors()
    assert error["loc"] == ("feed_url",)
    assert "secret" not in error["msg"]


@pytest.mark.parametrize(
    ("keyword", "words"),
    [
        ("", "at least 1 character"),
        ("  ", "at least 1 character"),
        ('""', "must hold a word"),
        ('"open', "must close each double quote"),
        ("OR", "must have a word on each side of OR"),
        ("harbour OR", "must have a word on each side of OR"),
        ("a " * 51, "must hold at most 50 words"),
        ("a" * 1025, "at most 1024 characters"),
    ],
)
def test_keywords_that_can_not_be_looked_for(keyword: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        MatchingFields.model_validate({"feed_url": "https://example.org/feed", "keyword": keyword})
