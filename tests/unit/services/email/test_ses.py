"""Amazon SES: against moto's, and what its errors mean."""

import json
import re
from collections.abc import Iterator
from email import message_from_string

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.support.processes import free_port
from tests.support.sink import Reply, Sink
from tests.unit.services.email.conftest import prepared
from whenthen.engine.attempts import describe_request
from whenthen.engine.retry import Unanswered
from whenthen.engine.wire import Sent, perform
from whenthen.errors import FieldError
from whenthen.net import GuardedClient
from whenthen.services.email.connection import EmailAccount
from whenthen.services.email.manifest import SERVICE
from whenthen.services.work import Meaning, Reading

REGION = "eu-west-1"
KEY = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG"


def account(endpoint: str) -> EmailAccount:
    return EmailAccount(
        kind="ses",
        sender="me@example.org",
        region=REGION,
        access_key_id=KEY,
        secret_access_key=SECRET,
        endpoint=endpoint,
    )


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    port = free_port()
    server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


def send(client: GuardedClient, endpoint: str, **fields: str) -> Sent:
    return perform(client, prepared(account(endpoint), **fields), timeout_seconds=10)


def test_ses_gets_the_whole_mail(client: GuardedClient, moto: str) -> None:
    """Given a sender that is verified, then the mail is sent to all; to one that is not, the words say so."""
    unverified = send(client, moto)
    assert isinstance(unverified.result, Reading)
    assert unverified.result.meaning is Meaning.FAILED
    assert "Did not have authority" in unverified.reason
    ses = boto3.client(
        "sesv2", endpoint_url=moto, region_name=REGION, aws_access_key_id=KEY, aws_secret_access_key=SECRET
    )
    ses.create_email_identity(EmailIdentity="me@example.org")
    ses.close()
    sent = send(client, moto, subject="größe", bcc="hidden@example.org", html="<b>x</b>")
    assert sent.result == Reading(Meaning.SUCCEEDED)
    from moto.ses.models import ses_backends

    [found] = ses_backends["123456789012"][REGION].sent_messages
    assert {"ada@example.org", "hidden@example.org"} <= set(found.destinations)
    assert "hidden" not in found.raw_data
    assert message_from_string(found.raw_data)["Auto-Submitted"] == "auto-generated"


def test_the_request_is_signed_and_the_secret_stays_here(client: GuardedClient, sink: Sink) -> None:
    assert send(client, sink.url).result == Reading(Meaning.SUCCEEDED)
    [request] = sink.requests
    assert (request.method, request.path) == ("POST", "/v2/email/outbound-emails")
    assert request.headers["content-type"] == "application/json"
    scope = rf"AWS4-HMAC-SHA256 Credential={KEY}/\d{{8}}/{REGION}/ses/aws4_request, SignedHeaders=content-type;host;"
    assert re.match(scope, request.headers["authorization"])
    assert SECRET not in json.dumps(request.headers)
    document = json.loads(request.body)
    assert document["FromEmailAddress"] == "me@example.org"
    assert document["Destination"] == {"BccAddresses": ["ada@example.org"]}


def test_the_signature_is_not_shown(client: GuardedClient, sink: Sink) -> None:
    sent = send(client, sink.url)
    assert sent.request is not None
    shown = describe_request(sent.request)
    assert "Signature" not in json.dumps(shown)
    assert KEY not in json.dumps(shown)


def error(status: int, kind: str, message: str = "no", **headers: str) -> Reply:
    return Reply(
        status=status,
        headers=(("Content-Type", "application/json"), ("x-amzn-ErrorType", f"{kind}:http://x/"), *headers.items()),
        body=json.dumps({"message": message}).encode(),
    )


@pytest.mark.parametrize(
    ("reply", "meaning"),
    [
        (error(400, "MessageRejected", "Email address is not verified."), Meaning.FAILED),
        (error(400, "BadRequestException"), Meaning.FAILED),
        (error(400, "MailFromDomainNotVerifiedException"), Meaning.FAILED),
        (error(400, "AccountSuspendedException"), Meaning.FAILED),
        (error(400, "LimitExceededException", "Daily message quota exceeded."), Meaning.RETRY),
        (error(429, "TooManyRequestsException", "Maximum sending rate exceeded."), Meaning.RETRY),
        (error(400, "ThrottlingException"), Meaning.RETRY),
        (error(403, "UnrecognizedClientException"), Meaning.UNAUTHORIZED),
        (error(403, "InvalidSignatureException"), Meaning.UNAUTHORIZED),
        (error(403, "AccessDeniedException"), Meaning.UNAUTHORIZED),
        (error(400, "ExpiredTokenException"), Meaning.UNAUTHORIZED),
        (error(503, "ServiceUnavailable"), Meaning.RETRY),
        (Reply(status=400, body=b'{"__type": "com.amazon#ThrottlingException", "message": "slow"}'), Meaning.RETRY),
        (Reply(status=400, body=b"<html>"), Meaning.FAILED),
    ],
)
def test_what_errors_mean(client: GuardedClient, sink: Sink, reply: Reply, meaning: Meaning) -> None:
    sink.reply("/v2/email/outbound-emails", [reply])
    sent = send(client, sink.url)
    assert isinstance(sent.result, Reading)
    assert sent.result.meaning is meaning
    assert sent.reason


def test_too_many_requests_say_how_long(client: GuardedClient, sink: Sink) -> None:
    reply = error(429, "TooManyRequestsException", **{"Retry-After": "17"})
    sink.reply("/v2/email/outbound-emails", [reply])
    assert send(client, sink.url).result.retry_after_seconds == 17  # type: ignore[union-attr]


def test_no_answer_is_unknown(client: GuardedClient, sink: Sink) -> None:
    """SES knows no key by which it would send a mail only once (F01)."""
    sink.reply("/v2/email/outbound-emails", [Reply(close=True)])
    assert send(client, sink.url).result == Unanswered(repeatable=False)


def test_an_address_that_ses_does_not_take_is_named() -> None:
    with pytest.raises(FieldError, match=r"gü@example\.org"):
        prepared(account("https://example.org"), to="gü@example.org")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(body=b'{"SendingEnabled": true}'), "me@example.org"),
        (Reply(body=b'{"SendingEnabled": false}'), Meaning.FAILED),
        (error(403, "UnrecognizedClientException"), Meaning.UNAUTHORIZED),
    ],
)
def test_trying_a_connection(client: GuardedClient, sink: Sink, reply: Reply, expected: object) -> None:
    sink.reply("/v2/email/account", [reply])
    assert SERVICE.connection is not None
    test = SERVICE.connection.test(account(sink.url))
    assert test is not None
    found = test.read(client.send(test.request))
    assert (found.meaning if isinstance(found, Reading) else found) == expected
    assert sink.requests[0].headers["authorization"].startswith("AWS4-HMAC-SHA256")
