"""The probe against the real server: as it comes it loses writes and is refused, single-flight it is trusted."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.alopex import AlopexServer, MakeServer, Setting
from whenthen.store.database import Database, connect
from whenthen.store.errors import NotReady
from whenthen.store.meta import prove_single_flight, require_ready
from whenthen.store.migrations import migrate

UNSAFE = (
    r"^This Alopex server is not safe: .* loses acknowledged writes \(\d+ increments acknowledged, \d+ stored, "
    r"\d+ conflicts\)\. Set max_concurrency = 1 in its alopex\.toml \(or ALOPEX__MAX_CONCURRENCY=1\), restart it, "
    r"and run `whenthen db migrate` again\.$"
)


@pytest.fixture
def server(make_server: MakeServer) -> AlopexServer:
    """As it comes: `max_concurrency` is the server's own default."""
    return make_server(max_concurrency=None)


@pytest.fixture
def database(server: AlopexServer) -> Iterator[Database]:
    with closing(connect(server.url, api_key=server.api_key)) as found:
        migrate(found)
        yield found


def restart(server: AlopexServer, concurrency: Setting) -> None:
    server.stop_server()
    server.start(max_concurrency=concurrency)


def assert_refused(database: Database) -> None:
    with pytest.raises(NotReady, match=UNSAFE):
        prove_single_flight(database)
    with pytest.raises(NotReady, match=r"no proof that its server runs with max_concurrency = 1"):
        require_ready(database)


def test_the_default_is_refused_and_single_flight_passes(server: AlopexServer, database: Database) -> None:
    assert_refused(database)
    restart(server, 1)
    prove_single_flight(database)
    require_ready(database)


def test_a_proof_ends_with_the_first_probe_that_fails(server: AlopexServer, database: Database) -> None:
    restart(server, 1)
    prove_single_flight(database)
    prove_single_flight(database)
    require_ready(database)
    restart(server, None)
    assert_refused(database)


@pytest.mark.parametrize("concurrency", [2, 4])
def test_a_little_parallel_is_refused_too(server: AlopexServer, database: Database, concurrency: int) -> None:
    restart(server, concurrency)
    assert_refused(database)


def test_the_embedded_engine_passes(tmp_path: Path) -> None:
    for target in (":memory:", str(tmp_path / "store.alopex")):
        with closing(connect(target)) as database:
            migrate(database)
            prove_single_flight(database)
            require_ready(database)
