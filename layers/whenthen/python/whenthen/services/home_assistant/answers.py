"""What Home Assistant's answers mean (developers.home-assistant.io: REST API)."""

import json
from dataclasses import replace
from typing import Any

from whenthen.net.messages import Answer
from whenthen.services.answers import read_status, said_by
from whenthen.services.work import Meaning, Reading

_HINTS = {
    400: "Home Assistant answers so when it has no such service, or the service does not take this data.",
    401: "The token may have been deleted, or its person may not do this.",
    403: "Home Assistant bans addresses after failed logins, when it is set up to.",
    404: "Is the connection's address right?",
}


def read_home_assistant(answer: Answer) -> Reading:
    """Return what an answer's status means."""
    reading = read_status(answer, said_by(answer, "message"))
    hint = _HINTS.get(answer.status)
    return replace(reading, reason=f"{reading.reason} {hint}") if hint else reading


def read_called(answer: Answer) -> Reading:
    """Return what the answer to a call of a service means: a list of states, or it was somebody else's answer (F20)."""
    reading = read_home_assistant(answer)
    if reading.meaning is not Meaning.SUCCEEDED or answer.truncated:
        return reading
    return reading if isinstance(document_of(answer), list) else read_other_than("a list of states")


def read_webhook(answer: Answer) -> Reading:
    """Return what the answer to a webhook means. It is 200 for a webhook that is unknown, too: that is a secret."""
    if answer.status == 405:
        return Reading(
            Meaning.FAILED, "The webhook does not take POST requests. Allow POST in its automation in Home Assistant."
        )
    return read_home_assistant(answer)


def read_other_than(expected: str) -> Reading:
    """Return that an answer is not Home Assistant's, though it is 2xx: a log-in page on the way, or another server."""
    return Reading(
        Meaning.FAILED,
        f"The answer is not {expected}, as Home Assistant gives it. Is the connection's address right, and does it "
        "lead there without a login?",
    )


def document_of(answer: Answer) -> Any:
    """Return the body's JSON document, None when it is none."""
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
