"""What Todoist's answers mean (developer.todoist.com/api/v1: Sync, Request limits, Errors)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from whenthen.net.messages import Answer
from whenthen.services.answers import json_object, read_status, shortened
from whenthen.services.work import Meaning, Reading

LONGEST_WAIT_SECONDS = 15 * 60
"""The window of Todoist's limits."""


def read_todoist(answer: Answer) -> Reading:
    """Return what an answer's status and error document mean.

    A token that is not valid is 401, or 403 with an error tag of ``AUTH_``.
    """
    document = json_object(answer)
    reading = read_status(answer, _said(document))
    if reading.meaning is Meaning.RETRY and not reading.retry_after_seconds:
        return replace(reading, retry_after_seconds=_wait_seconds(document))
    if answer.status == 403 and str(document.get("error_tag", "")).startswith("AUTH_"):
        return replace(reading, meaning=Meaning.UNAUTHORIZED)
    return reading


def read_command(answer: Answer, uuid: str) -> Reading:
    """Return what became of one command: 200 says that commands were read, and `sync_status` what came of each (F20).

    Parameters
    ----------
    uuid:
        The command's.
    """
    reading = read_todoist(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    statuses = json_object(answer).get("sync_status")
    status = statuses.get(uuid) if isinstance(statuses, Mapping) else None
    if status == "ok":
        return reading
    if not isinstance(status, Mapping):
        return Reading(Meaning.FAILED, "Todoist's answer does not say what became of the task.")
    code = status.get("http_code")
    judged = read_todoist(replace(answer, status=code)) if isinstance(code, int) and code >= 400 else None
    return Reading(
        judged.meaning if judged else Meaning.FAILED,
        f"Todoist did not make the task. It says: {shortened(_said(status)) or 'nothing'}",
        _wait_seconds(status),
    )


def _said(document: Mapping[str, Any]) -> str:
    error = document.get("error")
    return error if isinstance(error, str) else ""


def _wait_seconds(document: Mapping[str, Any]) -> float:
    extra = document.get("error_extra")
    wait = extra.get("retry_after") if isinstance(extra, Mapping) else None
    return float(min(max(wait, 0), LONGEST_WAIT_SECONDS)) if isinstance(wait, int) else 0.0
