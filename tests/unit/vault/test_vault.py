"""Sealed texts: they open where they were sealed, with the key they were sealed with, unchanged, and nowhere else."""

import base64
import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whenthen.errors import NotConfigured
from whenthen.vault import FileKeys, Keyring, KeysUnavailable, Place, SealBroken, make_key_file

PLACE = Place("0" * 32, "owner", "github")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "home" / "secrets.key"
    make_key_file(made)
    return made


def ring(path: Path) -> Keyring:
    return Keyring(FileKeys(path))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT)
def test_what_is_sealed_opens_again(path: Path, text: str) -> None:
    sealed = ring(path).seal(text, PLACE)
    assert ring(path).open(sealed, PLACE) == text
    assert len(text) < 4 or text not in sealed


@pytest.mark.parametrize(
    "other",
    [
        Place("1" * 32, "owner", "github"),
        Place("0" * 32, "another", "github"),
        Place("0" * 32, "owner", "todoist"),
        Place("0" * 32, 'owner", "github', ""),
    ],
)
def test_it_opens_at_its_own_row_alone(path: Path, other: Place) -> None:
    keys = ring(path)
    with pytest.raises(SealBroken):
        keys.open(keys.seal("secret", PLACE), other)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_is_seen(path: Path, position: int, change: int) -> None:
    keys = ring(path)
    head, _, encoded = keys.seal("a secret of some length", PLACE).rpartition(".")
    content = bytearray(base64.urlsafe_b64decode(encoded))
    content[position % len(content)] ^= change
    with pytest.raises(SealBroken):
        keys.open(f"{head}.{base64.urlsafe_b64encode(content).decode()}", PLACE)


@pytest.mark.parametrize(
    "sealed",
    [
        "",
        "x",
        "v1.file.x",
        "v2.file.{name}.AAAA",
        "v1.kms.{name}.AAAA",
        "v1.file.{name}.",
        "v1.file.{name}.ä",
        "v1.file.{name}.AAAA",
        "v1..{name}.AAAA",
    ],
)
def test_what_is_no_sealed_text_does_not_open(path: Path, sealed: str) -> None:
    name, _ = FileKeys(path).fresh(PLACE)
    with pytest.raises(SealBroken):
        ring(path).open(sealed.replace("{name}", name), PLACE)


def test_the_same_text_is_never_sealed_alike(path: Path) -> None:
    keys = ring(path)
    assert len({keys.seal("secret", PLACE) for _ in range(100)}) == 100


def test_another_key_is_named_as_such(path: Path, tmp_path: Path) -> None:
    sealed = ring(path).seal("secret", PLACE)
    make_key_file(tmp_path / "other")
    with pytest.raises(SealBroken, match="another key"):
        ring(tmp_path / "other").open(sealed, PLACE)


def test_a_key_file_is_its_owners_alone_and_is_never_replaced(path: Path) -> None:
    before = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    make_key_file(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["secrets.key"]


def test_two_that_make_it_at_once_have_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secrets.key"
    pids = iter(range(20))
    monkeypatch.setattr(os, "getpid", lambda: next(pids))
    threads = [threading.Thread(target=make_key_file, args=(path,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ring(path).open(ring(path).seal("x", PLACE), PLACE) == "x"
    assert [file.name for file in tmp_path.iterdir()] == ["secrets.key"]


def test_a_missing_file_is_told_with_the_setting(path: Path) -> None:
    sealed = ring(path).seal("secret", PLACE)
    path.unlink()
    with pytest.raises(NotConfigured, match="WHENTHEN_KMS_KEY_ID"):
        ring(path).seal("secret", PLACE)
    with pytest.raises(KeysUnavailable, match="WHENTHEN_SECRETS_KEY_FILE"):
        ring(path).open(sealed, PLACE)


@pytest.mark.parametrize("content", ["", "short", "AAAA", base64.b64encode(b"x" * 31).decode(), "ä" * 44])
def test_a_file_that_holds_no_key_is_told(path: Path, content: str) -> None:
    path.write_text(content, "utf-8")
    with pytest.raises(NotConfigured, match="WHENTHEN_SECRETS_KEY_FILE"):
        ring(path).seal("secret", PLACE)


def test_a_place_says_nothing_in_two_ways() -> None:
    assert Place("a", "b", "c").associated_data() != Place("a", 'b", "c', "").associated_data()
