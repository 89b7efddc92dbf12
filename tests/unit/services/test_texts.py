"""How texts are shortened for a target that limits them."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from whenthen.services.texts import MAX_TEXT, FilledText, fitted, utf8_bytes, utf16_units

texts = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "limit", "size", "expected"),
    [
        ("abc", 3, len, "abc"),
        ("abcd", 3, len, "ab…"),
        ("ab cd", 4, len, "ab…"),
        ("", 3, len, ""),
        ("💥💥", 4, utf16_units, "💥💥"),
        ("💥💥💥", 4, utf16_units, "💥…"),
        ("💥💥💥", 5, utf16_units, "💥💥…"),
        ("ééé", 6, utf8_bytes, "ééé"),
        ("éééé", 7, utf8_bytes, "éé…"),
    ],
)
def test_what_is_left(text: str, limit: int, size: Callable[[str], int], expected: str) -> None:
    assert fitted(text, limit, size) == expected


@given(texts, st.integers(3, 40), st.sampled_from([len, utf8_bytes, utf16_units]))
def test_it_fits_and_is_the_beginning(text: str, limit: int, size: Callable[[str], int]) -> None:
    short = fitted(text, limit, size)
    assert size(short) <= limit
    assert text.startswith(short.removesuffix("…"))
    assert (short == text) == (size(text) <= limit) or text.startswith("…")


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_a_text_that_shows_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="must not be empty"):
        TypeAdapter(FilledText).validate_python(text)


def test_as_much_as_a_template_may_become_is_taken() -> None:
    assert len(TypeAdapter(FilledText).validate_python("x" * MAX_TEXT)) == MAX_TEXT
    with pytest.raises(ValidationError):
        TypeAdapter(FilledText).validate_python("x" * (MAX_TEXT + 1))
