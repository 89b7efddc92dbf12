"""What the answers of a Mastodon server mean."""

import time
from datetime import datetime
from urllib.parse import urlsplit

from whenthen.net.messages import Answer
from whenthen.services.answers import not_from, read_status, said_by, shortened, wait_at_least
from whenthen.services.work import Meaning, Reading

# Mastodon's base_controller.rb: neither is 401, and neither passes without another token.
_UNAUTHORIZED = ("outside the authorized scopes", "requires an authenticated user")


def read_answer(answer: Answer) -> Reading:
    """Return what an answer means: the status decides, the body's `error` says why."""
    error = said_by(answer, "error")
    reading = read_status(answer, error)
    if reading.meaning is Meaning.SUCCEEDED:
        return reading if said_by(answer, "id") else not_from("Mastodon")
    if any(words in error for words in _UNAUTHORIZED):
        reason = f"Mastodon says that the access token does not allow this ({shortened(error)})."
        return Reading(Meaning.UNAUTHORIZED, reason)
    if answer.status != 429:
        # All answers tell when the limit's window ends.
        return reading
    return wait_at_least(reading, _seconds_until(answer.headers.get("x-ratelimit-reset", "")))


def read_account(answer: Answer) -> str | Reading:
    """Return the account's name with its server (verify_credentials)."""
    reading = read_answer(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    return f"@{said_by(answer, 'username')}@{urlsplit(answer.url).hostname}"


def _seconds_until(text: str) -> float:
    """Return the seconds until a time of ISO 8601 with a zone; 0 if it is none."""
    try:
        return max(datetime.fromisoformat(text).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return 0.0
