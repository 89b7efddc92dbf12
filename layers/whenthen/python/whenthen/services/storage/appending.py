"""Appending to an object without losing what others append at the same time, and only once.

An object is read with its ETag and written with ``If-Match`` (Amazon S3 User Guide, Conditional writes): who comes
second is refused and begins anew. What has been appended is remembered in the object's own metadata, so that a try
whose answer got lost finds itself done.
"""

import base64
import hashlib
import random
import time
from dataclasses import dataclass

from whenthen.net.messages import Answer, Request
from whenthen.services.storage.answers import error_code, read_store
from whenthen.services.storage.signing import Bucket
from whenthen.services.work import Meaning, Reading, Wire

MAX_FILE_BYTES = 1024 * 1024
"""The largest file that is appended to: each addition moves all of it twice."""

DONE_HEADER = "x-amz-meta-whenthen-done"

MAX_METADATA_BYTES = 2048
"""The most that names and values of an object's own metadata may have together."""

MAX_ROUNDS = 12
"""How often a write that came second is begun anew within one try."""

_MARK = 8

# No object has it: an ETag is a hash.
_NO_ETAG = '"00000000000000000000000000000000"'
_CONFLICT = (404, 409, 412)
# aws-chunked is a way of uploading, which some stores keep as if it were the file's coding.
_READABLE_CODINGS = ("", "identity", "gzip", "x-gzip", "aws-chunked")
_KEPT_HEADERS = ("content-type", "cache-control", "content-disposition", "content-language", "expires")
_TOO_LARGE = Reading(
    Meaning.FAILED, "The file is larger than 1 MiB. Begin a new one: a date in the name does it by itself."
)
_UNSAFE = Reading(
    Meaning.FAILED,
    "This store can't append safely: it ignores conditions (If-Match), so lines that come at the same time would be "
    "lost. Store a file for each event instead.",
)


@dataclass(frozen=True, slots=True)
class Addition:
    """What to append.

    Parameters
    ----------
    url:
        Address of the object.
    text:
        What to append, with its line break.
    beginning:
        What a new file begins with.
    content_type:
        Of a new file.
    key:
        The idempotency key.
    """

    bucket: Bucket
    url: str
    text: str
    beginning: str
    content_type: str
    key: str

    def run(self, wire: Wire) -> Reading:
        """Append it, once; see `services.work.Steps`. To be run again when it is not known how it went."""
        for turn in range(MAX_ROUNDS):
            if turn:
                time.sleep(random.uniform(0, min(0.02 * 2**turn, 1.0)))  # noqa: S311
            reading = self._try(wire)
            if reading is not None:
                return reading
        return Reading(Meaning.RETRY, "Others are changing the file all the time.")

    def _try(self, wire: Wire) -> Reading | None:
        """Read and write once; None when somebody else has written in between."""
        found = wire.send(self._read(), max_response_bytes=MAX_FILE_BYTES)
        is_new = found.status == 404 and error_code(found) in ("", "NoSuchKey")
        if not is_new and (reading := _whole(found)).meaning is not Meaning.SUCCEEDED:
            return reading
        if _mark(self.key) in _marks(found):
            return Reading(Meaning.SUCCEEDED)
        if not _marks(found) and (reading := self._probe(wire, found, is_new=is_new)).meaning is not Meaning.SUCCEEDED:
            return reading
        body = self._content(found, is_new=is_new)
        if len(body) > MAX_FILE_BYTES:
            return _TOO_LARGE
        condition = ("If-None-Match", "*") if is_new else ("If-Match", found.headers["etag"])
        written = wire.send(self._write(body, (condition, *self._headers(found, is_new=is_new))))
        if written.status in _CONFLICT and error_code(written) != "NoSuchBucket":
            return None
        return _read_write(written)

    def _probe(self, wire: Wire, found: Answer, *, is_new: bool) -> Reading:
        """Say whether the store keeps conditions: by a write that must be refused and changes nothing if it is not.

        It is done before the first addition to a file. A store that fails it leaves no mark behind, so that it is asked
        again, and fails again, at each further one.
        """
        headers = () if is_new else _kept(found)
        answer = wire.send(self._write(b"" if is_new else found.body, (("If-Match", _NO_ETAG), *headers)))
        if answer.status in _CONFLICT:
            return Reading(Meaning.SUCCEEDED)
        return _read_write(answer) if answer.status >= 300 else _UNSAFE

    def _content(self, found: Answer, *, is_new: bool) -> bytes:
        before = b"" if is_new else found.body
        if not before:
            before = self.beginning.encode()
        elif not before.endswith(b"\n"):
            before += b"\n"
        return before + self.text.encode()

    def _headers(self, found: Answer, *, is_new: bool) -> tuple[tuple[str, str], ...]:
        kept = (("Content-Type", self.content_type),) if is_new else _kept(found)
        others = sum(len(name) + len(value.encode()) for name, value in kept if name.startswith("x-amz-meta-"))
        room = MAX_METADATA_BYTES - others - len(DONE_HEADER)
        marks = [*_marks(found), _mark(self.key)][-max(room // _MARK, 1) :]
        return (*kept, (DONE_HEADER, "".join(marks)))

    def _read(self) -> Request:
        # Compressed on the way, it would have another ETag.
        return self.bucket.signed(Request("GET", self.url, (("Accept-Encoding", "identity"),)))

    def _write(self, body: bytes, headers: tuple[tuple[str, str], ...]) -> Request:
        return self.bucket.signed(Request("PUT", self.url, headers, body))


def _whole(found: Answer) -> Reading:
    """Return whether an object was read as a whole and can be written under a condition."""
    reading = read_store(found)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    if found.truncated:
        too_large = len(found.body) >= MAX_FILE_BYTES
        return _TOO_LARGE if too_large else Reading(Meaning.RETRY, "The file ended early while it was read.")
    if found.headers.get("content-encoding", "").lower() not in _READABLE_CODINGS:
        return Reading(Meaning.FAILED, "The file is compressed, so nothing can be appended to it.")
    # A weak one fits no If-Match (RFC 9110, 13.1.1).
    return _UNSAFE if found.headers.get("etag", "W/").startswith("W/") else reading


def _read_write(answer: Answer) -> Reading:
    # 501 is how stores say that they know no conditions; another try would be told the same.
    return _UNSAFE if answer.status == 501 else read_store(answer)


def _mark(key: str) -> str:
    """Return eight characters that stand for an idempotency key: two of 250 are equal once in 10 billion times."""
    return base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()[:6]).decode()


def _marks(found: Answer) -> list[str]:
    marks = found.headers.get(DONE_HEADER, "") if found.status == 200 else ""
    return [marks[start : start + _MARK] for start in range(0, len(marks), _MARK)]


def _kept(found: Answer) -> tuple[tuple[str, str], ...]:
    """Return the headers that a write must repeat, or they are lost."""
    return tuple(
        (name, value)
        for name, value in found.headers.items()
        if name in _KEPT_HEADERS or (name.startswith("x-amz-meta-") and name != DONE_HEADER)
    )
