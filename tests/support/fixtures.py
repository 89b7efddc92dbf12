"""Fixtures of the real database server, for every test that wants one."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import alopex
from tests.support.alopex import AlopexServer, MakeServer, Setting


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows the logs of the servers it used."""
    report = yield
    if report.failed:
        fixtures: dict[str, Any] = getattr(item, "funcargs", {})
        servers = {value for value in fixtures.values() if isinstance(value, AlopexServer)}
        report.sections += [("Server logs", server.log()) for server in servers]
    return report


@pytest.fixture(scope="session")
def alopex_binary() -> Path:
    """The real server, built if this machine has none yet (minutes)."""
    return alopex.alopex_binary()


@pytest.fixture
def make_server(alopex_binary: Path, tmp_path: Path) -> Iterator[MakeServer]:
    """`make_server(**settings)` starts one more real server with its own front and data (about 0.1 s)."""
    servers: list[AlopexServer] = []

    def make(*, certificate: Path | None = None, **overrides: Setting) -> AlopexServer:
        server = AlopexServer(alopex_binary, tmp_path / f"alopex-{len(servers)}", certificate=certificate)
        servers.append(server)
        server.start(**overrides)
        return server

    try:
        yield make
    finally:
        for server in servers:
            server.remove()


@pytest.fixture(scope="module")
def shared_server(alopex_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AlopexServer]:
    """One server for a whole module of tests that leave no rows behind."""
    server = AlopexServer(alopex_binary, tmp_path_factory.mktemp("alopex"))
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def server(make_server: MakeServer) -> AlopexServer:
    """A fresh real server as production runs it."""
    return make_server()
