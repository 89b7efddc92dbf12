"""Getting a file from a URL, to attach it."""

import re
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from whenthen.errors import FieldError
from whenthen.net.messages import Request
from whenthen.services.answers import read_status
from whenthen.services.email.message import Attachment, file_name
from whenthen.services.work import Meaning, Reading, Wire

MAX_ATTACHMENT_BYTES = 5 * 1024 * 1024

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,60}/[a-z0-9][a-z0-9!#$&^_.+-]{0,60}")


def fetch(wire: Wire, url: str) -> Attachment | Reading:
    """Return the file at `url`, or what its server's refusal means.

    Raises
    ------
    FieldError
        It is too large, or did not come to its end.
    NetError
        See `Wire.send`.
    """
    answer = wire.send(Request("GET", url), max_response_bytes=MAX_ATTACHMENT_BYTES)
    reading = read_status(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        # The mail's own account has nothing to do with it.
        meaning = Meaning.FAILED if reading.meaning is Meaning.UNAUTHORIZED else reading.meaning
        return Reading(
            meaning, f"The attachment could not be downloaded. {reading.reason}", reading.retry_after_seconds
        )
    if answer.truncated:
        raise FieldError(
            "attachment_url", f"is larger than {MAX_ATTACHMENT_BYTES // 2**20} MB, or did not come to its end"
        )
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(media_type):
        media_type = "application/octet-stream"
    path = unquote(urlsplit(answer.url).path)
    name = file_name(_name_given(answer.headers.get("content-disposition", "")), path, media_type)
    return Attachment(name, media_type, answer.body)


def _name_given(disposition: str) -> str:
    """Return the file name of a Content-Disposition (RFC 6266), or empty text."""
    message = EmailMessage()
    try:
        message["Content-Disposition"] = disposition
        return message.get_filename() or ""
    except (ValueError, LookupError):
        return ""
