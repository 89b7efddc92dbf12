"""Fixtures of tests on the real server: behind its front, single flight, in both storage regimes."""

import gc
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.alopex import AlopexServer
from tests.support.scenario import Product, make_product
from tests.support.sink import Sink
from tests.support.stores import PLACES, Place, open_place


@dataclass(frozen=True)
class Regime:
    """Where the rows are when they are read.

    A test writes, calls `boundary()`, and reads: once with rows in memory, once with rows in SST files, which
    is a different database as far as speed goes.
    """

    name: str
    server: AlopexServer

    def boundary(self) -> None:
        """What was written so far moves to where this regime wants it."""
        if self.name == "checkpointed":
            self.server.checkpoint()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("server")


@pytest.fixture(params=["memory", "checkpointed"])
def regime(request: pytest.FixtureRequest, server: AlopexServer) -> Regime:
    """The test's `server`, once with its rows in memory and once in SST files."""
    return Regime(request.param, server)


@pytest.fixture
def product(regime: Regime, tmp_path: Path) -> Iterator[Product]:
    """A product on a fresh real server; its processes are ended."""
    made = make_product(regime.server, tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A target that records."""
    with Sink() as running:
        yield running


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Every kind of database, one after the other."""
    with open_place(request.param, request, tmp_path) as found:
        yield found


@pytest.fixture(autouse=True)
def nothing_left_open() -> Iterator[None]:
    """A connection that a test leaves open fails that test, not whichever runs when it is collected."""
    yield
    gc.collect()
