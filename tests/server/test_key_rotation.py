"""The server's key is changed while functions are running."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.alopex import AlopexServer
from whenthen.store.database import ServerDatabase
from whenthen.store.errors import StoreError, Unauthorized


def rotate(server: AlopexServer, key: str) -> None:
    """Restart the server with another key."""
    environment = server._process._env
    assert isinstance(environment, dict)
    environment["ALOPEX__AUTH_MODE__API_KEY"] = key
    server.restart()


def ask(database: ServerDatabase) -> None:
    """Ask something, again when the restart has cut an idle connection."""
    for _ in range(3):
        try:
            database.execute("SELECT 1 AS one")
        except Unauthorized:
            raise
        except StoreError:
            continue
        return


def test_a_new_key_is_read_once_refused_and_used_by_all_connections(server: AlopexServer) -> None:
    """Given several connections with the old key, when it is refused, the new one is read and every call works."""
    reads: list[str] = []

    def read_again() -> str:
        reads.append("new-key")
        return "new-key"

    database = ServerDatabase(server.url, api_key=server.api_key, read_key_again=read_again)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(database), range(40)))
        assert reads == []
        rotate(server, "new-key")
        list(pool.map(lambda _: ask(database), range(80)))
        refused_at_once = len(reads)
        assert 1 <= refused_at_once <= 8
        list(pool.map(lambda _: ask(database), range(40)))
        assert len(reads) == refused_at_once
    database.close()


@pytest.mark.parametrize("read_key_again", [None, lambda: "wrong"])
def test_a_key_that_is_still_wrong_is_told(server: AlopexServer, read_key_again: Callable[[], str] | None) -> None:
    database = ServerDatabase(server.url, api_key="wrong", read_key_again=read_key_again)
    with pytest.raises(Unauthorized):
        database.execute("SELECT 1 AS one")
    database.close()
