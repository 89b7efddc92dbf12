"""Expressions: what they can say, what they can't, and that none of them takes the house down."""

import resource
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.model.expressions import (
    Evaluator,
    ExpressionError,
    FilterResult,
    check_expression,
    evaluate_filter,
)
from whenthen.model.templates import Encoding, TemplateError, render
from whenthen.model.values import IngredientValue

INGREDIENTS: dict[str, IngredientValue] = {
    "Value1": "open",
    "Number": "21",
    "Count": 3,
    "JsonPayload": '{"temp": 4.5, "id": 9007199254740993, "items": [{"name": "a"}, {"name": "b"}]}',
    "Links": ["https://example.org/1", "https://example.org/2"],
    "Nothing": None,
}


def text(expression: str) -> str:
    return render("{{" + expression + "}}", INGREDIENTS, Encoding.PLAIN).text


@pytest.mark.parametrize(
    ("expression", "passed"),
    [
        ("Value1 == 'open'", True),
        ("Value1 in ['open', 'ajar'] and not Count == 4", True),
        ("(JsonPayload|fromjson).temp > 3", True),
        ("(JsonPayload|fromjson).id == 9007199254740992", False),
        ("Value1 is startingwith 'op'", True),
        ("Missing is defined or Nothing", False),
        ("Missing == ''", True),
        ("Missing > 3", False),
        ("(Missing|fromjson).temp > 3", False),
        ("'false'", False),
        ("' '", False),
        ("Count", True),
        ("[]", False),
    ],
)
def test_a_filter_passes_or_not(expression: str, passed: bool) -> None:
    assert evaluate_filter(expression, INGREDIENTS).passed is passed


@pytest.mark.parametrize(
    ("expression", "passed"),
    [
        ("Number > 3", True),
        ("Number > 100", False),
        ("100 > Number", True),
        ("Number == 21.0", True),
        ("Number != 21", False),
        ("' 1e2 ' >= 100", True),
        ("'10' < '9'", True),
        ("'2026-01-02' > '2026-01-01'", True),
        ("Value1 == 5", False),
        ("1 + 1 < 1 + 2 and 2 * 2 > 3", True),
        ("(JsonPayload|fromjson).id|string ~ '' == '9007199254740993'", True),
    ],
)
def test_numbers_in_text_are_compared_as_numbers(expression: str, passed: bool) -> None:
    assert evaluate_filter(expression, INGREDIENTS).passed is passed


@pytest.mark.parametrize("expression", ["Value1 > 5", "Links > 3", "Links < Links"])
def test_values_without_an_order_are_an_error(expression: str) -> None:
    with pytest.raises(ExpressionError, match="have no order"):
        evaluate_filter(expression, INGREDIENTS)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("Value1|upper ~ '!'", "OPEN!"),
        ("'a' ~ Links", 'a["https://example.org/1","https://example.org/2"]'),
        ("true ~ none", "true"),
        ("(Number|float - 32) * 5 / 9", "-6.111111111111111"),
        ("2 * Count * -(Number|int) if Count else 0", "-126"),
        ("Count * 2 ** 3", "24"),
        ("7 // 2", "3"),
        ("Value1[:2]|title", "Op"),
        ("Value1|replace('o', '0')|default('x')", "0pen"),
        ("Missing|default('x')", "x"),
        ("'a,b'|split(',')|join(';')|trim", "a;b"),
        ("(JsonPayload|fromjson).items|map(attribute='name')|join(', ')", "a, b"),
        ("(JsonPayload|fromjson).items[1].name", "b"),
        ("{'a': {'b': 1}}['a']['b']", "1"),
        ("Links|length", "2"),
        ("Value1|join(', ')", "open"),
        ("Links|first|urlencode", "https%3A//example.org/1"),
        ("'<b>'|e", "&lt;b&gt;"),
        ("Links|tojson", '["https://example.org/1","https://example.org/2"]'),
        ("[3, 1, 3]|unique|sort(reverse=true)|tojson", "[3,1]"),
        ("[3, 1]|sum ~ [3, 1]|max ~ [3, 1]|min ~ [3, 1]|reverse|last", "4313"),
        ("'12.7'|int", "12"),
        ("'18446744073709551617'|int + 1", "18446744073709551618"),
        ("Missing|int", "0"),
        ("1.5|round", "2"),
        ("'a\\nb'|lines|list|length", "2"),
        ("'ab'|reverse|capitalize|lower", "ba"),
    ],
)
def test_an_expression_has_a_value(expression: str, expected: str) -> None:
    assert text(expression) == expected


@pytest.mark.parametrize("digits", ["9007199254740993", "18446744073709551615", "9" * 100, "-" + "9" * 39])
def test_d09_integers_keep_all_digits(digits: str) -> None:
    ingredients: dict[str, IngredientValue] = {"Number": int(digits), "Text": digits, "Json": f'{{"id": {digits}}}'}
    for expression in (
        "Number",
        "(Number)",
        "Text|int",
        "(Json|fromjson).id",
        "(Json|fromjson)['id']|string",
    ):
        assert render("{{" + expression + "}}", ingredients, Encoding.JSON).text.strip('"') == digits
    assert evaluate_filter("(Json|fromjson).id == Number and Number == Text", ingredients).passed


def test_missing_ingredients_are_noted_once_unless_expected() -> None:
    expression = "Missing.a.b ~ Missing ~ Other|default('x') ~ (Third is defined) ~ (Fourth or '')"

    result = evaluate_filter(expression, {})

    assert result == FilterResult(True, ("Missing is missing: empty text was used",))


def test_a_value_that_is_not_in_an_ingredient_is_noted() -> None:
    result = evaluate_filter("(JsonPayload|fromjson).nope", INGREDIENTS)

    assert result.notes == ("“(JsonPayload|fromjson).nope” has no value: empty text was used",)


def test_methods_of_values_are_no_values() -> None:
    assert evaluate_filter("Links.clear", INGREDIENTS).passed is False
    assert text("Links.clear") == ""
    assert text("[Count.real]|length") == "1"


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("true", set()),
        ("Value1 == 'Value2'", {"Value1"}),
        ("a.b[c]|join(d) if e is in f else {'g': g}", {"a", "c", "d", "e", "f", "g"}),
        ("not x is not none and xs|map(attribute=y)", {"x", "xs", "y"}),
        ("größe > 3", {"größe"}),
    ],
)
def test_the_names_of_the_ingredients_are_known(expression: str, names: set[str]) -> None:
    assert check_expression(f" {expression} ") == names


@pytest.mark.parametrize(
    ("expression", "message", "position"),
    [
        ("", "is empty", 0),
        ("a b", "operator is missing before b", 2),
        ("a 'b'", "operator is missing before 'b'", 2),
        ("ä +", "missing at the end", 3),
        ("a = 'x'", "to compare, write == in the place of =", 2),
        ("a == 'x' OR b", "write OR in small letters", 9),
        ("(a +)", r"\) can't stand here", 4),
        ("a == “x”", "curly quotation mark: “", 5),
        ("a 'x", "quotation mark", 2),
        ("a $ b", r"unexpected character: \$", 2),
        ("a|nope", "no filter nope", 2),
        ("a|_text", "no filter _text", 2),
        ("a is nope", "no test nope", 5),
        ("a is gt 3", "no test gt", 5),
        ("_work", "underscore", 0),
        ("range(3)", "can't call", 5),
        ("a.b()", "can't call", 3),
        ("a['b'](1)", "can't call", 6),
        ("a|join(*b)", "needs a value", 7),
        ("a|first.b", "parentheses", 7),
        ("(a]", "no partner", 2),
        ("a)", "no partner", 1),
        ("a) or (b", "no partner", 1),
        ("a|join((b)", "is not closed", 6),
        ("1 < a < 3", "two values at a time", 6),
        ("a == b in c", "two values at a time", 7),
        ("x" * 4097, "longer than 4096", None),
        ("a" + "|upper" * 200, "more than 200", None),
        ("[" * 17 + "]" * 17, "nested more than 16", 16),
        ("1 + " + "9" * 39, "more than 38 digits", 4),
    ],
)
def test_a_bad_expression_is_refused_at_its_place(expression: str, message: str, position: int | None) -> None:
    with pytest.raises(ExpressionError, match=message) as caught:
        check_expression(expression)

    assert caught.value.position == position


@pytest.mark.parametrize(
    "expression",
    [
        "1 / 0",
        "'a' + 1",
        "Missing + 1",
        "'x'|int",
        "'1e999'|float",
        "'{'|fromjson",
        "Value1|fromjson",
        "-Value1",
        "Count|upper(1, 2)",
        "['a', 1]|sort",
        "Count|list",
        "Links|replace(1)",
        "true * 2",
    ],
)
def test_values_that_do_not_fit_are_an_error(expression: str) -> None:
    check_expression(expression)
    with pytest.raises(ExpressionError):
        evaluate_filter(expression, INGREDIENTS)


LONG = 256 * 1024
HOSTILE = [
    "([1]*30000000)",
    "([1]*30000000)|length",
    "([1]*30000000)|join",
    "('a'|list)*300000000",
    "[[[1]*1000]*1000]*1000",
    "1000000000*[1]",
    "(1,)*1000000000",
    "Letter*100000000",
    "100000000*'a'",
    "Text|list|map('replace', 'x', Text)",
    "Text|map('default', Text, true)|join",
    "Text|batch(1000000000000)",
    "Text|slice(1000000000000)",
    "Text|indent(100000000)",
    "Text|pprint",
    "Text|wordwrap(1)",
    "'%1000000000d'|format(1)",
    "range(1000000000)",
    "Text|replace('x', Text)",
    "Text|replace('', Text)|length",
    "Text|list|join(Text)|length",
    "Quotes" + "|tojson" * 100,
    "Quotes" + "|list|string" * 90,
    "Quotes" + "|split('q')|string" * 90,
    "Ampersands" + "|e" * 180 + "|length",
    "Ampersands" + "|urlencode" * 180 + "|length",
    "[[[[[[[[[[[[Quotes]~'']~'']~'']~'']~'']~'']~'']~'']~'']~'']~'']~''",
    "~".join(["Text"] * 95) + "|length",
    "[" + ",".join(["Text|list"] * 60) + "]|length",
    "Text" + "|list" * 190,
    "1e308 * 10",
    "1e308|round(1000000)",
    "10 ** 10 ** 10",
    "2 ** 127 * 2",
    "-" * 4000 + "1",
    "not " * 1000 + "1",
    "(" * 2000 + ")" * 2000,
    "[" * 2000,
    "1 ~ ([1]*99999999)",
    "([1]*99999999) in ([1]*99999999)",
    "([1]*99999999) < ([1]*99999999)",
    "Deep|fromjson",
    "Digits|int",
    "Digits > 3",
]


@pytest.mark.parametrize("expression", HOSTILE)
def test_a_hostile_expression_costs_little(expression: str) -> None:
    ingredients = {
        "Letter": "a",
        "Text": "x" * LONG,
        "Quotes": "\\'" * (LONG // 2),
        "Ampersands": "&%" * (LONG // 2),
        "Deep": "[" * LONG,
        "Digits": "9" * LONG,
    }
    memory, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    with suppress(TemplateError):
        assert len(render("{{" + expression + "}}", ingredients, Encoding.PLAIN).text) <= 2 * LONG
    assert time.perf_counter() - started < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 100 * 1024


def test_ingredients_that_are_too_deep_are_an_error() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for expression in ("Deep", "Deep|length"):
        with pytest.raises(ExpressionError, match="nested too deeply"):
            evaluate_filter(expression, {"Deep": deep})  # type: ignore[dict-item]


def test_ingredients_are_left_as_they_were() -> None:
    links = ["b", "a"]

    assert text_of_links("Links|sort|join", links) == text_of_links("Links|reverse|join", links) == "ab"
    assert links == ["b", "a"]


def text_of_links(expression: str, links: list[str]) -> str:
    return render("{{" + expression + "}}", {"Links": links}, Encoding.PLAIN).text


@given(st.text("ab12 .|~*<>=!()[]{}'\",:+-%/_é\\if ornotisn", max_size=40))
def test_any_text_is_an_expression_or_an_expression_error(expression: str) -> None:
    # Any other exception fails the test.
    with suppress(ExpressionError):
        evaluate_filter(expression, {"a": "1", "b": ["x"]})


@given(st.integers(), st.integers())
def test_comparisons_agree_with_arithmetic(left: int, right: int) -> None:
    ingredients: dict[str, IngredientValue] = {"A": left, "B": right, "S": str(left)}
    for operator, expected in (("<", left < right), (">=", left >= right), ("==", left == right)):
        assert evaluate_filter(f"A {operator} B", ingredients).passed is expected
        assert evaluate_filter(f"S {operator} B", ingredients).passed is expected


def test_one_evaluator_parses_a_body_once() -> None:
    body = '{"a": "' + "x" * 1024 * 1024 + '", "b": 1}'
    template = "{{ (Body|fromjson).b }}" * 6

    assert render(template, {"Body": body}, Encoding.PLAIN).text == "1" * 6
    assert Evaluator({}).notes == ()
