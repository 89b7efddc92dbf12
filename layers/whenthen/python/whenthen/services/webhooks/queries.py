"""Queries of the webhooks service."""

from collections.abc import Sequence

from whenthen.net.messages import Answer
from whenthen.services.webhooks.actions import web_request
from whenthen.services.webhooks.fields import WebRequestFields
from whenthen.services.work import Ask, Meaning, Reading, Row, Task, read_by_status

MAX_BODY_BYTES = 24 * 1024
"""The longest answer that becomes an ingredient; it has to fit beside what the execution keeps."""


def ask_web(task: Task[WebRequestFields]) -> Ask:
    """Return the request that the task's fields describe.

    Raises
    ------
    FieldError
        The headers can't be read after rendering.
    """
    return Ask(web_request(task.fields), read=_read)


def _read(answer: Answer) -> Sequence[Row] | Reading:
    reading = read_by_status(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    if answer.truncated or len(answer.body) > MAX_BODY_BYTES:
        return Reading(Meaning.FAILED, f"The answer is longer than {MAX_BODY_BYTES} bytes.")
    return [
        {
            "StatusCode": str(answer.status),
            "ContentType": answer.headers.get("content-type", ""),
            "Body": answer.body.decode("utf-8", "replace"),
        }
    ]
