"""The same against somebody else's idea of a store: moto's."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.support.acting import Acting, meaning
from tests.support.processes import free_port
from tests.unit.services.storage.samples import ACCOUNT
from whenthen.services.work import Meaning, Reading


@pytest.fixture(scope="module")
def store() -> Iterator[tuple[str, Any]]:
    port = free_port()
    server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    server.start()
    url = f"http://127.0.0.1:{port}"
    client = boto3.client(
        "s3", endpoint_url=url, region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x"
    )
    client.create_bucket(Bucket="house", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    try:
        yield url, client
    finally:
        client.close()
        server.stop()


def test_files_of_all_kinds(store: tuple[str, Any]) -> None:
    url, client = store
    acting = Acting("storage", {**ACCOUNT, "endpoint": url})
    assert acting.test() == "house"
    tries: list[tuple[str, dict[str, Any]]] = [
        ("put_text", {"key": "ö/a b.txt", "text": "é"}),
        ("append_line", {"key": "log.txt", "line": "one"}),
        ("append_line", {"key": "log.txt", "line": "two"}),
        ("append_line", {"key": "log.txt", "line": "two"}),
        ("append_csv_row", {"key": "log.csv", "row": ["1", "2"], "header": ["a", "b"]}),
        ("append_csv_row", {"key": "log.csv", "row": ["3", "4"], "header": ["a", "b"]}),
    ]
    for slug, fields in tries:
        sent = acting.act(slug, fields, key=str(fields))
        assert (meaning(sent), sent.reason) == (Meaning.SUCCEEDED, "")
    files = {
        key: client.get_object(Bucket="house", Key=key)["Body"].read() for key in ("ö/a b.txt", "log.txt", "log.csv")
    }
    assert files == {"ö/a b.txt": "é".encode(), "log.txt": b"one\ntwo\n", "log.csv": b"a,b\n1,2\n3,4\n"}


def test_a_bucket_that_is_not_there(store: tuple[str, Any]) -> None:
    acting = Acting("storage", {**ACCOUNT, "endpoint": store[0], "bucket": "other"})
    result = acting.test()
    assert isinstance(result, Reading)
    assert "no bucket" in result.reason
    assert "no bucket" in acting.act("append_line", {"key": "a", "line": "x"}).reason
