"""How text is written where it lands."""

import json
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.model.encoding import Encoding, JsonScanner, Place, encode

# Text that UTF-8 can carry; what becomes of surrogates is tested with the templates.
texts = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        (Encoding.PLAIN, "light.bedroom_lamp #1 <b>", "light.bedroom_lamp #1 <b>"),
        (Encoding.HTML, """<a href="x">'&""", "&lt;a href=&quot;x&quot;&gt;&#x27;&amp;"),
        (Encoding.FORM, "a b&c=d/ü", "a+b%26c%3Dd%2F%C3%BC"),
        (Encoding.URL, "a b&c=d/ü~-._", "a%20b%26c%3Dd%2F%C3%BC~-._"),
        (Encoding.URL, "https://example.org/", "https%3A%2F%2Fexample.org%2F"),
        (Encoding.HEADER, "a\r\nSet-Cookie: x\0y\tz\x7f\x85", "a Set-Cookie: x y z "),
        (Encoding.HEADER, "café 日本", "café 日本"),
        (Encoding.ADDRESS, "ada.l+x@example.org", "ada.l+x@example.org"),
        (Encoding.ADDRESS, 'a@b.org, "X" <c@d.org>;\r\nBcc: (e)\\[f]', "a@b.org   X   c@d.org Bcc   e f "),
    ],
)
def test_text_is_written_for_its_document(encoding: Encoding, text: str, expected: str) -> None:
    assert encode(text, encoding) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ("HTTP://example.org/a b\r\n\tc", "HTTP://example.org/a%20b%0D%0A%09c"),
        (" https://example.org/\n", "https://example.org/"),
        ("javascript:alert(1)", "javascript%3Aalert%281%29"),
        ("//example.org", "%2F%2Fexample.org"),
    ],
)
def test_a_web_address_at_the_start_is_that_address(text: str, expected: str) -> None:
    assert encode(text, Encoding.URL, Place.START) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "null"),
        ("true", "true"),
        ("9007199254740993", "9007199254740993"),
        ("1" * 5000, "1" * 5000),
        ('{"b": [1, 2]}', '{"b": [1, 2]}'),
        ("NaN", '"NaN"'),
        ("[Infinity]", '"[Infinity]"'),
        ("007", '"007"'),
        ('1, "admin": true', r'"1, \"admin\": true"'),
        ("[" * 200_000, f'"{"[" * 200_000}"'),
    ],
)
def test_a_json_value_is_inserted_whole_or_quoted(text: str, expected: str) -> None:
    assert encode(text, Encoding.JSON, Place.JSON_VALUE) == expected


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ('{"a": "', '"}', Place.JSON_STRING),
        ('{"a": ', "}", Place.JSON_VALUE),
        ('{"a": "x" , ', " : 1}", Place.JSON_KEY),
        (r'{"a": "say \"', '"}', Place.JSON_STRING),
        (r'{"a": "back\\", "b": ', "}", Place.JSON_VALUE),
        ('{"a": "\\', '"}', Place.JSON_ESCAPE),
    ],
)
def test_the_place_in_json_is_known(before: str, after: str, place: Place) -> None:
    scanner = JsonScanner()
    scanner.feed(before)

    assert scanner.place(after) is place


@given(texts)
def test_no_text_breaks_out_of_its_place_in_json(text: str) -> None:
    string = encode(text, Encoding.JSON, Place.JSON_STRING)
    value = encode(text, Encoding.JSON, Place.JSON_VALUE)
    key = encode(text, Encoding.JSON, Place.JSON_KEY)

    document = json.loads(f'{{"string": "{string}", "list": [{value}], "object": {{{key}: 1}}}}')

    assert document["string"] == text
    assert len(document["list"]) == 1
    assert list(document["object"]) == [text]


@given(texts)
def test_a_url_and_a_form_give_the_text_back(text: str) -> None:
    url = f"https://example.org/{encode(text, Encoding.URL)}?q={encode(text, Encoding.URL)}&r=1"

    assert unquote(urlsplit(url).path) == f"/{text}"
    assert parse_qs(urlsplit(url).query, keep_blank_values=True) == {"q": [text], "r": ["1"]}
    assert parse_qs(f"q={encode(text, Encoding.FORM)}", keep_blank_values=True) == {"q": [text]}


@given(texts)
def test_a_header_is_one_line(text: str) -> None:
    assert len(f"x{encode(text, Encoding.HEADER)}x".splitlines()) == 1
