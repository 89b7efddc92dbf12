"""What the Maker-compatible hooks make of a request's query and body."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.errors import FieldError
from whenthen.services.webhooks.triggers import (
    event_ingredients,
    json_event_ingredients,
    occurred_at_text,
    read_payload,
    read_values,
)

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


def values_of_json(text: str) -> dict[str, str]:
    return read_values([], JSON, text.encode())


def test_query_alone() -> None:
    query = [("value1", "a"), ("value2", ""), ("Value3", "no"), ("value4", "no"), ("key", "no")]
    assert read_values(query, "", b"") == {"value1": "a", "value2": ""}
    assert read_values([("value1", "a"), ("value1", "b")], "", b"") == {"value1": "b"}


@pytest.mark.parametrize("content_type", [FORM, "Application/X-WWW-Form-Urlencoded; charset=UTF-8", f" {FORM} "])
def test_form(content_type: str) -> None:
    body = b"value1=a+b%26&value2=&value3=%C3%BC&other=x&value1"
    assert read_values([("value3", "query")], content_type, body) == {"value1": "", "value2": "", "value3": "ü"}


@pytest.mark.parametrize("content_type", [JSON, "application/json; charset=utf-8", "APPLICATION/problem+JSON"])
def test_json(content_type: str) -> None:
    body = '{"value1": "ü\\n", "value2": null, "value4": 1}'.encode()
    query = [("value2", "query"), ("value3", "query")]
    assert read_values(query, content_type, body) == {"value1": "ü\n", "value2": "", "value3": "query"}


@pytest.mark.parametrize("content_type", ["text/plain", "", "multipart/form-data; boundary=x", "nonsense", "text/json"])
def test_other_types_are_ignored(content_type: str) -> None:
    assert read_values([("value1", "query")], content_type, b'{"value1": "body"}') == {"value1": "query"}
    assert read_values([], content_type, b"\xff\xfe") == {}


@pytest.mark.parametrize(
    ("written", "text"),
    [
        # D09: no digit is lost.
        ("9007199254740993", "9007199254740993"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1" + "0" * 6000, "1" + "0" * 6000),
        ("3.14159265358979323846264338327950288", "3.14159265358979323846264338327950288"),
        ("1.10", "1.10"),
        ("-0", "-0"),
        ("1E400", "1E400"),
        ("true", "true"),
        ("false", "false"),
        ("null", ""),
        ('""', ""),
        ('"  kept  "', "  kept  "),
        ('"\\u00fc\\ud83d\\udca5"', "ü💥"),
        ('"9007199254740993"', "9007199254740993"),
        ("[]", "[]"),
        ("{}", "{}"),
        (
            '{"b" : [1.10, {"id": 9007199254740993}, "x\\"y", null, true], "a": "ü"}',
            '{"b":[1.10,{"id":9007199254740993},"x\\"y",null,true],"a":"ü"}',
        ),
        ('{"1": "2", "n": "3"}', '{"1":"2","n":"3"}'),
    ],
)
def test_values_as_text(written: str, text: str) -> None:
    assert values_of_json(f'{{"value1": {written}}}') == {"value1": text}


@pytest.mark.parametrize("document", ["[1, 2]", '"value1"', "7", "null", "{}"])
def test_json_without_members(document: str) -> None:
    assert read_values([("value1", "query")], JSON, document.encode()) == {"value1": "query"}


def test_a_byte_order_mark_and_white_space() -> None:
    assert read_values([], JSON, b'\xef\xbb\xbf {"value1": 1}\n') == {"value1": "1"}
    assert read_values([("value1", "q")], JSON, b" \r\n\t") == {"value1": "q"}
    assert read_payload([], b'\xef\xbb\xbf{"a": 1}\n') == '{"a": 1}'


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"", b'{"value1": NaN}', b'{"value1": Infinity}', b'{"value1": -Infinity}', b"value1=x", b"{'value1': 1}",
        b'{"value1": 01}', b'{"value1": "\n"}', b"\xff", b'{"value1": "\xe4"}', b"\xff\xfe{\x00}\x00", b"[" * 200_000,
        b'{"value1": ' * 100_000, b'{"value1": 1} x', b"\xed\xa0\x80",
    ],
)  # fmt: skip
def test_what_is_not_json(body: bytes) -> None:
    for read in (lambda: read_values([], JSON, body), lambda: read_payload([], body)):
        if not body:
            assert read() in ({}, "{}")
            continue
        with pytest.raises(FieldError) as caught:
            read()
        assert caught.value.field == "body"
        assert len(str(caught.value)) < 300


def test_deep_nesting() -> None:
    text = "[" * 150 + "]" * 150
    assert values_of_json(f'{{"value1": {text}}}') == {"value1": text}
    deep = "[" * 50_000 + "]" * 50_000
    with pytest.raises(FieldError) as caught:
        values_of_json(f'{{"value1": {deep}}}')
    assert caught.value.field == "body"


def test_a_form_that_is_not_utf_8() -> None:
    with pytest.raises(FieldError, match="UTF-8"):
        read_values([], FORM, b"value1=\xe4")
    # An escaped byte is the sender's own text.
    assert read_values([], FORM, b"value1=%E4") == {"value1": "\ufffd"}


def test_json_sent_as_a_form() -> None:
    """D18: the declared type decides for the three values; the JSON form takes what is JSON."""
    body = b'{"value1": "a=b&value2=c"}'
    assert read_values([], FORM, body) == {"value2": 'c"}'}
    assert read_payload([], body) == body.decode()


def test_a_payload_is_kept_as_written() -> None:
    text = '{ "id": 9007199254740993,\n "a": [1.10, "\\u00fc", "ü"], "id": 1e5 }'
    assert read_payload([("a", "query")], f"\n {text}\t".encode()) == text
    for scalar in ("7", '"x"', "null", "[]", "1.50"):
        assert read_payload([], scalar.encode()) == scalar


def test_a_payload_without_a_body_is_the_query() -> None:
    assert json.loads(read_payload([("a", "1"), ("ü", '"'), ("a", "2")], b"")) == {"a": "2", "ü": '"'}
    assert read_payload([], b" ") == "{}"


@given(st.dictionaries(st.sampled_from(["value1", "value2", "value3", "x"]), st.text()))
def test_any_text_comes_through_json(values: dict[str, str]) -> None:
    known = {name: value for name, value in values.items() if name != "x"}
    assert values_of_json(json.dumps(values)) == known


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


@given(json_values.filter(lambda value: not isinstance(value, str) and value is not None))
def test_any_value_reads_back(value: object) -> None:
    text = values_of_json(json.dumps({"value1": value}))["value1"]
    assert json.loads(text) == value


@given(st.binary(max_size=200), st.sampled_from([JSON, FORM, "", "multipart/form-data"]))
def test_any_bytes_are_values_or_a_field_error(body: bytes, content_type: str) -> None:
    with suppress(FieldError):
        assert set(read_values([], content_type, body)) <= {"value1", "value2", "value3"}


def test_ingredients() -> None:
    when = datetime(2026, 11, 5, 0, 7, tzinfo=timezone(timedelta(hours=1)))
    assert occurred_at_text(when) == "November 04, 2026 at 11:07PM"
    assert occurred_at_text(datetime(2026, 1, 1, 12, 0, tzinfo=UTC)) == "January 01, 2026 at 12:00PM"
    assert event_ingredients("door", {"value2": "b"}, when) == {
        "EventName": "door",
        "Value1": "",
        "Value2": "b",
        "Value3": "",
        "OccurredAt": "November 04, 2026 at 11:07PM",
    }
    assert json_event_ingredients("door", "{}", when) == {
        "EventName": "door",
        "JsonPayload": "{}",
        "OccurredAt": "November 04, 2026 at 11:07PM",
    }
