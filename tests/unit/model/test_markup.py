"""How text is written into messages whose markup is not HTML."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.model.encoding import Encoding, encode
from whenthen.model.markup import escape_github, escape_markdown, escape_mrkdwn, without_mentions

texts = st.text(st.sampled_from("ab1 \n@*_~`|<>[]()&#-=.:/\\!") | st.characters(exclude_categories=["Cs"]))
# Mastodon's account.rb, in Python's words.
MENTION = re.compile(r"(?<![=/\w])@((?:[a-z0-9_]+(?:[a-z0-9_.-]+[a-z0-9_]+)?)(?:@[\w.-]+\w+)?)", re.IGNORECASE)
# html-pipeline's mention filter, in Python's words.
GITHUB_MENTION = re.compile(r"(?:^|\W)@[a-z0-9]", re.IGNORECASE | re.ASCII | re.MULTILINE)


@pytest.mark.parametrize(
    ("encoding", "text", "written"),
    [
        (Encoding.SLACK, "<!channel> & <@U1> *b*", "&lt;!channel&gt; &amp; &lt;@U1&gt; *b*"),
        (Encoding.SLACK, "a &lt; b", "a &amp;lt; b"),
        (Encoding.MARKDOWN, "light.bedroom_lamp", r"light.bedroom\_lamp"),
        (Encoding.MARKDOWN, r"**b** `c` ~~d~~ ||e|| \n", r"\*\*b\*\* \`c\` \~\~d\~\~ \|\|e\|\| \\n"),
        (Encoding.MARKDOWN, "[bank](https://evil.example)", r"\[bank\](https://evil.example%29"),
        (Encoding.MARKDOWN, "<@123> <:e:1> <https://a.example>", r"\<@123\> \<:e:1\> \<https://a.example\>"),
        (Encoding.MARKDOWN, "&lt;", r"\&lt;"),
        (Encoding.MARKDOWN, "# h\n  - l\n> q\n1. n\n23) n", "\\# h\n  \\- l\n\\> q\n1\\. n\n23\\) n"),
        (Encoding.MARKDOWN, "===\nroom #1 - 2.5", "\\===\nroom #1 - 2.5"),
        (Encoding.MARKDOWN, "a\r# h\r - l", "a\r\\# h\r \\- l"),
        (Encoding.MARKDOWN, "https://a.example\r# h", "https://a.example\r\\# h"),
        (Encoding.MARKDOWN, "https://a.example/b_c_d?x=*1*&y", "https://a.example/b_c_d?x=%2A1%2A&y"),
        (Encoding.MARKDOWN, "see https://a.example/x\n- l", "see https://a.example/x\n\\- l"),
        (Encoding.MARKDOWN, "https://a.example/x - y", "https://a.example/x - y"),
        (Encoding.NO_MENTIONS, "@ada, (@ada@example.org) @", "@\u200bada, (@\u200bada@example.org) @\u200b"),
        (Encoding.NO_MENTIONS, "ada@example.org https://a.example/@ada", "ada@example.org https://a.example/@ada"),
        (Encoding.GITHUB, "@ada (@ada) ada@example.org", "@\u200bada (@\u200bada) ada@example.org"),
        (Encoding.GITHUB, "/@ada =@ada é@ada", "/@\u200bada =@\u200bada é@\u200bada"),
        (Encoding.GITHUB, "https://a.example/@ada xhttps://@ada", "https://a.example/%40ada xhttps://%40ada"),
    ],
)
def test_text_is_written_for_its_target(encoding: Encoding, text: str, written: str) -> None:
    assert encode(text, encoding) == written


@given(texts)
def test_slack_shows_the_text_and_finds_no_link_in_it(text: str) -> None:
    written = escape_mrkdwn(text)
    assert not set("<>") & set(written)
    assert written.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == text


@given(texts.filter(lambda text: "http" not in text.lower()))
def test_markdown_without_its_backslashes_is_the_text(text: str) -> None:
    """CommonMark 2.4: a backslash before ASCII punctuation is not shown."""
    written = escape_markdown(text)
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written) == text
    # Nothing that could begin markup is left without a backslash.
    assert not set(re.sub(r"\\.", "", written, flags=re.DOTALL)) & set("*_`~|<>[]&")


@given(texts)
def test_nobody_is_mentioned_at_github(text: str) -> None:
    assert not GITHUB_MENTION.search(escape_github("é" + text + "a"))


@given(texts, texts)
def test_nobody_is_mentioned(one: str, other: str) -> None:
    written = without_mentions(one) + without_mentions(other)
    assert not MENTION.search(written)
    assert written.replace("\u200b", "") == (one + other).replace("\u200b", "")
