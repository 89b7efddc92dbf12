"""Fixtures of tests on the whole product inside this process."""

from collections.abc import Iterator

import pytest

from tests.support.embedded import House, make_house
from tests.support.sink import Sink


@pytest.fixture
def house() -> Iterator[House]:
    """A fresh product with one owner and nothing else."""
    with make_house() as house:
        yield house


@pytest.fixture(scope="module")
def module_sink() -> Iterator[Sink]:
    with Sink() as sink:
        yield sink


@pytest.fixture
def sink(module_sink: Sink) -> Sink:
    """A local target for actions that has seen nothing yet and answers 200 everywhere."""
    module_sink.requests.clear()
    module_sink._replies.clear()
    return module_sink
