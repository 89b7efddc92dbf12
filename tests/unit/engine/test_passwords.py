"""Passwords: which are refused, and how they are kept."""

import re
import time

import pytest

from whenthen.engine.users import passwords
from whenthen.engine.users.names import check_name, user_key
from whenthen.engine.users.passwords import check_new_password, hash_password, verify_password
from whenthen.errors import FieldError

GOOD = "correct horse"


@pytest.mark.parametrize(
    "password", [GOOD, "ぱすわーどは長い方がいい", "x\x00y" * 4, "🚪🔑🪟🏠🛋️🛏️🚿🪞", "\ud800 is no letter", "0xZ" * 66]
)
def test_a_good_password_opens_and_no_other_does(password: str) -> None:
    check_new_password(password, "ada")
    stored = hash_password(password)
    assert verify_password(stored, password)
    for other in (password[:-1], password + " ", password.swapcase() + ".", "", GOOD + "x"):
        assert not verify_password(stored, other)


@pytest.mark.parametrize(
    ("password", "words"),
    [
        ("", "at least 10"),
        ("123456789", "at least 10"),
        ("\u1112\u1161\u11ab" * 5, "at least 10"),
        ("xY9" * 66 + "123", "at most 200"),
        ("\ufdfa" * 100, "at most 200"),
        ("x" * 5_000_000, "at most 200"),
        ("Ada Lovelace", "your name"),
        ("  ADA  lovelace", "your name"),
        ("password123", "first that others try"),
        ("PassWord123", "first that others try"),
        ("Ｐａｓｓｗｏｒｄ１２３", "first that others try"),
        ("aaaaaaaaaaaa", "first that others try"),
        ("abababababab", "first that others try"),
    ],
    ids=lambda value: value[:16],
)
def test_what_is_guessed_at_once_is_refused(password: str, words: str) -> None:
    with pytest.raises(FieldError, match=words) as refused:
        check_new_password(password, "Ada Lovelace")
    assert refused.value.field == "password"


def test_the_same_characters_in_another_form_are_the_same_password() -> None:
    """Given an "é" that one keyboard sends as one character and another as two, then both open."""
    assert verify_password(hash_password("caf\u00e9 au lait"), "cafe\u0301 au lait")


def test_hashes_are_argon2id_with_a_salt_of_their_own() -> None:
    stored = {hash_password(GOOD) for _ in range(2)}
    assert len(stored) == 2
    assert all(one.startswith("$argon2id$v=19$m=19456,t=2,p=1$") for one in stored)


def test_no_password_takes_as_long_and_opens_nothing() -> None:
    """Given somebody who tries a name that is nobody's, when it is refused, then the same work was done."""
    form = re.compile(r"(\$argon2id\$.*\$)[\w+/]{22}\$[\w+/]{43}")
    nobody, somebody = form.fullmatch(passwords._NOBODY), form.fullmatch(hash_password(GOOD))
    assert nobody is not None
    assert somebody is not None
    assert nobody[1] == somebody[1]
    for password in ("", GOOD):
        assert not verify_password("", password)


def test_a_password_of_megabytes_costs_nothing() -> None:
    start = time.monotonic()
    assert not verify_password(hash_password(GOOD), "\ufdfa" * 20_000_000)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    "same", ["Zoë Straße", "  zoë   STRASSE ", "ZOE\u0308 strasse", "ｚｏë straße", "zoë\tstraße\n"]
)
def test_names_that_people_take_for_the_same(same: str) -> None:
    assert user_key(same) == user_key("Zoë Straße")
    assert check_name("  Zoë \u00a0 Straße ") == "Zoë Straße"


@pytest.mark.parametrize("other", ["Zoe Straße", "ZoëStraße", "", "\ud800", "x" * 10_000_000])
def test_other_names(other: str) -> None:
    assert user_key(other) != user_key("Zoë Straße")


@pytest.mark.parametrize("name", ["", " \t", "\u3000", "a\x00b", "a\u202eb", "a\ud800", "x" * 61, "x" * 5_000_000])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(FieldError) as refused:
        check_name(name)
    assert refused.value.field == "name"
