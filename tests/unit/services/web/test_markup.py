"""HTML in one pass: as the HTML Standard reads it, whatever it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.services.web.markup import End, Start, TooManyParts, tokens


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("a<b>c</b>", ["a", Start("b", {}), "c", End("b")]),
        ("<A HREF=x Href=y>", [Start("a", {"href": "x"})]),
        ("<a b='1>2' c=\"'\" d = e f g=>", [Start("a", {"b": "1>2", "c": "'", "d": "e", "f": "", "g": ""})]),
        ("<br/><img src=a/>", [Start("br", {}), Start("img", {"src": "a/"})]),
        ("<a =b=c>", [Start("a", {"=b": "c"})]),
        ("<a&amp;b title='&lt;&amp;'>&gt;&unknown;&", [Start("a&amp;b", {"title": "<&"}), ">&unknown;&"]),
        ("1 < 2 <3 <> < a", ["1 < 2 <3 <> < a"]),
        ("a<!-- x > -- -->b<!-->c<!--->d", ["a", "b", "c", "d"]),
        ("a<!doctype html>b<?xml ?>c<![CDATA[x]]>d</>e</ x>f", list("abcdef")),
        ("<script>a<b></script >c", [Start("script", {}), "a<b>", End("script"), "c"]),
        ("<title>a&amp;<b></TITLE>", [Start("title", {}), "a&<b>", End("title")]),
        ("<style></styles></style>", [Start("style", {}), "</styles>", End("style")]),
        ("<textarea>a", [Start("textarea", {}), "a"]),
        ("a<b", ["a"]),
        ("a<b c='", ["a"]),
        ("a</b", ["a"]),
        ("a<!--b", ["a"]),
        ("</b c='>'>d", [End("b"), "d"]),
    ],
)
def test_tokens(markup: str, expected: list[object]) -> None:
    assert list(tokens(markup)) == expected


@pytest.mark.parametrize(
    "piece",
    ["<!--", "<![CDATA[", "</a", "<a ", '<a x="', "<a x='y", "<a/", "<a x=", "<?", "</", "<", "&", "<a x=y", "<!x["],
)
def test_what_never_ends_takes_no_longer_than_it_is_long(piece: str) -> None:
    """A reader that goes back for each of them would take hours for this."""
    try:
        for _ in tokens(piece * 500_000):
            pass
    except TooManyParts:
        pass


MARKUP = st.text(st.sampled_from("<>/!?-='\"& abscriptyle\n"), max_size=60)


@given(MARKUP)
def test_any_markup_is_read(markup: str) -> None:
    found = list(tokens(markup))
    assert all(token for token in found if isinstance(token, str))
    names = [token.name for token in found if not isinstance(token, str)]
    assert all(name[0].isalpha() and name == name.lower() for name in names)


@given(MARKUP)
def test_text_without_tags_stays(markup: str) -> None:
    text = markup.replace("<", "").replace("&", "")
    assert "".join(token for token in tokens(text) if isinstance(token, str)) == text
