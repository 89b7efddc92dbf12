"""The errors that callers of more than one package tell apart.

Errors of one package live in that package (`store.errors`, `net.errors`).
The docstring of each class is its message unless a better one is given.
"""

from collections.abc import Sequence


class WhenthenError(Exception):
    """Unexpected whenthen error."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__ or "")


class FieldError(WhenthenError):
    """A field has a bad value.

    Parameters
    ----------
    field:
        Path of the field as people write it, for example ``actions.0.fields.url``.
    message:
        What is wrong, in words the owner understands.
    """

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        self.message = message
        super().__init__(f"{field}: {message}")


class FieldErrors(WhenthenError):
    """Some fields have bad values.

    Parameters
    ----------
    errors:
        What is wrong with each of them, in order.
    """

    def __init__(self, errors: Sequence[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(map(str, errors)))


class Refused(WhenthenError):
    """Whoever asks has not shown that they may."""


class NotFound(WhenthenError):
    """There is no such object."""


class Stale(WhenthenError):
    """The object has changed since it was read."""


class InUse(WhenthenError):
    """The object is used by others; the message names them."""


class TooLarge(WhenthenError):
    """The input is larger than the limit."""


class Unavailable(WhenthenError):
    """The service can't take this now; try again later."""


class NotConfigured(WhenthenError):
    """A setting that is needed is missing."""
