"""Requests signed for S3 (AWS Signature Version 4)."""

from dataclasses import dataclass, field
from urllib.parse import quote

from whenthen.net.messages import Request
from whenthen.services.aws import signed


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
        return signed(
            request,
            service="s3",
            region=self.region,
            access_key_id=self.access_key_id,
            secret_access_key=self.secret_access_key,
        )
