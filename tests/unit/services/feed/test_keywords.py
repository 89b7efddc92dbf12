"""Which texts hold which keywords."""

import pytest

from whenthen.services.feed.keywords import parse_keywords, plain_text


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ("harbour", "The HARBOUR, at night"),
        ("Harbour night", "night falls on the harbour"),
        ('"at night"', "The harbour at\n  Night"),
        ("ship OR harbour", "the harbour"),
        ('ship OR "the harbour" open', "open is the harbour"),
        ("or", "this or that"),
        ("STRASSE", "Straße"),
        ("café", "CAFE\u0301"),
        ("C++", "C++ and C"),
        (".net", "the .NET world"),
        ("東京", "今日の東京は"),
        ("부산", "부산에서"),
        ('"harbour"', "(harbour)"),
    ],
)
def test_found(keywords: str, text: str) -> None:
    assert parse_keywords(keywords)(text)


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ("cat", "education"),
        ("harbour night", "the harbour by day"),
        ('"at night"', "night at the harbour"),
        ("ship OR boat", "the harbour"),
        ("ship boat OR harbour night", "the ship in the harbour"),
        ("C++", "C and more"),
        ("東京", "京東"),
        ("a.c", "abc"),
    ],
)
def test_not_found(keywords: str, text: str) -> None:
    assert not parse_keywords(keywords)(text)


def test_words_of_html() -> None:
    assert plain_text("<p>un<b>believ</b>able</p><p>Tom &amp; <a href='x'>Jerry</a></p>").split() == [
        "unbelievable",
        "Tom",
        "&",
        "Jerry",
    ]
