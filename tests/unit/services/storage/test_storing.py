"""Files stored whole, signatures, and what a store's answers mean."""

from datetime import UTC, datetime

import pytest
import time_machine
from pydantic import ValidationError

from tests.support.acting import Acting, meaning
from tests.support.sink import Reply
from tests.unit.services.storage.samples import ACCOUNT
from tests.unit.services.storage.stand_in import Bucket, refusal
from whenthen.engine.attempts import describe_request
from whenthen.engine.retry import Unanswered
from whenthen.errors import FieldError
from whenthen.net import Request
from whenthen.services.storage.actions import MAX_FETCHED_BYTES
from whenthen.services.storage.connection import StorageConnectionFields
from whenthen.services.storage.signing import Bucket as Signed
from whenthen.services.work import Meaning, Reading


def test_a_text_is_stored(acting: Acting, bucket: Bucket) -> None:
    sent = acting.act("put_text", {"key": "/notes/ö +&?#%.txt", "text": "é\n"})
    assert (meaning(sent), sent.reason) == (Meaning.SUCCEEDED, "")
    stored = bucket.objects["notes/ö +&?#%.txt"]
    assert stored.body == "é\n".encode()
    assert stored.headers["content-type"] == "text/plain; charset=utf-8"


def test_secrets_are_not_shown(acting: Acting) -> None:
    sent = acting.act("put_text", {"key": "a.txt", "text": "x"})
    assert sent.request is not None
    shown = str(describe_request(sent.request))
    for secret in (ACCOUNT["secret_access_key"], ACCOUNT["access_key_id"], "Signature="):
        assert secret not in shown
    assert ACCOUNT["secret_access_key"] not in repr(acting.account) + repr(acting.prepare("put_text", _TEXT))
    assert "authorization" not in str(describe_request(acting.prepare("put_text", _TEXT).request)).lower()


_TEXT = {"key": "a.txt", "text": "x"}


def test_a_signature_is_that_of_the_specification() -> None:
    """The first example of "Signature Calculations for the Authorization Header" in the Amazon S3 API Reference."""
    bucket = Signed(
        "https://examplebucket.s3.amazonaws.com", "us-east-1", ACCOUNT["access_key_id"], ACCOUNT["secret_access_key"]
    )
    with time_machine.travel(datetime(2013, 5, 24, tzinfo=UTC), tick=False):
        signed = bucket.signed(Request("GET", bucket.url("test.txt"), (("Range", "bytes=0-9"),)))
    signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    assert dict(signed.headers)["Authorization"].endswith(f"Signature={signature}")


@pytest.mark.parametrize(
    ("fields", "base"),
    [
        ({}, "https://house.s3.eu-central-1.amazonaws.com"),
        ({"bucket": "my.house"}, "https://s3.eu-central-1.amazonaws.com/my.house"),
        ({"addressing": "path"}, "https://s3.eu-central-1.amazonaws.com/house"),
        ({"endpoint": "https://s3.example.org:9000/"}, "https://s3.example.org:9000/house"),
        ({"endpoint": "https://s3.example.org", "addressing": "host"}, "https://house.s3.example.org"),
    ],
)
def test_where_a_bucket_is(fields: dict[str, str], base: str) -> None:
    assert StorageConnectionFields.model_validate({**ACCOUNT, **fields}).opened().base == base


@pytest.mark.parametrize("field", ["bucket", "region", "endpoint"])
@pytest.mark.parametrize("value", ["a/b", "a@b", "a b", "ä", "https://e.org?x", "h"])
def test_where_no_bucket_can_be(field: str, value: str) -> None:
    if (field, value) == ("region", "h"):
        return
    with pytest.raises(ValidationError) as caught:
        StorageConnectionFields.model_validate({**ACCOUNT, field: value})
    assert caught.value.errors()[0]["loc"] == (field,)


@pytest.mark.parametrize("key", ["", " ", "/", "a/", "a/../b", "../a", "./a", "a\nb", "é" * 513])
def test_names_that_no_file_can_have(acting: Acting, key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        acting.prepare("put_text", {"key": key, "text": ""})
    assert caught.value.errors()[0]["loc"] == ("key",)


def test_what_a_template_made_of_a_name_is_checked(acting: Acting) -> None:
    for slug, others in (("put_text", {"text": ""}), ("append_line", {"line": ""}), ("append_csv_row", {"row": [""]})):
        with pytest.raises(FieldError) as caught:
            acting.prepare(slug, {**others, "key": "{{/../x"})
        assert caught.value.field == "key"


@pytest.mark.parametrize(
    ("reply", "expected", "words"),
    [
        (refusal(403, "AccessDenied"), Meaning.FAILED, "may not do this"),
        (refusal(403, "InvalidAccessKeyId"), Meaning.UNAUTHORIZED, "access key ID"),
        (refusal(403, "SignatureDoesNotMatch"), Meaning.UNAUTHORIZED, "does not fit"),
        (refusal(400, "AuthorizationHeaderMalformed"), Meaning.FAILED, "region"),
        (refusal(301, "PermanentRedirect"), Meaning.FAILED, "another address"),
        (refusal(404, "NoSuchBucket"), Meaning.FAILED, "no bucket"),
        (refusal(503, "SlowDown"), Meaning.RETRY, "left alone"),
        (refusal(400, "RequestTimeout"), Meaning.RETRY, "waited too long"),
        (refusal(403, "RequestTimeTooSkewed"), Meaning.RETRY, "clocks"),
        (refusal(507, "QuotaFull", "Full &amp; &#x27;more&#x27;"), Meaning.RETRY, "QuotaFull Full & 'more'"),
        (refusal(400, "Odd", "&laugh;" * 9), Meaning.FAILED, "Odd &laugh;"),
        (Reply(403, body=b"\xff\x00"), Meaning.FAILED, "403"),
        (Reply(429, (("Retry-After", "9"),)), Meaning.RETRY, "429"),
    ],
)
def test_answers(acting: Acting, bucket: Bucket, reply: Reply, expected: Meaning, words: str) -> None:
    bucket.reply("/house/log.txt", [reply])
    for slug, fields in (("put_text", {"text": "x"}), ("append_line", {"line": "x"})):
        sent = acting.act(slug, {**fields, "key": "log.txt"})
        assert (meaning(sent), words in sent.reason) == (expected, True), sent.reason


def test_storing_again_does_no_harm(acting: Acting, bucket: Bucket) -> None:
    bucket.lost = 1
    assert acting.act("put_text", _TEXT).result == Unanswered(repeatable=True)
    assert meaning(acting.act("put_text", _TEXT)) is Meaning.SUCCEEDED


def test_a_file_is_fetched_and_stored(acting: Acting, bucket: Bucket) -> None:
    photo = bytes(range(256)) * 8000
    bucket.reply("/file", [Reply(headers=(("Content-Type", "image/jpeg"),), body=photo)])
    sent = acting.act("put_from_url", {"key": "a.jpg", "url": bucket.url + "/file?token=x"})
    assert (meaning(sent), sent.reason) == (Meaning.SUCCEEDED, "")
    assert bucket.objects["a.jpg"].body == photo
    assert bucket.objects["a.jpg"].headers["content-type"] == "image/jpeg"
    assert "authorization" not in bucket.requests[0].headers


@pytest.mark.parametrize(
    ("reply", "expected", "words"),
    [
        (Reply(body=b"x" * (MAX_FETCHED_BYTES + 1)), Meaning.FAILED, "larger than 5 MiB"),
        (Reply(headers=(("Content-Encoding", "gzip"),), body=b"plain"), Meaning.RETRY, "ended early"),
        (Reply(headers=(("Content-Encoding", "br"),), body=b"x"), Meaning.FAILED, "compressed"),
        (Reply(404), Meaning.FAILED, "404"),
        (Reply(401), Meaning.FAILED, "401"),
        (Reply(503), Meaning.RETRY, "503"),
    ],
)
def test_half_a_file_is_never_stored(
    acting: Acting, bucket: Bucket, reply: Reply, expected: Meaning, words: str
) -> None:
    """A 401 of the file's server is not the connection's."""
    bucket.reply("/file", [reply])
    sent = acting.act("put_from_url", {"key": "a.jpg", "url": bucket.url + "/file"})
    assert (meaning(sent), words in sent.reason) == (expected, True), sent.reason
    assert bucket.objects == {}


def test_a_connection_is_tried_out(acting: Acting, bucket: Bucket) -> None:
    assert acting.test() == "house"
    for reply in (refusal(403, "AccessDenied"), Reply(body=b"<html>")):
        bucket.reply("/house/", [reply])
        result = acting.test()
        assert isinstance(result, Reading)
        assert result.meaning is Meaning.FAILED


def test_a_secret_that_does_not_fit_is_the_connections_fault(bucket: Bucket) -> None:
    acting = Acting("storage", {**ACCOUNT, "endpoint": bucket.url, "secret_access_key": "other"})
    assert meaning(acting.act("put_text", _TEXT)) is Meaning.UNAUTHORIZED
    assert meaning(acting.act("append_line", {"key": "a.txt", "line": "x"})) is Meaning.UNAUTHORIZED
