"""Values of JSON documents: reading them, and writing them as they came."""

import json
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

from whenthen.model.values import without_surrogates

# More digits than an integer can be read with.
_EXACT = Context(prec=5000)


class _Written(float):
    """A number that knows how it was written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


# JMESPath tells types by their names.
_Written.__name__ = "float"


def load_json(text: str) -> Any:
    """Return the value of a JSON text; of equal keys the last counts.

    Raises
    ------
    ValueError
        It is not JSON (`json.JSONDecodeError`), or holds a number that can't be read.
    RecursionError
        It is nested too deeply.
    """
    return json.loads(text, parse_float=_Written, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def value_text(value: Any) -> str:
    """Return a value as people read it: nothing as empty text, numbers without an exponent, lists as compact JSON.

    `RecursionError` when it is nested too deeply.
    """
    if value is None:
        return ""
    return without_surrogates(value if isinstance(value, str) else _write(value, _number_text, sort=False))


def canonical_text(value: Any) -> str:
    """Return the one JSON text that all spellings of a value have, also those with members in another order.

    `RecursionError` as for `value_text`.
    """
    return _write(value, _canonical_number, sort=True)


def _number_text(number: int | float) -> str:
    return f"{Decimal(number.text if isinstance(number, _Written) else str(number)):f}"


def _canonical_number(number: int | float) -> str:
    return f"{Decimal(_number_text(number)).normalize(_EXACT) or Decimal():f}"


def _write(value: Any, number_text: Callable[[int | float], str], *, sort: bool) -> str:
    match value:
        case dict():
            members = sorted(value.items()) if sort else value.items()
            return "{" + ",".join(f"{_quote(k)}:{_write(v, number_text, sort=sort)}" for k, v in members) + "}"
        case list():
            return "[" + ",".join(_write(item, number_text, sort=sort) for item in value) + "]"
        case int() | float() if not isinstance(value, bool):
            return number_text(value)
    return _quote(value)


_quote = json.JSONEncoder(ensure_ascii=False).encode
