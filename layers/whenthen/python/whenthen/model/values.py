"""Ingredient values: how they read as text and how the template engine takes them without loss."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

type IngredientValue = str | int | float | bool | Sequence[IngredientValue] | Mapping[str, IngredientValue] | None

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_QUOTE = 40


class _HugeInt(int):
    """An integer of more than 128 bits, which the engine would round to a float.

    It refuses to be a float, so the engine passes it through as an object and all digits stay.
    """

    def __float__(self) -> float:
        raise TypeError("this integer has no exact float")


def without_surrogates(text: str) -> str:
    """Return `text` with lone surrogates as U+FFFD: UTF-8 can't carry them (RFC 3629, 3)."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def text_of(value: object) -> str:
    """Return `value` as people expect to read it.

    None is empty text, booleans are ``true`` and ``false``, whole floats have no ``.0``, lists and objects
    are compact JSON. Anything else, such as a method that an expression got hold of, is empty text.

    Raises
    ------
    ValueError
        A number is infinite or not a number, or the value can't be written as JSON.
    """
    match value:
        case str():
            return without_surrogates(value)
        case bool():
            return "true" if value else "false"
        case int():
            return int.__repr__(value)
        case float():
            if not math.isfinite(value):
                raise ValueError("a number is too large or is not a number")
            # The engine makes no difference between 21 and 21.0, so there is none here.
            return str(int(value)) if value.is_integer() and abs(value) < 2**63 else repr(value)
        case list() | tuple() | dict():
            return compact_json(value)
        case _:
            return ""


def compact_json(value: object) -> str:
    """Return `value` as compact JSON (RFC 8259) with non-ASCII characters kept.

    Raises
    ------
    ValueError
        A number is not finite, a value is no JSON value, or the value is nested too deeply.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, RecursionError) as exc:
        raise ValueError("the value can't be written as JSON") from exc
    return without_surrogates(text)


def exact_int(value: int) -> int:
    """Return `value` so that the template engine, whose integers have 128 bits, keeps all its digits."""
    return value if -(2**127) <= value < 2**127 else _HugeInt(value)


def engine_value(value: IngredientValue) -> Any:
    """Return a copy of `value` that the template engine takes exactly: no lone surrogates, no rounding.

    Raises
    ------
    RecursionError
        The value is nested too deeply.
    """
    match value:
        case str():
            return without_surrogates(value)
        case bool():
            return value
        case int():
            return exact_int(value)
        case Mapping():
            return {without_surrogates(key): engine_value(item) for key, item in value.items()}
        case Sequence():
            return [engine_value(item) for item in value]
        case _:
            return value


def quoted(value: object) -> str:
    """Return `value` as text in quotation marks for a message, cut to some 40 characters."""
    text = text_of(value)
    return f"“{text}”" if len(text) <= _LONGEST_QUOTE else f"“{text[: _LONGEST_QUOTE - 1]}…”"
