"""Fixtures of tests on the whole product inside this process."""

from collections.abc import Iterator

import pytest
import time_machine

from tests.support.embedded import START, House, make_house, notification
from tests.support.listing import Listing, register
from tests.support.sink import Sink


@pytest.fixture
def house() -> Iterator[House]:
    """A fresh product with one owner and nothing else."""
    with make_house() as house:
        yield house


@pytest.fixture(scope="module")
def shared() -> Iterator[House]:
    """A house for tests that leave nothing behind."""
    with make_house() as house:
        yield house


@pytest.fixture
def listening(house: House) -> House:
    """A house that shows the three values of `door`, and the payload of its JSON form."""
    house.make_applet(actions=[notification("[{{Value1}}|{{Value2}}|{{Value3}}]")])
    house.make_applet(kind="json_event", actions=[notification("{{JsonPayload}}")])
    return house


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The clock, five minutes into a slot."""
    with time_machine.travel(START) as traveller:
        yield traveller


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


@pytest.fixture
def other_sink() -> Iterator[Sink]:
    """A target that is another host."""
    with Sink() as sink:
        yield sink


@pytest.fixture
def listing(house: House, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> Listing:
    """A list that applets of the house can check, empty at first."""
    register(monkeypatch.setitem)
    return Listing(house, sink)
