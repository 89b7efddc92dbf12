"""What GitHub's answers mean (docs.github.com/rest: Troubleshooting, Rate limits, Issues)."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from whenthen.net.messages import Answer
from whenthen.services.answers import json_object, read_status, said_by
from whenthen.services.work import Meaning, Reading

SHORTEST_WAIT_SECONDS = 60.0
"""How long GitHub wants to be left alone when a limit is reached and it doesn't say how long."""

_HINTS = {
    403: "A token needs the permission Issues: read and write for this repository.",
    404: "GitHub also answers so when the token may not see the repository.",
    410: "Issues are turned off in this repository.",
}

_CODES = {
    "missing": "does not exist",
    "missing_field": "is missing",
    "invalid": "is not valid",
    "already_exists": "exists already",
    "unprocessable": "can't be used",
}


def read_made(answer: Answer) -> Reading:
    """Return what the answer to a request that makes something means: done only with the new thing's id (F20)."""
    reading = read_github(answer)
    if reading.meaning is Meaning.SUCCEEDED and not isinstance(json_object(answer).get("id"), int):
        return read_other_than("what was to be made")
    return reading


def read_github(answer: Answer) -> Reading:
    """Return what an answer means. Reached limits come as 403 or 429 and pass; all other 403 are final."""
    reading = read_status(answer, _said(answer))
    if reading.meaning is Meaning.SUCCEEDED:
        return reading
    if answer.status in (403, 429) and (wait := _wait_seconds(answer)):
        return Reading(Meaning.RETRY, f"{reading.reason} A limit of GitHub's is reached.", wait)
    hint = _HINTS.get(answer.status)
    return replace(reading, reason=f"{reading.reason} {hint}") if hint else reading


def read_other_than(expected: str) -> Reading:
    """Return that an answer is not what GitHub gives, though it is 2xx."""
    return Reading(
        Meaning.FAILED, f"The answer is not {expected}, as GitHub gives it. Is the connection's API address right?"
    )


def _wait_seconds(answer: Answer) -> float:
    """Return how long to wait for a limit, seconds; 0 when none was reached."""
    headers = answer.headers
    asked = read_status(replace(answer, status=429)).retry_after_seconds
    if asked:
        return asked
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal() and len(reset) < 12:
        return max(float(int(reset)) - time.time(), 1.0)
    told = answer.status == 429 or "rate limit" in said_by(answer, "message").lower()
    return SHORTEST_WAIT_SECONDS if told else 0.0


def _said(answer: Answer) -> str:
    errors = json_object(answer).get("errors")
    details = [_detail(error) for error in errors] if isinstance(errors, list) else []
    return ". ".join(filter(None, [said_by(answer, "message"), *details]))


def _detail(error: Any) -> str:
    if isinstance(error, str):
        return error
    if not isinstance(error, Mapping):
        return ""
    if isinstance(error.get("message"), str):
        return str(error["message"])
    code = str(error.get("code", ""))
    return f"{error.get('field', '')} {_CODES.get(code, code)}".strip()
