"""When a value meets a condition."""

import json
from decimal import Decimal
from typing import Any

from whenthen.services.web.fields import Operator
from whenthen.services.web.json_reading import canonical_text, value_text
from whenthen.services.web.numbers import decimal_number, is_number, number_in, whole_number


class NoOrder(Exception):
    """The value is not a number, so it is neither more nor less than one."""


def meets(value: Any, operator: Operator, expected: str) -> bool:
    """Say if `value`, which `evaluate` found, meets the condition.

    Raises
    ------
    NoOrder
        It can't be said.
    """
    match operator:
        case "equals":
            return _equals(value, expected)
        case "not_equals":
            return not _equals(value, expected)
        case "contains":
            return _contains(value, expected)
    number, bound = value if is_number(value) else _number_in(value), _number_in(expected)
    if number is None or bound is None:
        raise NoOrder
    return bool(number > bound if operator == "greater_than" else number < bound)


def _number_in(value: Any) -> Decimal | None:
    return number_in(value) if isinstance(value, str) else None


def _equals(value: Any, expected: str) -> bool:
    if isinstance(value, str):
        return value == expected
    if is_number(value):
        return bool(value == number_in(expected))
    if isinstance(value, bool):
        return value_text(value) == expected.strip().lower()
    try:
        return canonical_text(value) == canonical_text(
            json.loads(expected, parse_int=whole_number, parse_float=decimal_number)
        )
    except (ValueError, RecursionError):
        return False


def _contains(value: Any, expected: str) -> bool:
    """Say if a list has the text as an item, an object as a name, or anything else within its text."""
    wanted = expected.casefold()
    if isinstance(value, list):
        return any(value_text(item).casefold() == wanted for item in value)
    if isinstance(value, dict):
        return any(name.casefold() == wanted for name in value)
    return wanted in value_text(value).casefold()
