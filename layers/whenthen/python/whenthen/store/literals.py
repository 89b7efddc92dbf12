"""SQL literals, rendered by us because the database takes no parameters in a script (PY019, ALOPEX.md 3)."""

from whenthen.store.errors import InvalidText

type SqlValue = str | int | bool | None

_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1


def check_text(value: str, name: str) -> None:
    """Refuse what the database can't keep.

    Parameters
    ----------
    value:
        Any text; every Unicode character but NUL can be stored.
    name:
        What the text is, for the message.

    Raises
    ------
    InvalidText
        A NUL character (refused by the database) or a lone surrogate (not encodable as UTF-8).
    """
    if "\x00" in value:
        raise InvalidText(f"{name} holds a NUL character, which can't be stored")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidText(f"{name} holds a lone surrogate, which can't be stored") from error


def literal(value: SqlValue, name: str = "value") -> str:
    r"""Return `value` as an SQL literal.

    Parameters
    ----------
    value:
        Text, a 64-bit signed integer, a boolean or None.
    name:
        What the value is, for error messages.

    Raises
    ------
    InvalidText
        See `check_text`.
    OverflowError
        An integer outside 64 bits.
    TypeError
        Any other type.

    Notes
    -----
    Text stands in single quotes with ``'`` doubled; a backslash is itself (measured, ALOPEX.md 3).
    The parser refuses ``-9223372036854775808`` as a literal, so the smallest integer is an expression.
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            if not _INT64_MIN <= value <= _INT64_MAX:
                raise OverflowError(f"{name} is outside the 64-bit range: {value}")
            return str(value) if value != _INT64_MIN else f"({_INT64_MIN + 1} - 1)"
        case str():
            check_text(value, name)
            return "'" + value.replace("'", "''") + "'"
    raise TypeError(f"{name} has no SQL literal: {type(value).__name__}")
