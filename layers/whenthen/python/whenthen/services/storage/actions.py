"""Actions of the storage service. All may be repeated: a PUT by nature (RFC 9110, 9.2.2), an addition by its mark."""

import re

from whenthen.net.messages import Answer, Request
from whenthen.services.answers import read_status
from whenthen.services.rendered import checked
from whenthen.services.storage.answers import read_store
from whenthen.services.storage.appending import Addition
from whenthen.services.storage.csv_rows import csv_row
from whenthen.services.storage.fields import (
    AppendCsvRowFields,
    AppendLineFields,
    PutFromUrlFields,
    PutTextFields,
    check_key,
)
from whenthen.services.storage.signing import Bucket
from whenthen.services.work import Meaning, Reading, Steps, Task, Wire

MAX_FETCHED_BYTES = 5 * 1024 * 1024
"""The largest file that is fetched to be stored."""

_LINE_BREAKS = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_UNDONE_CODINGS = ("", "identity", "gzip", "x-gzip")


def put_text(task: Task[PutTextFields]) -> Steps:
    """Return the steps that store a text, in place of what has the same name.

    Raises
    ------
    FieldError
        The file's name is none after rendering.
    """
    fields = task.fields
    bucket: Bucket = task.account.opened()
    charset = "; charset=utf-8" if fields.content_type.startswith("text/") else ""
    url = bucket.url(checked("key", check_key, fields.key))
    request = Request("PUT", url, (("Content-Type", fields.content_type + charset),), fields.text.encode())

    def run(wire: Wire) -> Reading:
        # A signature holds for minutes only, so each try has its own.
        return read_store(wire.send(bucket.signed(request)))

    return Steps(request, run, repeatable=True)


def put_from_url(task: Task[PutFromUrlFields]) -> Steps:
    """Return the steps that fetch a file and store it, all of it or nothing.

    Raises
    ------
    FieldError
        The file's name is none after rendering.
    """
    bucket: Bucket = task.account.opened()
    request = Request("PUT", bucket.url(checked("key", check_key, task.fields.key)))

    def run(wire: Wire) -> Reading:
        found = wire.send(Request("GET", task.fields.url), max_response_bytes=MAX_FETCHED_BYTES)
        reading = _read_source(found)
        if reading.meaning is not Meaning.SUCCEEDED:
            return reading
        content_type = found.headers.get("content-type", "application/octet-stream")
        store = Request("PUT", request.url, (("Content-Type", content_type),), found.body)
        return read_store(wire.send(bucket.signed(store)))

    return Steps(request, run, repeatable=True)


def append_line(task: Task[AppendLineFields]) -> Steps:
    """Return the steps that append a line to a text file.

    Raises
    ------
    FieldError
        The file's name is none after rendering.
    """
    return _append(task, _LINE_BREAKS.sub(" ", task.fields.line) + "\n", "", "text/plain; charset=utf-8")


def append_csv_row(task: Task[AppendCsvRowFields]) -> Steps:
    """Return the steps that append a row to a CSV file.

    Raises
    ------
    FieldError
        The file's name is none after rendering.
    """
    header = csv_row(task.fields.header) if task.fields.header else ""
    return _append(task, csv_row(task.fields.row), header, "text/csv; charset=utf-8")


def _append(
    task: Task[AppendLineFields] | Task[AppendCsvRowFields], text: str, beginning: str, content_type: str
) -> Steps:
    bucket: Bucket = task.account.opened()
    url = bucket.url(checked("key", check_key, task.fields.key))
    addition = Addition(bucket, url, text, beginning, content_type, task.key)
    return Steps(Request("PUT", url, (("Content-Type", content_type),), text.encode()), addition.run, repeatable=True)


def _read_source(answer: Answer) -> Reading:
    """Return whether a fetched file is there and whole. What is wrong with it is not the connection's fault."""
    reading = read_status(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        meaning = Meaning.RETRY if reading.meaning is Meaning.RETRY else Meaning.FAILED
        return Reading(meaning, f"The file could not be fetched. {reading.reason}", reading.retry_after_seconds)
    if answer.truncated and len(answer.body) >= MAX_FETCHED_BYTES:
        return Reading(Meaning.FAILED, "The file is larger than 5 MiB, so it was not stored.")
    if answer.truncated:
        return Reading(Meaning.RETRY, "The file ended early, so it was not stored.")
    if answer.headers.get("content-encoding", "").lower() not in _UNDONE_CODINGS:
        return Reading(Meaning.FAILED, "The file came compressed in a way that can't be undone, so it was not stored.")
    return reading
