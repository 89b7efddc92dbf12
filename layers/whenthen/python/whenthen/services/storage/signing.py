"""Requests signed for S3 (AWS Signature Version 4)."""

from dataclasses import dataclass, field
from urllib.parse import quote

from whenthen.net.messages import Request

# What lies between may change it (Google's store does), and a signature with it would fit no more.
_UNSIGNED = ("accept-encoding",)


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket and the way in.

    Parameters
    ----------
    base:
        Its address, without a slash at its end.
    """

    base: str
    region: str
    access_key_id: str
    secret_access_key: str = field(repr=False)

    def url(self, key: str) -> str:
        """Return the address of the object with this key: S3 signs the path as it is sent."""
        return f"{self.base}/{quote(key, safe='/~')}"

    def signed(self, request: Request) -> Request:
        """Return the request with a signature, which is good for a quarter of an hour from now."""
        # botocore takes 250 ms to import, too much for the catalogue of services.
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        unsigned = tuple(header for header in request.headers if header[0].lower() in _UNSIGNED)
        headers = dict(header for header in request.headers if header not in unsigned)
        aws = AWSRequest(request.method, request.url, headers, request.body or b"")
        S3SigV4Auth(Credentials(self.access_key_id, self.secret_access_key), "s3", self.region).add_auth(aws)
        return Request(request.method, request.url, (*aws.headers.items(), *unsigned), request.body)
