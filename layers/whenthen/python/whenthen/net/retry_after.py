"""The Retry-After header."""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime


def retry_after_seconds(text: str | None, now: float) -> float:
    """Return the wait that a Retry-After asks for (RFC 9110, 10.2.3: seconds or a date), seconds; 0 if unreadable.

    Parameters
    ----------
    text:
        The header as it came, or None.
    now:
        Epoch seconds.
    """
    if text is None:
        return 0.0
    if re.fullmatch(r"\s*[0-9]{1,9}\s*", text):
        return float(int(text))
    try:
        when = parsedate_to_datetime(text)
        # A date without a zone is in UTC (RFC 5322, 3.3).
        at = when.timestamp() if when.tzinfo else when.replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(at - now, 0.0)
