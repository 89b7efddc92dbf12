"""A value in a JSON document: when it has changed."""

import json

import pytest

from tests.support.checking import NOW, Checks
from tests.support.sink import Reply, Sink
from tests.unit.services.web.sources import json_checks, show
from whenthen.services.checking import CheckFailed, Item


def changes(sink: Sink, checks: Checks, body: str | bytes, now: int = NOW) -> tuple[Item, ...]:
    show(sink, body)
    return checks.check(now).items


def test_the_first_check_records_and_a_change_fires(sink: Sink) -> None:
    checks = json_checks(sink, "main.temp")
    assert changes(sink, checks, '{"main": {"temp": 20.50}}') == ()
    (item,) = changes(sink, checks, '{"main": {"temp": 21}}')
    assert item.ingredients == {
        "Value": "21",
        "PreviousValue": "20.50",
        "Url": f"{sink.url}/doc",
        "CheckTime": "September 21, 2026 at 02:13PM",
    }
    assert item.occurred_at == NOW
    assert changes(sink, checks, '{"main": {"temp": 21}, "now": 1}') == ()


def test_there_and_back_again_is_an_event_each_time(sink: Sink) -> None:
    checks = json_checks(sink)
    changes(sink, checks, '{"a": 1}')
    uniques = [item.unique for number in (2, 1, 2, 1) for item in changes(sink, checks, json.dumps({"a": number}))]
    assert len(set(uniques)) == 4


def test_a_change_that_is_found_twice_is_one(sink: Sink) -> None:
    """Given a check whose outcome got lost, then the next from the same position finds the same event."""
    checks = json_checks(sink)
    changes(sink, checks, '{"a": 1}')
    position = checks.position
    (item,) = changes(sink, checks, '{"a": 2}')
    again = json_checks(sink)
    again.position = json.loads(json.dumps(position))
    (same,) = changes(sink, again, '{"a": 2, "b": 1}', NOW + 60_000)
    assert same.unique == item.unique


def test_whoever_begins_anew_gets_events_of_their_own(sink: Sink) -> None:
    """Event ids are remembered for ever: the same change after turning off and on again has another one."""
    uniques = set()
    for start in (NOW, NOW + 1):
        checks = json_checks(sink)
        changes(sink, checks, '{"a": 1}', start)
        uniques |= {item.unique for item in changes(sink, checks, '{"a": 2}', start + 1)}
    assert len(uniques) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("21", "21.0"),
        ("21", "2.1e1"),
        ("0", "-0.0"),
        ('{"x": 1, "y": [2.50]}', '{"y": [2.5], "x": 1.0}'),
        ('"\\u00e4"', '"ä"'),
    ],
)
def test_spellings_of_one_value_are_no_change(sink: Sink, before: str, after: str) -> None:
    checks = json_checks(sink)
    changes(sink, checks, f'{{"a": {before}}}')
    assert changes(sink, checks, f'{{"a": {after}}}') == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("9007199254740992", "9007199254740993"),
        ("0.1", "0.10000000000000000001"),
        ("1", '"1"'),
        ("true", "1"),
        ("[1, 2]", "[2, 1]"),
        ("false", '""'),
    ],
)
def test_values_that_differ_at_all_are_a_change(sink: Sink, before: str, after: str) -> None:
    checks = json_checks(sink)
    changes(sink, checks, f'{{"a": {before}}}')
    assert len(changes(sink, checks, f'{{"a": {after}}}')) == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("12345678901234567890", "12345678901234567890"),
        ("0.10", "0.10"),
        ("1e3", "1000"),
        ("0.00000001", "0.00000001"),
        ('"text"', "text"),
        ("true", "true"),
        ('{"b": [1.50, null, "ü"]}', '{"b":[1.50,null,"ü"]}'),
        ('"\\ud800"', "\ufffd"),
    ],
)
def test_values_are_written_as_they_came(sink: Sink, value: str, text: str) -> None:
    checks = json_checks(sink)
    changes(sink, checks, '{"a": "before"}')
    (item,) = changes(sink, checks, f'{{"a": {value}}}')
    assert item.ingredients["Value"] == text
    (item,) = changes(sink, checks, '{"a": "after"}')
    assert item.ingredients["PreviousValue"] == text


def test_nothing_found_is_told_and_no_change(sink: Sink) -> None:
    checks = json_checks(sink)
    changes(sink, checks, '{"a": 1}')
    show(sink, '{"error": "try later"}')
    found = checks.check()
    assert (found.items, found.note) == ((), "The expression finds nothing now.")
    assert checks.check().note == found.note
    assert changes(sink, checks, '{"a": 1}') == ()
    assert len(changes(sink, checks, '{"a": 2}')) == 1


def test_a_value_that_comes_into_being_is_a_change(sink: Sink) -> None:
    checks = json_checks(sink, "alerts[0].title")
    assert changes(sink, checks, '{"alerts": []}') == ()
    (item,) = changes(sink, checks, '{"alerts": [{"title": "Storm"}]}')
    assert (item.ingredients["Value"], item.ingredients["PreviousValue"]) == ("Storm", "")


def test_long_values_are_cut_but_compared_whole(sink: Sink) -> None:
    checks = json_checks(sink)
    changes(sink, checks, json.dumps({"a": "ä" * 100_000 + "1"}))
    (item,) = changes(sink, checks, json.dumps({"a": "ä" * 100_000 + "2"}))
    assert len(item.ingredients["Value"]) == 16 * 1024
    assert item.ingredients["PreviousValue"] == "ä" * 2048 + "…"
    assert len(json.dumps(checks.position, ensure_ascii=False).encode()) < 8 * 1024


def test_what_has_not_changed_is_not_read_or_written_again(sink: Sink) -> None:
    checks = json_checks(sink)
    modified = ("Last-Modified", "Mon, 21 Sep 2026 10:00:00 GMT")
    show(sink, '{"a": 1}', ("ETag", '"1"'), modified)
    checks.check()
    first = checks.position
    sink.reply("/doc", [Reply(status=304)])
    assert checks.check().items == ()
    assert sink.requests[-1].headers["if-none-match"] == '"1"'
    assert sink.requests[-1].headers["if-modified-since"] == modified[1]
    assert checks.position == first
    # Other bytes, other validators, the same value: the validators are kept, both of them.
    show(sink, '{"a": 1, "b": 2}', ("ETag", '"2"'))
    assert checks.check().items == ()
    assert checks.position != first
    checks.check()
    assert "if-modified-since" not in sink.requests[-1].headers
    assert sink.requests[-1].headers["if-none-match"] == '"2"'


def test_a_document_that_changes_around_the_value_writes_nothing(sink: Sink) -> None:
    checks = json_checks(sink)
    changes(sink, checks, '{"a": 1, "now": 1}')
    first = checks.position
    assert changes(sink, checks, '{"a": 1, "now": 2}') == ()
    assert checks.position == first


def test_one_request_a_check(sink: Sink) -> None:
    checks = json_checks(sink)
    changes(sink, checks, '{"a": 1}')
    assert [(request.method, request.headers["accept"]) for request in sink.requests] == [
        ("GET", "application/json, */*;q=0.8")
    ]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("\ufeff{}", "{}"),
        ('{"a": "ü"}'.encode("utf-16"), '{"a":"ü"}'),
        ('{"a": 1, "a": 2}', '{"a":2}'),
    ],
)
def test_documents_that_are_odd(sink: Sink, body: str | bytes, text: str) -> None:
    checks = json_checks(sink, "@")
    changes(sink, checks, "[]")
    (item,) = changes(sink, checks, body)
    assert item.ingredients["Value"] == text


def test_an_encoding_that_the_header_names(sink: Sink) -> None:
    checks = json_checks(sink)
    show(sink, '{"a": "ü"}'.encode("latin-1"), ("Content-Type", "application/json; charset=ISO-8859-1"))
    checks.check()
    (item,) = changes(sink, checks, '{"a": 1}')
    assert item.ingredients["PreviousValue"] == "ü"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "empty"),
        (b"   ", "empty"),
        (b"<!doctype html><title>Log in</title>", "web page"),
        (b"\xef\xbb\xbf\n<html>", "web page"),
        (b'{"a": 1', "line 1, column"),
        (b"{'a': 1}", "line 1, column 2"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "number"),
        (b'{"a": "\xfc"}', "UTF-8"),
        (b'{"a": 1e999999999}', "too much"),
        (b'{"a": ' + b"1" * 5000 + b"}", "too long"),
        (b"[" * 1_000_000, "too deeply"),
    ],
)
def test_what_is_not_json_is_told(sink: Sink, body: bytes, said: str) -> None:
    with pytest.raises(CheckFailed) as raised:
        changes(sink, json_checks(sink), body)
    assert said in str(raised.value)
    assert raised.value.field == "url"


@pytest.mark.parametrize("charset", ["punycode", "rot13", "hex", "klingon"])
def test_encodings_that_are_none(sink: Sink, charset: str) -> None:
    show(sink, b'{"a": "\xfc"}', ("Content-Type", f"application/json; charset={charset}"))
    with pytest.raises(CheckFailed, match="UTF-8"):
        json_checks(sink).check()


def test_an_expression_that_does_not_fit_is_told_at_its_field(sink: Sink) -> None:
    with pytest.raises(CheckFailed) as raised:
        changes(sink, json_checks(sink, "length(a)"), '{"a": 1}')
    assert raised.value.field == "expression"
    assert "length() takes string or array or object, not number" in str(raised.value)


def test_a_failure_forgets_nothing(sink: Sink) -> None:
    checks = json_checks(sink)
    changes(sink, checks, '{"a": 1}')
    for bad in ({"status": 500}, {"close": True}):
        show(sink, "", **bad)
        with pytest.raises(CheckFailed):
            checks.check()
    (item,) = changes(sink, checks, '{"a": 2}')
    assert item.ingredients["PreviousValue"] == "1"


def test_any_value_is_written_and_compared(sink: Sink) -> None:
    checks = json_checks(sink, "@")
    changes(sink, checks, "[" * 99 + "1" + "]" * 99)
    (item,) = changes(sink, checks, "[" * 99 + "2" + "]" * 99)
    assert item.ingredients["Value"].startswith("[[[[")
    with pytest.raises(CheckFailed, match="too deeply"):
        changes(sink, checks, "[" * 2000 + "]" * 2000)
