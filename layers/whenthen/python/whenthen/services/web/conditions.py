"""When a value meets a condition."""

import re
from decimal import Decimal
from typing import Any, Literal

from whenthen.services.web.values import canonical_text, load_json, value_text

type Operator = Literal["equals", "not_equals", "greater_than", "less_than", "contains"]

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE)


def number_in(text: str) -> Decimal | None:
    """Return the number that a text is, as sources also write them (``"21.5"``), or None."""
    stripped = text.strip()
    return Decimal(stripped) if _NUMBER.fullmatch(stripped) else None


def meets(value: Any, operator: Operator, expected: str) -> bool | None:
    """Say if a value of a JSON document meets the condition; None when it is neither more nor less than a number."""
    match operator:
        case "equals":
            return _equals(value, expected)
        case "not_equals":
            return not _equals(value, expected)
        case "contains":
            return _contains(value, expected)
    number, bound = number_in(value_text(value)), number_in(expected)
    if number is None or bound is None:
        return None
    return number > bound if operator == "greater_than" else number < bound


def _equals(value: Any, expected: str) -> bool:
    match value:
        case str():
            return value == expected
        case bool():
            return value_text(value) == expected.strip().lower()
        case int() | float():
            return number_in(value_text(value)) == number_in(expected)
    try:
        return canonical_text(value) == canonical_text(load_json(expected))
    except (ValueError, RecursionError):
        return False


def _contains(value: Any, expected: str) -> bool:
    """Say if a list has the text as an item, an object as a name, or anything else within its text."""
    wanted = expected.casefold()
    match value:
        case list():
            return any(value_text(item).casefold() == wanted for item in value)
        case dict():
            return any(name.casefold() == wanted for name in value)
    return wanted in value_text(value).casefold()
