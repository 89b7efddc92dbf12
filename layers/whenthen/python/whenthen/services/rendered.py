"""Checks of fields after their templates were rendered: what an ingredient brought may look like a template itself."""

from collections.abc import Callable

from whenthen.errors import FieldError


def checked(field: str, check: Callable[[str], str], text: str) -> str:
    """Return what `check` makes of the text of a field.

    Raises
    ------
    FieldError
        `check` raised `ValueError`.
    """
    try:
        return check(text)
    except ValueError as error:
        raise FieldError(field, str(error)) from error
