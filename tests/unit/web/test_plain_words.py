"""What pydantic says is told in words of people who don't write programs."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from whenthen.web.console.mistakes import by_path


class _Model(BaseModel):
    text: Annotated[str, Field(min_length=3, max_length=5)] = "abc"
    letter: Annotated[str, Field(min_length=1, max_length=1)] = "a"
    like: Annotated[str, Field(pattern="^[a-z]+$")] = "a"
    whole: Annotated[int, Field(ge=1, le=90)] = 1
    number: Annotated[float, Field(gt=0, lt=1)] = 0.5
    flag: bool = True
    items: Annotated[list[str], Field(min_length=1, max_length=2)] = ["a"]
    choice: Literal["a", "b", "c"] = "a"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("text", "", "must have at least 3 characters"),
        ("text", "abcdef", "must have at most 5 characters"),
        ("text", 1, "must be a text"),
        ("letter", "", "must not be empty"),
        ("letter", "ab", "must have at most 1 character"),
        ("like", "A", "does not have the right form"),
        ("whole", "x", "must be a whole number"),
        ("whole", 1.5, "must be a whole number"),
        ("whole", 0, "must be 1 or more"),
        ("whole", 91, "must be 90 or less"),
        ("number", "x", "must be a number"),
        ("number", 0, "must be more than 0"),
        ("number", 1, "must be less than 1"),
        ("flag", "x", "must be yes or no"),
        ("items", [], "must not be empty"),
        ("items", ["a"] * 3, "must have at most 2 entries"),
        ("choice", "d", "must be one of these: 'a', 'b', 'c'"),
        ("other", 1, "is not known here"),
    ],
)
def test_mistakes_are_told_in_plain_words(field: str, value: Any, words: str) -> None:
    class Closed(_Model, extra="forbid"):
        pass

    with pytest.raises(ValidationError) as raised:
        Closed.model_validate({field: value})
    assert by_path(raised.value) == {field: words}
