"""A calendar on a loopback port."""

from collections.abc import Iterator

import pytest

from tests.support.sink import Sink


@pytest.fixture(scope="module")
def running() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


@pytest.fixture
def sink(running: Sink) -> Sink:
    running.requests.clear()
    return running
