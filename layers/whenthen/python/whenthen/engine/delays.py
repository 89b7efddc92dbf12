"""The instant at which a delay ends."""

from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any
from zoneinfo import ZoneInfo

from whenthen.clock import from_datetime
from whenthen.errors import FieldError
from whenthen.model.applet import MAX_DELAY_SECONDS, Delay
from whenthen.model.encoding import Encoding
from whenthen.model.templates import TemplateError, render

_OUR_TEXT = "%B %d, %Y at %I:%M%p"
_SECONDS_DIGITS = 11
"""More digits than these are milliseconds."""


def ends_at(delay: Delay, ingredients: dict[str, Any], zone: str, now: int) -> int:
    """Return when the delay ends, epoch milliseconds; an instant that has passed is in the past, 1970 at the earliest.

    Parameters
    ----------
    ingredients:
        For an instant that one of them names.
    zone:
        The IANA time zone of a time that names none.
    now:
        When the delay begins, epoch milliseconds.

    Raises
    ------
    FieldError
        The text is no instant, or one that is more than `MAX_DELAY_SECONDS` away.
    """
    if delay.seconds is not None:
        return now + delay.seconds * 1000
    try:
        text = render(delay.until or "", ingredients, Encoding.PLAIN).text.strip()
    except TemplateError as error:
        raise FieldError("delay.until", str(error)) from error
    instant = read_instant(text, zone)
    if instant is None:
        raise FieldError("delay.until", f"is no date and time: {text[:60]!r}")
    if instant > now + MAX_DELAY_SECONDS * 1000:
        raise FieldError("delay.until", f"is more than a year away: {text[:60]!r}")
    # Many sources write the year 1 for no date, and no zone's clock can show it.
    return max(instant, 0)


def read_instant(text: str, zone: str) -> int | None:
    """Return the instant that a text names, epoch milliseconds, or None.

    ISO 8601, the dates of feeds and mails (RFC 5322), those of our own ingredients, and epoch seconds or milliseconds.
    """
    if text.isascii() and text.isdigit() and 9 <= len(text) <= 13:
        return int(text) * (1000 if len(text) <= _SECONDS_DIGITS else 1)
    for read in (datetime.fromisoformat, _our_text, parsedate_to_datetime):
        try:
            when = read(text)
            return from_datetime(when if when.tzinfo else when.replace(tzinfo=ZoneInfo(zone)))
        except (ValueError, OverflowError, TypeError):
            continue
    return None


def _our_text(text: str) -> datetime:
    return datetime.strptime(text, _OUR_TEXT)
