"""Connections to a bucket: where it is and an access key."""

import re
from functools import partial
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints

from whenthen.net.messages import Answer, Request
from whenthen.services.addresses import server_address
from whenthen.services.connecting import ConnectionType, Test, Token
from whenthen.services.contract import Fields
from whenthen.services.storage.answers import read_store
from whenthen.services.storage.signing import Bucket
from whenthen.services.work import Meaning, Reading

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}", re.ASCII)


def _endpoint(text: str) -> str:
    return server_address(text) if text.strip() else ""


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("must be the name of a bucket: letters, digits, dots and hyphens")
    return text


class StorageConnectionFields(Fields):
    """Which bucket, and how to get in."""

    bucket: Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_name), Field(title="Bucket")]
    region: Annotated[
        str,
        StringConstraints(strip_whitespace=True, max_length=64, pattern=r"^[a-z0-9-]+$"),
        Field(title="Region", description="Such as eu-central-1; many stores that are not Amazon's want us-east-1."),
    ]
    access_key_id: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=256, pattern=r"^[!-~]+$"), Field(title="Access key ID")
    ]
    secret_access_key: Annotated[
        Token,
        Field(
            title="Secret access key",
            description="Of a key that may list the bucket, get objects and put objects, and nothing else.",
        ),
    ]
    endpoint: Annotated[
        str,
        StringConstraints(max_length=2048),
        AfterValidator(_endpoint),
        Field(title="Endpoint", description="Address of a store that is not Amazon's; empty for Amazon S3."),
    ] = ""
    addressing: Annotated[
        Literal["automatic", "path", "host"],
        Field(
            title="Addressing",
            description="Whether the bucket's name is in the path or the host of addresses. "
            "Automatic: the host at Amazon, the path elsewhere.",
        ),
    ] = "automatic"

    def opened(self) -> Bucket:
        """Return the bucket."""
        server = self.endpoint or f"https://s3.{self.region}.amazonaws.com"
        # A name with dots matches no certificate of the store's.
        in_host = self.addressing == "host" or (
            self.addressing == "automatic" and not self.endpoint and "." not in self.bucket
        )
        if in_host:
            parts = urlsplit(server)
            base = parts._replace(netloc=f"{self.bucket}.{parts.netloc}").geturl()
        else:
            base = f"{server}/{self.bucket}"
        return Bucket(base, self.region, self.access_key_id, self.secret_access_key)


def _account(answer: Answer, *, name: str) -> str | Reading:
    reading = read_store(answer)
    if reading.meaning is not Meaning.SUCCEEDED:
        return reading
    if b"ListBucketResult" not in answer.body:
        return Reading(Meaning.FAILED, "The answer is not a store's. Are endpoint and bucket right?")
    return name


def _test(fields: StorageConnectionFields) -> Test:
    bucket = fields.opened()
    request = bucket.signed(Request("GET", f"{bucket.base}/?list-type=2&max-keys=1"))
    return Test(request, partial(_account, name=fields.bucket))


CONNECTION = ConnectionType(
    fields=StorageConnectionFields,
    description="A bucket of Amazon S3, or of a store that speaks its API, such as Cloudflare R2 or MinIO.",
    test=_test,
)
