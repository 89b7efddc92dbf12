"""Numbers in expressions: when a text is one, and what is more or less than what."""

import math
import re
from collections.abc import Callable
from typing import Any

from whenthen.model.values import exact_int, quoted, text_of

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,400}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?")


def number(value: object) -> int | float:
    """Return `value`, which an operator needs to be a number: times a text or a list would repeat it.

    Raises
    ------
    ValueError
        It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{quoted(value)} is not a number: use |int or |float")
    return value


def to_float(value: object) -> float:
    """Return `value`, a number or a text that reads as one, as a float; nothing is 0.

    Raises
    ------
    ValueError
        It is no number, or none that is finite.
    """
    if value is None or isinstance(value, int | float):
        return float(value or 0)
    text = text_of(value).strip()
    result = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(result):
        raise ValueError(f"{quoted(value)} is not a number")
    return result


def to_int(value: object) -> int:
    """Return `value`, a number or a text that reads as one, as an integer, exact and rounded towards zero.

    Raises
    ------
    ValueError
        It is no number, or none that is finite.
    """
    if isinstance(value, int):
        return exact_int(int(value))
    text = text_of(value).strip()
    return exact_int(int(text) if _WHOLE_NUMBER.fullmatch(text) else int(to_float(value)))


def _number_if_it_reads_so(value: object) -> object:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return to_int(value) if _WHOLE_NUMBER.fullmatch(value.strip()) else to_float(value)
    return value


def compare(left: Any, operator: str, right: Any) -> bool:
    """Return whether ``left operator right``.

    Ingredients are mostly text, and the engine says that ``'5' > 10``. Here a text that reads as a number is
    one if the other side is a number. Nothing equals empty text, and is neither more nor less than anything.

    Raises
    ------
    ValueError
        The values are of kinds that have no order between them.
    """
    left, right = ("" if side is None else side for side in (left, right))
    numbers = [isinstance(side, int | float) and not isinstance(side, bool) for side in (left, right)]
    if any(numbers) and not all(numbers):
        left, right = _number_if_it_reads_so(left), _number_if_it_reads_so(right)
    if operator in ("==", "!="):
        return bool((left == right) is (operator == "=="))
    if left == "" or right == "":
        return False
    if isinstance(left, str) is not isinstance(right, str) or isinstance(left, list | dict):
        raise ValueError(f"{quoted(left)} and {quoted(right)} have no order: one is text, one is not")
    return bool(_ORDER[operator](left, right))


_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
