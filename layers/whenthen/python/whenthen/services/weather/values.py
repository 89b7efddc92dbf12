"""Numbers of an answer that nobody vouches for."""

from collections.abc import Mapping
from typing import Any

from whenthen.services.checking import CheckFailed


def section(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of an answer.

    Raises
    ------
    CheckFailed
        It is missing or no object.
    """
    found = document.get(name)
    if not isinstance(found, dict):
        raise CheckFailed(f"The weather service's answer has no {name!r} part.")
    return found


def number(value: Any, name: str, low: float, high: float) -> float | None:
    """Return a number of an answer, or None when it is missing or null.

    Raises
    ------
    CheckFailed
        It is no number from `low` to `high`.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CheckFailed(f"The weather service's {name} is not a number.")
    # Also false for NaN, which Python reads; and no conversion, which a huge integer would not survive.
    if not low <= value <= high:
        raise CheckFailed(f"The weather service's {name} can't be right: it is not from {low:g} to {high:g}.")
    return float(value)


def whole_number(value: Any, name: str, low: int, high: int) -> int | None:
    """Return a whole number of an answer, or None; see `number`."""
    found = number(value, name, low, high)
    if found is not None and found != int(found):
        raise CheckFailed(f"The weather service's {name} is not a whole number.")
    return None if found is None else int(found)


def first_of(values: Any, name: str) -> Any:
    """Return the first of a list of an answer, or None when it is missing, null or empty.

    Raises
    ------
    CheckFailed
        It is no list.
    """
    if values is None:
        return None
    if not isinstance(values, list):
        raise CheckFailed(f"The weather service's {name} is not a list.")
    return values[0] if values else None
