"""A value in a JSON document: when it begins to meet a condition."""

import json

import pytest

from tests.support.checking import NOW, Checks
from tests.support.sink import Sink
from tests.unit.services.web.sources import condition_checks, show
from whenthen.services.checking import Item


def values(sink: Sink, checks: Checks, value: str, now: int = NOW) -> tuple[Item, ...]:
    show(sink, f'{{"a": {value}}}')
    return checks.check(now).items


def test_it_fires_at_the_edge_and_not_while_it_lasts(sink: Sink) -> None:
    checks = condition_checks(sink, "greater_than", "20")
    fired = [len(values(sink, checks, value)) for value in ("19", "20", "20.01", "25", "20", "21")]
    assert fired == [0, 0, 1, 0, 0, 1]


def test_a_condition_that_holds_from_the_beginning_does_not_fire(sink: Sink) -> None:
    checks = condition_checks(sink, "less_than", "0")
    assert values(sink, checks, "-1") == ()
    assert values(sink, checks, "-2") == ()
    assert values(sink, checks, "1") == ()
    (item,) = values(sink, checks, "-0.5")
    assert item.ingredients == {
        "Value": "-0.5",
        "Url": f"{sink.url}/doc",
        "CheckTime": "September 21, 2026 at 02:13PM",
    }


def test_each_edge_is_an_event_and_found_twice_it_is_one(sink: Sink) -> None:
    checks = condition_checks(sink, "equals", "on")
    values(sink, checks, '"off"')
    position = checks.position
    (first,) = values(sink, checks, '"on"')
    values(sink, checks, '"off"')
    (second,) = values(sink, checks, '"on"')
    assert first.unique != second.unique
    checks.position = json.loads(json.dumps(position))
    (again,) = values(sink, checks, '"on"', NOW + 60_000)
    assert again.unique == first.unique


@pytest.mark.parametrize("broken", ["null", '"n/a"', "[]", "true"])
def test_a_source_that_is_out_of_order_for_once_has_not_changed_sides(sink: Sink, broken: str) -> None:
    checks = condition_checks(sink, "greater_than", "20")
    assert values(sink, checks, broken) == ()
    assert values(sink, checks, "25") == (), "which side it was on before is not known"
    show(sink, f'{{"a": {broken}}}')
    found = checks.check()
    assert found.items == ()
    assert "now." in found.note
    assert values(sink, checks, "26") == ()
    assert values(sink, checks, "1") == ()
    assert values(sink, checks, broken) == ()
    assert len(values(sink, checks, "26")) == 1


@pytest.mark.parametrize(
    ("value", "operator", "expected", "met"),
    [
        ("21.0", "equals", "21", True),
        ("9007199254740993", "equals", "9007199254740992", False),
        ("9007199254740993", "greater_than", "9007199254740992", True),
        ("0.1", "equals", "0.1", True),
        ('"21.5"', "greater_than", "21", True),
        ('" 21.5 "', "less_than", "2.2e1", True),
        ('"007"', "equals", "7", False),
        ('"On"', "equals", "on", False),
        ('"on"', "not_equals", "on", False),
        ("5", "not_equals", "on", True),
        ("true", "equals", "True", True),
        ("false", "equals", "0", False),
        ("[1, 2.0]", "equals", "[1.0, 2]", True),
        ('{"x": 1, "y": 2}', "equals", '{"y": 2, "x": 1}', True),
        ("[1]", "equals", "not json", False),
        ("[1]", "equals", "[" * 900, False),
        ('"Sold OUT today"', "contains", "sold out", True),
        ('["Red", "Green"]', "contains", "green", True),
        ('["Reddish"]', "contains", "red", False),
        ("[12, 3]", "contains", "3", True),
        ('{"error": 1}', "contains", "error", True),
        ("12345", "contains", "234", True),
    ],
)
def test_comparisons(sink: Sink, value: str, operator: str, expected: str, met: bool) -> None:
    checks = condition_checks(sink, operator, expected)
    values(sink, checks, value)
    assert checks.position is not None
    assert checks.position["met"] is met
