"""JSON whose numbers stay as they were written: ids of 64 bits and long decimals are not rounded."""

import json
from typing import Any


class Number(str):
    """A JSON number as it was written."""


def read_exact(text: str) -> Any:
    """Return the value of JSON text, its numbers as `Number`.

    Raises
    ------
    ValueError
        It is not JSON; NaN and Infinity are not either.
    RecursionError
        It is nested too deeply.
    """
    return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_refuse_constant)


def write_exact(value: Any, separators: tuple[str, str] = (",", ":")) -> str:
    """Return a value of `read_exact` as JSON text.

    Parameters
    ----------
    separators:
        Between members, and between a name and its value.

    Raises
    ------
    RecursionError
        It is nested too deeply.
    """
    comma, colon = separators
    match value:
        case Number():
            return str(value)
        case dict():
            members = (f"{_quoted(name)}{colon}{write_exact(member, separators)}" for name, member in value.items())
            return "{" + comma.join(members) + "}"
        case list():
            return "[" + comma.join(write_exact(item, separators) for item in value) + "]"
    return _quoted(value)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
