"""JMESPath: exact numbers, and a bound on all work."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.services.documents import Document, Source
from whenthen.services.web.expressions import MAX_RESULT, ExpressionFailed, check_expression, evaluate
from whenthen.services.web.fields import MAX_EXPRESSION_CHARACTERS
from whenthen.services.web.json_reading import canonical_text, read_json, value_text


def document(text: str | bytes) -> Any:
    body = text.encode() if isinstance(text, str) else text
    return read_json(Document(body, {}, "", Source("")))


SMALL = document(
    '{"a": [1, 2.50, {"b": "x"}], "id": 12345678901234567890, "d": 0.10, "s": "text", "l": ["q", "w"],'
    ' "n": -12345678901234567890123456789.5}'
)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("a", '[1,2.50,{"b":"x"}]'),
        ("a[2].b", "x"),
        ("a[?b == 'x'].b | [0]", "x"),
        ("id", "12345678901234567890"),
        ("id == `12345678901234567890`", "true"),
        ("id == `12345678901234567891`", "false"),
        ("d", "0.10"),
        ("d == `0.1`", "true"),
        ("d < `0.2`", "true"),
        ("sum(a[:2])", "3.50"),
        ("sum([id, d])", "12345678901234567890.10"),
        ("avg(a[:2])", "1.75"),
        ("avg(`[]`)", ""),
        ("max(a[:2])", "2.50"),
        ("sort([d, `0`, id])", "[0,0.10,12345678901234567890]"),
        ("sort_by([{n: id}, {n: d}], &n)[0].n", "0.10"),
        ("ceil(d)", "1"),
        ("abs(n)", "12345678901234567890123456789.5"),
        ("type(d)", "number"),
        ("type(`null`)", "null"),
        ("to_string(a)", '[1,2.50,{"b":"x"}]'),
        ("to_string(`null`)", "null"),
        ("to_number('1e3')", "1000"),
        ("to_number('Infinity')", ""),
        ("to_number('1_000')", ""),
        ("join('-', l)", "q-w"),
        ("s < `5`", ""),
        ("s < 'u'", "true"),
        ("length(@)", "6"),
        ("@.*.b", "[]"),
        ("nothing.at.all", ""),
        ("map(&b, a)", '[null,null,"x"]'),
        ("a[] | length(@)", "3"),
    ],
)
def test_values(expression: str, text: str) -> None:
    assert value_text(evaluate(expression, SMALL)) == text


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("length(id)", "not number"),
        ("nope(a)", "Unknown function"),
        ("length()", "Expected 1"),
        ("&a", "finds no value"),
        ("[&a]", "finds no value"),
        ("a[::0]", "does not fit"),
        ("contains(s, `5`)", "does not fit"),
        ("sort_by(a, &b)", "sort_by"),
        ("sum(l)", "sum()"),
    ],
)
def test_what_does_not_fit_is_told(expression: str, said: str) -> None:
    with pytest.raises(ExpressionFailed) as raised:
        evaluate(expression, SMALL)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("", "empty"),
        ("a[", "character 3"),
        ("a..b", "character 3"),
        ("a b", "character 3"),
        ("'open", "character 1"),
        ("a = b", "character 3"),
        ("!" * 900 + "a", "nested"),
    ],
)
def test_what_is_no_expression_is_told(expression: str, said: str) -> None:
    with pytest.raises(ValueError, match="must") as raised:
        check_expression(expression)
    assert said in str(raised.value)


def grown(first: str, step: str) -> str:
    """An expression that is as long as one may be."""
    return first + step * ((MAX_EXPRESSION_CHARACTERS - len(first)) // len(step))


@pytest.mark.parametrize(
    "expression",
    [
        grown("@", "|[@,@]"),
        grown("@", "|[@,@][]"),
        grown("@", "|{a:@,b:@}"),
        grown("s", "|join(@,[@,@,@])"),
        grown("s", "|to_string([@,@])"),
        grown("@", "|[@,@]") + "|to_string(@)",
        grown("@", "|[@,@]") + "|@==@",
        grown("a", "|map(&[@,@],@)[]"),
        grown("a", "|merge({a:@},{b:@})"),
        grown("l", "|[sort(@),sort(@)][]"),
        grown("l", "|[reverse(@),@][]"),
    ],
)
def test_expressions_that_grow_without_bound_are_stopped(expression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a bound each of them takes all memory, or the age of the universe."""
    monkeypatch.setattr("whenthen.services.web.expressions.MAX_WORK", 200_000)
    with pytest.raises(ExpressionFailed, match=r"too much|too deeply"):
        evaluate(expression, SMALL)


def test_the_bound_lets_large_documents_through() -> None:
    rows = ",".join(f'{{"id":{number},"name":"n{number}","price":{number}.50}}' for number in range(60_000))
    large = document(f"[{rows}]")
    assert value_text(evaluate("[?id == `59999`].price | [0]", large)) == "59999.50"
    assert value_text(evaluate("max_by(@, &price).name", large)) == "n59999"
    assert value_text(evaluate("length([?price > `100`])", large)) == "59900"
    with pytest.raises(ExpressionFailed, match="narrow it down"):
        evaluate("@", large)


def test_looking_through_a_long_list_again_and_again_is_stopped() -> None:
    with pytest.raises(ExpressionFailed, match="too long"):
        evaluate(grown("contains(@,'x')", "||contains(@,'x')"), [0] * 200_000)


def test_the_largest_value() -> None:
    assert evaluate("@", [0] * (MAX_RESULT - 1))
    with pytest.raises(ExpressionFailed):
        evaluate("@", [0] * MAX_RESULT)


TEXTS = st.text(st.sampled_from("ab@[]().*|&,`'\"?:{}=!<>0-1 "), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=2) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=8,
)


# The library warns of quotation marks that were left out, and takes them as given.
@pytest.mark.filterwarnings("ignore:deprecated string literal syntax")
@given(TEXTS, VALUES)
def test_any_expression_finds_something_or_says_why_not(expression: str, value: Any) -> None:
    try:
        check_expression(expression)
        found = evaluate(expression, value)
    except (ValueError, ExpressionFailed):
        return
    assert isinstance(canonical_text(found), str)
    assert isinstance(found, None | bool | int | Decimal | str | list | dict)
