"""A bucket as Amazon S3 has it: it checks signatures, keeps conditions, and can lose its answers.

The signature is made here anew, by the description of Signature Version 4 and not by the library that is under test.
"""

import hashlib
import hmac
import threading
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote

from tests.support.sink import Recorded, Reply
from tests.support.vendor import Vendor

REGION = "eu-central-1"
KEY_ID = "AKIAIOSFODNN7EXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"


@dataclass(frozen=True)
class Stored:
    """An object."""

    body: bytes
    headers: dict[str, str]

    @property
    def etag(self) -> str:
        return f'"{hashlib.md5(self.body).hexdigest()}"'


def refusal(status: int, code: str, message: str = "No.") -> Reply:
    """An error document."""
    body = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Reply(status, (("Content-Type", "application/xml"),), body.encode())


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature_fits(request: Recorded) -> bool:
    """Say whether a request has the signature that Signature Version 4 asks for."""
    scheme, _, rest = request.headers.get("authorization", "").partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    date, region, service = parts["Credential"].split("/")[1:4]
    names = parts["SignedHeaders"].split(";")
    assert {"host", "x-amz-date", "x-amz-content-sha256"} <= set(names)
    path, _, query = request.path.partition("?")
    pairs = sorted((quote(n, safe="-_.~"), quote(v, safe="-_.~")) for n, v in parse_qsl(query, keep_blank_values=True))
    digest = hashlib.sha256(request.body).hexdigest()
    canonical = "\n".join(
        [
            request.method,
            path,
            "&".join(f"{name}={value}" for name, value in pairs),
            *(f"{name}:{' '.join(request.headers[name].split())}" for name in names),
            "",
            ";".join(names),
            digest,
        ]
    )
    scope = f"{date}/{region}/{service}/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = f"AWS4-HMAC-SHA256\n{request.headers['x-amz-date']}\n{scope}\n{hashed}"
    key = _hmac(_hmac(_hmac(_hmac(f"AWS4{SECRET}".encode(), date), region), service), "aws4_request")
    return (
        scheme == "AWS4-HMAC-SHA256"
        and (region, service) == (REGION, "s3")
        and request.headers["x-amz-content-sha256"] == digest
        and hmac.compare_digest(_hmac(key, to_sign).hex(), parts["Signature"])
    )


class Bucket(Vendor):
    """A bucket ``house``.

    Attributes:
        objects: by key.
        lost: how many answers to writes are still to be lost, after the write.
        ignores_conditions: writes whatever a condition says.
        conditions_status: answers conditions with this, for a store that knows none; 0 for one that does.
    """

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[str, Stored] = {}
        self.lost = 0
        self.ignores_conditions = False
        self.conditions_status = 0
        self._writing = threading.Lock()

    def clear(self) -> None:
        """As it was."""
        self.forget()
        self.objects.clear()
        self.lost, self.ignores_conditions, self.conditions_status = 0, False, 0

    def answer(self, request: Recorded) -> Reply:
        if f"Credential={KEY_ID}/" not in request.headers.get("authorization", ""):
            return refusal(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist.")
        if not signature_fits(request):
            return refusal(403, "SignatureDoesNotMatch")
        bucket, _, key = unquote(request.path.partition("?")[0]).removeprefix("/").partition("/")
        if bucket != "house":
            return refusal(404, "NoSuchBucket")
        if not key:
            return Reply(body=b"<ListBucketResult><Name>house</Name></ListBucketResult>")
        if len(key.encode()) > 1024:
            return refusal(400, "KeyTooLongError")
        with self._writing:
            return self._write(key, request) if request.method == "PUT" else self._read(key)

    def _read(self, key: str) -> Reply:
        found = self.objects.get(key)
        if found is None:
            return refusal(404, "NoSuchKey")
        return Reply(headers=(("ETag", found.etag), *found.headers.items()), body=found.body)

    def _write(self, key: str, request: Recorded) -> Reply:
        headers = request.headers
        conditions = [headers[name] for name in ("if-match", "if-none-match") if name in headers]
        if conditions and self.conditions_status:
            return refusal(self.conditions_status, "NotImplemented")
        found = self.objects.get(key)
        if not self.ignores_conditions:
            if "if-match" in headers and found is None:
                return refusal(404, "NoSuchKey")
            if "if-match" in headers and found is not None and headers["if-match"] != found.etag:
                return refusal(412, "PreconditionFailed")
            if headers.get("if-none-match") == "*" and found is not None:
                return refusal(412, "PreconditionFailed")
        own = {name: value for name, value in headers.items() if name.startswith("x-amz-meta-")}
        if sum(len(name) - len("x-amz-meta-") + len(value) for name, value in own.items()) > 2048:
            return refusal(400, "MetadataTooLarge")
        kept = {name: headers[name] for name in ("content-type", "cache-control") if name in headers}
        self.objects[key] = Stored(request.body, own | kept)
        if self.lost:
            self.lost -= 1
            return Reply(close=True)
        return Reply(headers=(("ETag", self.objects[key].etag),), body=b"")
