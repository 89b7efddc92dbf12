"""A bucket, and a connection to it."""

from collections.abc import Iterator

import pytest

from tests.support.acting import Acting
from tests.unit.services.storage.samples import ACCOUNT
from tests.unit.services.storage.stand_in import Bucket


@pytest.fixture(scope="module")
def running() -> Iterator[Bucket]:
    with Bucket() as bucket:
        yield bucket


@pytest.fixture
def bucket(running: Bucket) -> Bucket:
    running.clear()
    return running


@pytest.fixture
def acting(bucket: Bucket) -> Acting:
    return Acting("storage", {**ACCOUNT, "endpoint": bucket.url})
