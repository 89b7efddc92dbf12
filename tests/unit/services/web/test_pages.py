"""The text of a web page: what a reader sees of it, and when that has changed."""

import json

import pytest

from tests.support.checking import NOW, Checks
from tests.support.sink import Sink
from tests.unit.services.web.sources import page_checks, show
from whenthen.services.checking import CheckFailed, Item
from whenthen.services.isolation import apart
from whenthen.services.isolation.errors import TOO_HARD

HTML = ("Content-Type", "text/html; charset=utf-8")


def changes(sink: Sink, checks: Checks, body: str | bytes) -> tuple[Item, ...]:
    show(sink, body, HTML)
    return checks.check().items


def text_of(sink: Sink, body: str | bytes, selector: str = "", *headers: tuple[str, str]) -> str:
    """The text that a check keeps of a page."""
    checks = page_checks(sink, selector)
    show(sink, body, *(headers or (HTML,)))
    checks.check()
    assert checks.position is not None
    return str(checks.position["text"])


def test_a_change_fires_with_what_is_new(sink: Sink) -> None:
    checks = page_checks(sink)
    assert changes(sink, checks, "<title>News</title><p>Old <b>news</b><p>Same") == ()
    (item,) = changes(sink, checks, "<title>News</title><p>Fresh news<p>Same")
    assert item.ingredients == {
        "NewText": "News\nFresh news\nSame",
        "OldText": "News\nOld news\nSame",
        "AddedText": "Fresh news",
        "Url": f"{sink.url}/doc",
        "CheckTime": "September 21, 2026 at 02:13PM",
    }
    assert item.occurred_at == NOW


def test_there_and_back_again_is_an_event_each_time_and_found_twice_one(sink: Sink) -> None:
    checks = page_checks(sink)
    changes(sink, checks, "<p>a")
    position = checks.position
    uniques = [item.unique for text in "baba" for item in changes(sink, checks, f"<p>{text}")]
    assert len(set(uniques)) == 4
    checks.position = json.loads(json.dumps(position))
    assert [item.unique for item in changes(sink, checks, "<p>b</p>")] == uniques[:1]


@pytest.mark.parametrize(
    "other",
    [
        "<p class=x>Hello <b>big</b> world</p>",
        "<div>Hello\n\t big</div>\n\n<div>world</div>",
        "<p>Hello&#32;&nbsp;big<br>world",
        "<script>var a = '<p>no</p>'</script><style>p{}</style><p>Hello big world<!-- no -->",
        "<noscript>no</noscript><template><p>no</template><p>Hello big world<iframe>no</iframe>",
        "<p>Hello <i hidden>big</i> world</P></em></div>",
        "<?php no ?><!doctype html><![CDATA[no]]><p>Hello big world",
    ],
)
def test_markup_and_what_nobody_sees_is_no_change(sink: Sink, other: str) -> None:
    checks = page_checks(sink)
    changes(sink, checks, "<p>Hello big world</p>")
    assert changes(sink, checks, other) == ()
    assert len(changes(sink, checks, "<p>Hello bigger world</p>")) == 1


def test_blocks_are_lines_and_what_is_inline_is_not(sink: Sink) -> None:
    page = "<h1>A<b>b</b>c</h1>text<ul><li>one<li>t<i>w</i>o</ul><table><tr><td>x<td>y</table><pre>p1\np2</pre>"
    assert text_of(sink, page) == "Abc\ntext\none\ntwo\nx\ny\np1\np2"


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ("#price", "12,50 €"),
        ("main > ul li:nth-child(2)", "two"),
        ("li", "one\ntwo\nthree"),
        ("ul, li:first-child", "one\ntwo\nthree"),
        ("[data-x='1']", "three"),
        ("h2 ~ p", "last"),
        ("main :is(h2, p)", "12,50 €\nTitle\nlast"),
    ],
)
def test_selectors(sink: Sink, selector: str, text: str) -> None:
    page = (
        "<title>t</title><main><p id=price>12,50&nbsp;&euro;</p><ul><li>one</li><li>two</li>"
        "<li data-x=1>three</li></ul><h2>Title</h2><p>last</p></main><template>no</template>"
    )
    assert text_of(sink, page, selector) == text


def test_only_the_part_that_is_watched_counts(sink: Sink) -> None:
    checks = page_checks(sink, "#a")
    changes(sink, checks, "<p id=a>1</p><p>1</p>")
    assert changes(sink, checks, "<p id=a>1</p><p>2</p>") == ()
    assert len(changes(sink, checks, "<p id=a>2</p><p>2</p>")) == 1


def test_a_part_that_is_empty_may_be_filled_later(sink: Sink) -> None:
    checks = page_checks(sink, "#alert")
    changes(sink, checks, "<p id=alert></p>")
    (item,) = changes(sink, checks, "<p id=alert>Storm</p>")
    assert (item.ingredients["OldText"], item.ingredients["NewText"]) == ("", "Storm")
    assert item.ingredients["AddedText"] == "Storm"


def test_a_part_that_is_not_there_is_a_failure_and_forgets_nothing(sink: Sink) -> None:
    checks = page_checks(sink, "#a")
    with pytest.raises(CheckFailed) as raised:
        changes(sink, checks, "<p>no</p>")
    assert raised.value.field == "selector"
    changes(sink, checks, "<p id=a>1</p>")
    with pytest.raises(CheckFailed):
        changes(sink, checks, "<p>no</p>")
    assert changes(sink, checks, "<p id=a>1</p>") == ()
    assert len(changes(sink, checks, "<p id=a>2</p>")) == 1


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("Grüße €".encode(), "text/html; charset=utf-8"),
        ("\ufeffGrüße €".encode(), "text/html; charset=iso-8859-1"),
        ("Grüße €".encode("cp1252"), "text/html; charset=ISO-8859-1"),
        ("<meta charset=windows-1252>Grüße €".encode("cp1252"), "text/html"),
        ("<meta http-equiv=content-type content='text/html; charset=cp1252'>Grüße €".encode("cp1252"), ""),
        ("<meta charset=utf-16>Grüße €".encode(), "text/html"),
        ("Grüße €".encode("cp1252"), "text/html; charset=punycode"),
        ("Grüße €".encode(), "text/html; charset=klingon"),
        ("Grüße €".encode("utf-16"), "text/html"),
        ("Grüße €".encode(), "application/xhtml+xml"),
        ("Grüße €".encode(), "text/plain"),
    ],
)
def test_encodings(sink: Sink, body: bytes, content_type: str) -> None:
    assert text_of(sink, body, "", ("Content-Type", content_type)) == "Grüße €"


def test_plain_text_is_not_markup(sink: Sink) -> None:
    assert text_of(sink, "a <b> c\nd  e", "", ("Content-Type", "text/plain")) == "a <b> c\nd e"


@pytest.mark.parametrize(
    ("body", "content_type", "said"),
    [
        (b"\x89PNG", "image/png", "image/png"),
        (b"{}", "application/json", "application/json"),
        (b"GIF89a\x00\x00\x01", "", "binary"),
        (b"", "text/html", "no text"),
        (b"<body><script>render()</script><div id=root></div>", "text/html", "script"),
        (b"<![x[" * 1000, "text/html", "can be read"),
    ],
)
def test_what_is_no_page_is_told(sink: Sink, body: bytes, content_type: str, said: str) -> None:
    with pytest.raises(CheckFailed) as raised:
        text_of(sink, body, "", ("Content-Type", content_type))
    assert said in str(raised.value)
    assert raised.value.field == "url"


def test_long_texts_are_cut_but_compared_whole(sink: Sink) -> None:
    checks = page_checks(sink)
    lines = [f"<p>Zeile {number} äöü" for number in range(3000)]
    changes(sink, checks, "".join(lines))
    (item,) = changes(sink, checks, "".join([*lines, "<p>more"]))
    assert len(item.ingredients["NewText"]) == 16 * 1024
    assert len(item.ingredients["OldText"].encode()) <= 4 * 1024 + 3
    assert item.ingredients["AddedText"] == "", "more lines than are remembered"
    assert len(json.dumps(checks.position, ensure_ascii=False).encode()) < 12 * 1024


@pytest.mark.parametrize("piece", ["<!--", "<a ", '<a x="', "</"])
def test_what_would_take_hours_is_given_up(sink: Sink, piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "CPU_SECONDS", 1)
    with pytest.raises(CheckFailed) as raised:
        text_of(sink, piece * 500_000)
    assert (str(raised.value), raised.value.field) == (TOO_HARD, "url")


def test_nested_deeply(sink: Sink) -> None:
    assert text_of(sink, "<div>" * 90_000 + "deep") == "deep"
    assert text_of(sink, "<div>" * 40_000 + "<b>deep", "div div div b") == "deep"
