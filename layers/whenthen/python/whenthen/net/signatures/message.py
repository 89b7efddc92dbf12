"""A signed request as it came, and what all schemes do with it."""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from whenthen.errors import Refused

WINDOW_SECONDS = 300
"""How far from now a signed time may be, both ways: what Stripe, Slack and Standard Webhooks advise."""

_DIGITS_OF_MILLISECONDS = 13
"""Of the years 2001 to 2286; seconds of these years have ten digits at most."""


class Forged(Refused):
    """The signature is not valid."""


@dataclass(frozen=True, slots=True)
class Message:
    """A request.

    Parameters
    ----------
    headers:
        Names in lower case and values, each as often as it was sent.
    body:
        The raw bytes.
    """

    headers: tuple[tuple[str, str], ...]
    body: bytes

    def optional(self, name: str) -> str:
        """Return the header's value, empty when it was not sent.

        Raises
        ------
        Forged
            It was sent more than once: others may have read the other one.
        """
        values = [value for header, value in self.headers if header == name.lower()]
        if len(values) > 1:
            raise Forged
        return values[0] if values else ""

    def header(self, name: str) -> str:
        """Return the header's value.

        Raises
        ------
        Forged
            It was not sent, is empty, or was sent more than once.
        """
        value = self.optional(name)
        if not value:
            raise Forged
        return value


def raw(value: str) -> bytes:
    """Return a header's value as it was on the wire."""
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError as error:
        raise Forged from error


def check_time(text: str, now: float) -> None:
    """Check that a signed time is near `now`, epoch seconds.

    Parameters
    ----------
    text:
        Whole epoch seconds, or milliseconds with 13 digits.

    Raises
    ------
    Forged
        It is no such number, or too far away.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS_OF_MILLISECONDS):
        raise Forged
    seconds = int(text) / 1000 if len(text) == _DIGITS_OF_MILLISECONDS else int(text)
    if abs(now - seconds) > WINDOW_SECONDS:
        raise Forged


def check_signature(expected: str, given: Iterable[str]) -> None:
    """Check that one of the signatures is the expected one, in constant time.

    Raises
    ------
    Forged
        None is.
    """
    wanted = expected.encode()
    # All are compared: how long it takes says nothing.
    if sum(hmac.compare_digest(wanted, raw(signature)) for signature in given) == 0:
        raise Forged
