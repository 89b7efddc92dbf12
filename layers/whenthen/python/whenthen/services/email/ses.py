"""Amazon SES, API version 2 (SendEmail and GetAccount), with requests signed for AWS (Signature Version 4)."""

import base64
import json
from collections.abc import Sequence

from whenthen.net.messages import Answer, Request
from whenthen.services import aws
from whenthen.services.answers import json_object, read_status, said_by
from whenthen.services.email.connection import EmailAccount
from whenthen.services.work import Meaning, Reading

_UNAUTHORIZED = {
    "AccessDeniedException",
    "ExpiredTokenException",
    "IncompleteSignatureException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_PASSING = {"LimitExceededException", "ThrottlingException", "TooManyRequestsException"}


def send_request(account: EmailAccount, recipients: Sequence[str], content: bytes) -> Request:
    """Return the request, not signed yet, that sends a whole message to these addresses."""
    document = {
        "FromEmailAddress": account.sender,
        # All of them here: only the message says who is seen as what.
        "Destination": {"BccAddresses": list(recipients)},
        "Content": {"Raw": {"Data": base64.b64encode(content).decode()}},
    }
    return Request(
        "POST",
        f"{_endpoint(account)}/v2/email/outbound-emails",
        (("Content-Type", "application/json"),),
        json.dumps(document).encode(),
    )


def account_request(account: EmailAccount) -> Request:
    """Return the signed request that asks for the state of the account."""
    return signed(account, Request("GET", f"{_endpoint(account)}/v2/email/account"))


def signed(account: EmailAccount, request: Request) -> Request:
    """Return the request as it is to be sent now; its signature holds for minutes."""
    return aws.signed(
        request,
        service="ses",
        region=account.region,
        access_key_id=account.access_key_id,
        secret_access_key=account.secret_access_key,
    )


def read_ses(answer: Answer) -> Reading:
    """Return what SES's answer means; the kind of an error stands in a header or in the body."""
    kind = answer.headers.get("x-amzn-errortype", "") or said_by(answer, "__type", "code")
    kind = kind.partition(":")[0].rpartition("#")[2]
    reading = read_status(answer, said_by(answer, "message", "Message"))
    if reading.meaning is Meaning.SUCCEEDED:
        return reading
    if kind in _UNAUTHORIZED or answer.status == 403:
        return Reading(Meaning.UNAUTHORIZED, reading.reason)
    if kind in _PASSING:
        return Reading(Meaning.RETRY, reading.reason, reading.retry_after_seconds)
    return reading


def _endpoint(account: EmailAccount) -> str:
    return account.endpoint or f"https://email.{account.region}.amazonaws.com"


def read_account(answer: Answer) -> Reading:
    """Return whether the account may send."""
    reading = read_ses(answer)
    if reading.meaning is Meaning.SUCCEEDED and json_object(answer).get("SendingEnabled") is False:
        return Reading(Meaning.FAILED, "Amazon SES has paused this account's sending.")
    return reading
