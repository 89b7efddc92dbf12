"""Numbers of a JSON document, exact: 64-bit ids keep their digits and decimals are not rounded."""

import re
from decimal import Context, Decimal

MAX_DIGITS = 100
MAX_EXPONENT = 400
"""Somewhat more than a double has (RFC 8259, section 6); beyond it a short text is a number of gigabytes."""

EXACT = Context(prec=4 * (MAX_DIGITS + 2 * MAX_EXPONENT))
"""Sums of such numbers are not rounded in it."""

type Number = int | Decimal

_NUMBER = re.compile(r"[+-]?([0-9]{1,100}(\.[0-9]{0,100})?|\.[0-9]{1,100})([eE][+-]?[0-9]{1,3})?", re.ASCII)


def whole_number(text: str) -> int:
    """Return the integer that JSON `text` writes.

    Raises
    ------
    ValueError
        It has too many digits.
    """
    if len(text) > MAX_DIGITS:
        raise ValueError("a number has too many digits")
    return int(text)


def decimal_number(text: str) -> Decimal:
    """Return the number that JSON `text` writes.

    Raises
    ------
    ValueError
        It has too many digits, or is too large or too small.
    """
    if len(text) > MAX_DIGITS:
        raise ValueError("a number has too many digits")
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > MAX_EXPONENT:
        raise ValueError("a number is too large or too small")
    return number


def number_in(text: str) -> Decimal | None:
    """Return the number that a text is, as sources also write them (``"21.5"``), or None."""
    stripped = text.strip()
    try:
        return decimal_number(stripped) if _NUMBER.fullmatch(stripped) else None
    except ValueError:
        return None


def is_number(value: object) -> bool:
    """Say if `value` is a number. JSON's true and false are none."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def digits(number: Number) -> str:
    """Return a number as people read it, without an exponent and with the digits it came with."""
    return str(number) if isinstance(number, int) else format(number, "f")


def canonical(number: Number) -> str:
    """Return the one text that all spellings of a number have: 21, 21.0 and 2.1e1 are ``21``."""
    text = str(number) if isinstance(number, int) else format(number.normalize(EXACT), "f")
    return "0" if text == "-0" else text
