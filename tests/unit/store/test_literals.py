"""SQL literals: what they look like, and what is refused by name. That they come back equal, the engines show."""

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from whenthen.store.errors import InvalidText
from whenthen.store.literals import literal

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("value", "rendered"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (False, "FALSE"),
        (0, "0"),
        (-1, "-1"),
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "(-9223372036854775807 - 1)"),
        ("", "''"),
        ("it's", "'it''s'"),
        ("''", "''''''"),
        ("\\'", "'\\'''"),
        ("a\nb\t;--", "'a\nb\t;--'"),
        ("naïve 🚪 \u202eقلب", "'naïve 🚪 \u202eقلب'"),
    ],
)
def test_rendering(value: str | int | bool | None, rendered: str) -> None:
    assert literal(value) == rendered


@settings(deadline=None)
@given(TEXT)
def test_every_text_is_one_literal_that_means_it(text: str) -> None:
    select = sqlglot.parse_one(f"SELECT {literal(text)}, 1", dialect="postgres")
    assert [item.this for item in select.find_all(exp.Literal)] == [text, "1"]


@settings(deadline=None)
@given(TEXT, TEXT)
def test_a_nul_is_refused_by_name(before: str, after: str) -> None:
    with pytest.raises(InvalidText, match=r"^ingredients holds a NUL character"):
        literal(f"{before}\x00{after}", "ingredients")


@settings(deadline=None)
@given(TEXT, st.characters(categories=["Cs"]), TEXT)
def test_a_lone_surrogate_is_refused_by_name(before: str, surrogate: str, after: str) -> None:
    with pytest.raises(InvalidText, match=r"^title holds a lone surrogate"):
        literal(f"{before}{surrogate}{after}", "title")


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**30])
def test_an_integer_over_64_bits_is_refused_by_name(value: int) -> None:
    with pytest.raises(OverflowError, match=r"^due_at is outside the 64-bit range"):
        literal(value, "due_at")


@pytest.mark.parametrize("value", [1.5, b"bytes", ["list"], {"a": 1}])
def test_other_types_are_refused_by_name(value: object) -> None:
    with pytest.raises(TypeError, match=r"^fields has no SQL literal"):
        literal(value, "fields")  # type: ignore[arg-type]
