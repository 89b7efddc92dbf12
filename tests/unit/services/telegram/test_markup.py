"""Texts as HTML that Telegram takes."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.services.telegram.stand_in import seen
from whenthen.services.telegram.markup import fitted_html

pieces = st.sampled_from(
    [
        "<b>", "</b>", "<i >", "</i>", '<a href="https://e.org/?a=1&amp;b">', "</a>", "<", ">", "&", "&lt;", "&amp;lt;",
        "<p>", "</p>", "<br>", "<!--", "-->", "<script>", "<code class=\"language-py\">", "</code>", "<a>", "<span>",
        "<span class=\"tg-spoiler\">", "</span>", "text ", "💥", "\n", "</", "<b", "&#60;", "</B>",
        "<blockquote expandable>", "</blockquote>",
    ]
)  # fmt: skip
texts = st.lists(pieces, max_size=20).map("".join) | st.text(st.characters(exclude_categories=["Cs", "Cc"]))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a <b>b</b> c", "a <b>b</b> c"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("<b>a <i>b</b> c", "<b>a <i>b</i></b> c"),
        ("a</b> <b>c", "a <b>c</b>"),
        ("one<br/>two<BR>three", "one\ntwo\nthree"),
        ("<p>a</p>", "&lt;p&gt;a&lt;/p&gt;"),
        ('<a href="https://e.org/?a=1&amp;b=2">x</a>', '<a href="https://e.org/?a=1&amp;b=2">x</a>'),
        ("<a>x</a>", "&lt;a&gt;x"),
        ('<span class="other">x', '&lt;span class="other"&gt;x'),
        ("a&nbsp;b &copy; &lt;b&gt;", "a\xa0b © &lt;b&gt;"),
    ],
)
def test_what_is_sent(text: str, written: str) -> None:
    assert fitted_html(text, 100) == written


@pytest.mark.parametrize(
    ("text", "limit", "written"),
    [
        ("<b>abcdef</b>", 6, "<b>abcdef</b>"),
        ("<b>abcdefg</b>", 6, "<b>abcde…</b>"),
        ("abcdef<b>g</b>", 6, "abcde…"),
        ("abcde<b>fg</b>", 6, "abcde<b>…</b>"),
        ("&lt;&lt;&lt;", 3, "&lt;&lt;&lt;"),
        ("&lt;&lt;&lt;&lt;", 3, "&lt;&lt;…"),
        ("💥💥💥", 5, "💥💥…"),
    ],
)
def test_what_is_left_of_a_long_text(text: str, limit: int, written: str) -> None:
    assert fitted_html(text, limit) == written


@given(texts, st.integers(1, 60))
def test_telegram_can_read_it_and_it_is_no_longer_than_it_may_be(text: str, limit: int) -> None:
    assert len(seen(fitted_html(text, limit), "HTML").encode("utf-16-le")) // 2 <= limit


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=50))
def test_an_ingredient_is_seen_as_it_is(text: str) -> None:
    assert seen(fitted_html(f"<b>{html.escape(text)}</b>", 100), "HTML") == text
