"""JMESPath: what an expression finds, with numbers as they were written, and what it can't do."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.sink import Sink
from tests.unit.services.web.sources import json_checks, show
from whenthen.services.checking import CheckFailed
from whenthen.services.isolation import apart
from whenthen.services.isolation.errors import TOO_HARD, NotRead
from whenthen.services.web.fields import MAX_EXPRESSION_CHARACTERS
from whenthen.services.web.json_values import read

SMALL = (
    '{"a": [1, 2.50, {"b": "x"}], "id": 12345678901234567890, "d": 0.10, "s": "text", "l": ["q", "w"],'
    ' "n": -12345678901234567890}'
)


def found(expression: str, document: str = SMALL) -> dict[str, Any] | None:
    return read(document.encode(), "application/json", expression)


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
        ("sum(a[:2])", "3.5"),
        ("sum([id, `1`])", "12345678901234567891"),
        ("avg(a[:2])", "1.75"),
        ("max(a[:2])", "2.50"),
        ("sort([d, `0`, id])", "[0,0.10,12345678901234567890]"),
        ("sort_by([{n: id}, {n: d}], &n)[0].n", "0.10"),
        ("ceil(d)", "1"),
        ("abs(n)", "12345678901234567890"),
        ("type(d)", "number"),
        ("to_string(l)", '["q","w"]'),
        ("to_number('1e3')", "1000.0"),
        ("join('-', l)", "q-w"),
        ("s < 'u'", "true"),
        ("length(@)", "6"),
        ("@.*.b", "[]"),
        ("map(&b, a)", '[null,null,"x"]'),
        ("d || s", "0.10"),
    ],
)
def test_values(expression: str, text: str) -> None:
    value = found(expression)
    assert value is not None
    assert value["text"] == text


@pytest.mark.parametrize("expression", ["nothing.at.all", "avg(`[]`)", "a[7]", "s.b", "to_number('x')"])
def test_nothing(expression: str) -> None:
    assert found(expression) is None


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("length(id)", "not number"),
        ("nope(a)", "Unknown function"),
        ("length()", "Expected 1"),
        ("&a", "does not fit"),
        ("[&a]", "does not fit"),
        ("a[::0]", "does not fit"),
        ("s < `5`", "does not fit"),
        ("contains(s, `5`)", "does not fit"),
        ("sort_by(a, &b)", "sort_by"),
        ("sum(l)", "sum()"),
    ],
)
def test_what_does_not_fit_is_told(expression: str, said: str) -> None:
    value = found(expression)
    assert value is not None
    assert said in value["fault"]


def grown(first: str, step: str) -> str:
    """An expression that is as long as one may be."""
    return first + step * ((MAX_EXPRESSION_CHARACTERS - len(first)) // len(step))


@pytest.mark.parametrize(
    "expression",
    [grown("@", "|[@,@]"), grown("s", "|join(@,[@,@,@])"), grown("a", "|map(&[@,@],@)[]")],
)
def test_expressions_that_grow_without_bound_are_stopped(
    expression: str, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a bound each of them takes all memory, or the age of the universe."""
    monkeypatch.setattr(apart, "CPU_SECONDS", 1)
    show(sink, SMALL)
    with pytest.raises(CheckFailed) as raised:
        json_checks(sink, expression).check()
    assert str(raised.value) == TOO_HARD


def test_large_documents_are_read() -> None:
    rows = ",".join(f'{{"id":{number},"name":"n{number}","price":{number}.50}}' for number in range(60_000))
    value = found("{last: [?id == `59999`].price | [0], most: max_by(@, &price).name}", f"[{rows}]")
    assert value is not None
    assert json.loads(value["text"]) == {"last": 59999.5, "most": "n59999"}


TEXTS = st.text(st.sampled_from("ab@[]().*|&,`'\"?:{}=!<>0-1 "), min_size=1, max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=8,
)


# The library warns of quotation marks that were left out, and takes them as given.
@pytest.mark.filterwarnings("ignore:deprecated string literal syntax")
@given(TEXTS, VALUES)
def test_any_expression_finds_something_or_says_why_not(expression: str, value: Any) -> None:
    try:
        answer = found(expression, json.dumps(value))
    except NotRead:
        return
    assert answer is None or {"fault"} == set(answer) or {"text", "hash", "meets"} == set(answer)
