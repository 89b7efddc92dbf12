"""Requests signed for AWS and for who speaks its APIs (Signature Version 4)."""

from dataclasses import replace
from typing import Literal

from whenthen.net.messages import Request

# What lies between may change it (Google's store does), and a signature with it would fit no more.
_UNSIGNED = ("accept-encoding",)


def signed(
    request: Request, *, service: Literal["s3", "ses"], region: str, access_key_id: str, secret_access_key: str
) -> Request:
    """Return the request with a signature, which is good for some minutes from now."""
    # botocore takes 250 ms to import, too much for the catalogue of services.
    from botocore.auth import S3SigV4Auth, SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    unsigned = tuple(header for header in request.headers if header[0].lower() in _UNSIGNED)
    headers = dict(header for header in request.headers if header not in unsigned)
    aws = AWSRequest(request.method, request.url, headers, request.body or b"")
    # S3 signs a path as it is sent, the others sign it encoded once more.
    auth = S3SigV4Auth if service == "s3" else SigV4Auth
    auth(Credentials(access_key_id, secret_access_key), service, region).add_auth(aws)
    return replace(request, headers=(*aws.headers.items(), *unsigned))
