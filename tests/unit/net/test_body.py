import gzip
from collections.abc import Iterator

import httpcore2
import pytest

from whenthen.net.body import read_body


def broken() -> Iterator[bytes]:
    yield b"some"
    raise httpcore2.ReadTimeout


@pytest.mark.parametrize(
    ("chunks", "body", "truncated"),
    [
        ([], b"", False),
        ([b"abc", b"de"], b"abcde", False),
        ([b"abc", b"def"], b"abcde", True),
        ([b"abcdef"], b"abcde", True),
        (broken(), b"some", True),
    ],
)
def test_plain_body(chunks, body: bytes, truncated: bool) -> None:
    assert read_body(chunks, gzipped=False, limit_bytes=5) == (body, truncated)


def test_nothing_is_read_beyond_the_limit() -> None:
    chunks = iter([b"abc", b"def", b"never"])
    read_body(chunks, gzipped=False, limit_bytes=5)
    assert next(chunks) == b"never"


PACKED = gzip.compress(b"abcde")


@pytest.mark.parametrize(
    ("chunks", "body", "truncated"),
    [
        ([], b"", False),
        ([PACKED], b"abcde", False),
        ([PACKED[i : i + 1] for i in range(len(PACKED))], b"abcde", False),
        ([gzip.compress(b"ab") + gzip.compress(b"cde")], b"abcde", False),
        ([gzip.compress(b"ab"), gzip.compress(b"cde")], b"abcde", False),
        ([PACKED[:-1]], b"abcde", True),
        ([PACKED, b"garbage"], b"abcde", True),
        ([b"not gzip"], b"", True),
        ([gzip.compress(b"abcdef")], b"abcde", True),
    ],
)
def test_gzipped_body(chunks: list[bytes], body: bytes, truncated: bool) -> None:
    assert read_body(chunks, gzipped=True, limit_bytes=5) == (body, truncated)
