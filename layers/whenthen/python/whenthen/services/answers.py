"""What an HTTP answer means where its service says nothing more, in words for people who are no programmers."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from whenthen.model.encoding import one_line
from whenthen.model.values import without_surrogates
from whenthen.net.messages import Answer
from whenthen.net.retry_after import retry_after_seconds
from whenthen.services.work import Meaning, Reading

_LONGEST = 300

# Seconds. The engine has a limit of its own; a number beyond this one is no wait.
_LONGEST_WAIT = 1e9

_RETRIED = {408, 425, 429}

_MEANINGS = {
    400: "it could not make sense of the request",
    401: "the credentials were not accepted",
    402: "it wants a payment first",
    403: "these credentials may not do this",
    404: "there is nothing at this address",
    405: "this address does not take such requests",
    409: "it is at odds with what is there already",
    410: "what was at this address is gone for good",
    413: "the request is too large for it",
    415: "it does not take this kind of content",
    422: "it did not accept the values",
    429: "too many requests came; it wants to be left alone for a while",
    500: "something went wrong there",
    502: "something behind it is out of order",
    503: "it can't do this now",
    504: "something behind it did not answer",
}


def read_status(answer: Answer, said: str = "") -> Reading:
    """Return what an answer means by its status: 2xx is done; 408, 425, 429 and 5xx may pass (R6); 401 is about the
    credentials; all else is final.

    Parameters
    ----------
    said:
        What the body says about a failure, in its own words; see `said_by`.
    """
    status = answer.status
    if 200 <= status < 300:
        return Reading(Meaning.SUCCEEDED)
    reason = _reason(status, said)
    if status in _RETRIED or status >= 500:
        return Reading(Meaning.RETRY, reason, retry_after_seconds(answer.headers.get("retry-after"), time.time()))
    return Reading(Meaning.UNAUTHORIZED if status == 401 else Meaning.FAILED, reason)


def _reason(status: int, said: str) -> str:
    try:
        name = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        name = str(status)
    words = f" It says: {shortened(said)}" if said.strip() else ""
    meaning = f": {_MEANINGS[status]}" if status in _MEANINGS else ""
    return f"The target answered {name}{meaning}.{words}"


def shortened(text: str) -> str:
    """Return text of a target as one line of at most 300 characters that can be stored."""
    line = without_surrogates(one_line(text)).strip()
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def json_object(answer: Answer) -> Mapping[str, Any]:
    """Return the body as a JSON object; an empty one for anything else."""
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def said_by(answer: Answer, *names: str) -> str:
    """Return the first of these members of a JSON body that is a text, or empty text."""
    document = json_object(answer)
    return next((document[name] for name in names if isinstance(document.get(name), str)), "")


def wait_at_least(reading: Reading, seconds: Any) -> Reading:
    """Return a reading that waits `seconds`, if it waits at all, where they are a number and more than it has."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if (
        reading.meaning is not Meaning.RETRY
        or not is_number
        or not reading.retry_after_seconds < seconds < _LONGEST_WAIT
    ):
        return reading
    return replace(reading, retry_after_seconds=float(seconds))


def not_from(target: str) -> Reading:
    """Return what an answer means that says success and is not as `target` answers: another page, or a login."""
    return Reading(Meaning.FAILED, f"What answered is not {target}. Is the address right?")


def in_words(target: str, code: str, words: Mapping[str, str]) -> str:
    """Return why `target` refused something: what its error code means, or the code itself, quoted."""
    known = words.get(code)
    return f"{target} says that {known} ({code})." if known else f"{target} says: {shortened(code) or 'nothing'}."
