"""What a store's answers mean (Amazon S3 API Reference: Error responses)."""

import html
import re

from whenthen.net.messages import Answer
from whenthen.services.answers import read_status, shortened
from whenthen.services.work import Meaning, Reading

_WORDS = {
    "AccessDenied": (
        Meaning.FAILED,
        "The access key may not do this. It needs to list the bucket, to get objects and to put objects.",
    ),
    "AuthorizationHeaderMalformed": (Meaning.FAILED, "The connection's region is not the bucket's."),
    "IllegalLocationConstraintException": (Meaning.FAILED, "The connection's region is not the bucket's."),
    "PermanentRedirect": (Meaning.FAILED, "The bucket is at another address: the region or the endpoint is not right."),
    "NoSuchBucket": (Meaning.FAILED, "There is no bucket of this name."),
    "InvalidAccessKeyId": (Meaning.UNAUTHORIZED, "The store does not know the access key ID."),
    "SignatureDoesNotMatch": (Meaning.UNAUTHORIZED, "The secret access key does not fit the access key ID."),
    "ExpiredToken": (Meaning.UNAUTHORIZED, "The access key has expired."),
    "InvalidToken": (Meaning.UNAUTHORIZED, "The access key is not valid."),
    "RequestTimeTooSkewed": (Meaning.RETRY, "The clocks of whenthen and of the store differ too much."),
    "OperationAborted": (Meaning.RETRY, "Something else is changing this just now."),
    "RequestTimeout": (Meaning.RETRY, "The store waited too long for the file."),
    "SlowDown": (Meaning.RETRY, "Too many requests came; the store wants to be left alone for a while."),
}

_CODE = re.compile(r"<Code>([^<>]{1,100})</Code>")
_MESSAGE = re.compile(r"<Message>([^<>]{1,2000})</Message>")


def error_code(answer: Answer) -> str:
    """Return the code of a store's error document, or empty text."""
    return _first(_CODE, answer)


def read_store(answer: Answer) -> Reading:
    """Return what an answer means: by the error's code where it is known, else by the status."""
    code = error_code(answer)
    reading = read_status(answer, f"{code} {_first(_MESSAGE, answer)}".strip())
    if reading.meaning is Meaning.SUCCEEDED or code not in _WORDS:
        return reading
    meaning, words = _WORDS[code]
    wait = reading.retry_after_seconds if meaning is Meaning.RETRY else 0.0
    return Reading(meaning, f"{words} ({answer.status} {shortened(code)})", wait)


def _first(pattern: re.Pattern[str], answer: Answer) -> str:
    # A pattern expands no entities, however the document defines them.
    found = pattern.search(answer.body[:65_536].decode("utf-8", "replace"))
    return html.unescape(found[1]) if found else ""
