"""Keys of KMS, against moto's server: wrapped for their place, asked for once, and every failure told apart."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.support.aws import REGION
from tests.support.processes import free_port
from whenthen.engine.users.sessions import SessionKeys, cookie_for, read_cookie
from whenthen.store.users import UserRow
from whenthen.vault import FileKeys, Keyring, KeysUnavailable, KmsKeys, Place, SealBroken, make_key_file

PLACE = Place("0" * 32, "owner", "github")
OTHER = Place("1" * 32, "owner", "github")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    port = free_port()
    server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def kms(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    client = boto3.client("kms")
    yield client
    client.close()


@pytest.fixture
def key(kms: Any) -> str:
    made: str = kms.create_key()["KeyMetadata"]["KeyId"]
    return made


def close(*keys: KmsKeys) -> None:
    for item in keys:
        item._client.close()


def test_what_one_process_seals_another_opens(key: str) -> None:
    mine, others = KmsKeys(key), KmsKeys(key)
    sealed = Keyring(mine).seal("a secret", PLACE)
    assert sealed.startswith("v1.kms.")
    assert Keyring(others).open(sealed, PLACE) == "a secret"
    close(mine, others)


def test_the_key_of_a_users_sessions_is_asked_for_once(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a user whose sessions another process began, when they are read, then KMS is asked once, for this user."""
    mine, others = KmsKeys(key), KmsKeys(key)
    row = UserRow("a" * 32, "owner", "Ada", is_admin=False)
    row = replace(row, session_key=SessionKeys(Keyring(mine)).seal_new(row.user_key, row.owner_id))
    cookie = cookie_for(row, SessionKeys(Keyring(mine)).open(row))
    asked = []
    ask = others._ask

    def record(operation: str, place: Place, **parameters: Any) -> dict[str, Any]:
        asked.append((operation, place))
        return ask(operation, place, **parameters)

    monkeypatch.setattr(others, "_ask", record)
    opened = SessionKeys(Keyring(others))
    for _ in range(3):
        found = read_cookie(cookie, row, opened)
        assert found is not None
        assert found.user.name == "Ada"
    assert [(operation, place.connection_id) for operation, place in asked] == [("decrypt", row.user_key)]
    moved = replace(row, user_key="b" * 32)
    assert read_cookie("b" * 32 + cookie[32:], moved, opened) is None
    close(mine, others)


def test_each_text_has_a_key_of_its_own(key: str) -> None:
    keys = KmsKeys(key)
    names = {Keyring(keys).seal("x", PLACE).split(".")[2] for _ in range(3)}
    assert len(names) == 3
    close(keys)


def test_kms_itself_refuses_another_place(key: str) -> None:
    """The encryption context: not even the data key can be had for another row."""
    mine, others = KmsKeys(key), KmsKeys(key)
    name, _ = mine.fresh(PLACE)
    with pytest.raises(SealBroken):
        others.find(name, OTHER)
    with pytest.raises(SealBroken):
        mine.find(name, OTHER)
    close(mine, others)


def test_a_key_that_was_unwrapped_is_not_asked_for_again(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = KmsKeys(key)
    sealed = Keyring(keys).seal("x", PLACE)
    monkeypatch.setattr(keys, "_ask", None)
    assert Keyring(keys).open(sealed, PLACE) == "x"
    close(keys)


def test_what_is_no_wrapped_key_is_told(key: str) -> None:
    keys = KmsKeys(key)
    with pytest.raises(SealBroken):
        keys.find("ä", PLACE)
    close(keys)


def test_a_kms_that_does_not_give_a_key_may_do_so_later(kms: Any) -> None:
    keys = KmsKeys("00000000-0000-0000-0000-000000000000")
    with pytest.raises(KeysUnavailable, match="NotFoundException"):
        keys.fresh(PLACE)
    close(keys)


def test_a_kms_that_is_down_may_be_up_later(kms: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setattr("whenthen.vault.kms._TRIES", 1)
    keys = KmsKeys("any")
    with pytest.raises(KeysUnavailable, match="EndpointConnectionError"):
        keys.fresh(PLACE)
    close(keys)


def test_after_a_move_to_kms_older_texts_still_open(key: str, tmp_path: Path) -> None:
    make_key_file(tmp_path / "key")
    files, keys = FileKeys(tmp_path / "key"), KmsKeys(key)
    older = Keyring(files).seal("older", PLACE)
    both = Keyring(keys, files)
    assert both.open(older, PLACE) == "older"
    assert both.seal("newer", PLACE).startswith("v1.kms.")
    with pytest.raises(SealBroken, match="another kind"):
        Keyring(files).open(both.seal("newer", PLACE), PLACE)
    close(keys)
