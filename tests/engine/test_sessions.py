"""Sessions: what a cookie opens, for how long, and what ends it."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine

from tests.support.embedded import START, House
from whenthen.engine.users import Session, Users
from whenthen.errors import Stale
from whenthen.vault import FileKeys, Keyring, KeysUnavailable, make_key_file

PASSWORD = "correct horse"
HERE = "192.0.2.1"
DAY = timedelta(days=1)


@pytest.fixture
def users(house: House, clock: time_machine.Traveller) -> Users:
    """With one of them, Ada."""
    users = house.runtime.users
    users.create_first("Ada", PASSWORD, zone="UTC", api_key=None)
    return users


@pytest.fixture
def cookie(users: Users) -> str:
    return users.session_cookie(users.sign_in("Ada", PASSWORD, address=HERE))


def read(users: Users, cookie: str) -> Session:
    found = users.read_session(cookie)
    assert found is not None
    return found


def join(users: Users, name: str) -> str:
    """Somebody else; the cookie of their session."""
    token = users.invite(users.sign_in("Ada", PASSWORD, address=HERE), name)
    return users.session_cookie(users.accept_invitation(token, PASSWORD, "UTC"))


def another(house: House) -> Users:
    """What another process knows."""
    return Users(house.database, house.runtime.keyring)


def test_a_session_says_who_it_is_and_costs_one_select(house: House, users: Users, cookie: str) -> None:
    sent = len(house.database.sent)
    session = read(users, cookie)
    assert house.database.sent[sent:] == [
        f"SELECT * FROM console_users WHERE user_key = CAST('{session.user.user_key}' AS TEXT)"
    ]
    assert session.user == users.sign_in("Ada", PASSWORD, address=HERE)
    assert "Ada" not in cookie
    assert len(cookie) < 200


def test_the_key_of_a_users_sessions_is_opened_once(
    house: House, users: Users, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def open_(self: Keyring, *arguments: object) -> str:
        opened.append(arguments)
        return unpatched(self, *arguments)  # type: ignore[arg-type]

    unpatched = Keyring.open
    monkeypatch.setattr(Keyring, "open", open_)
    elsewhere = another(house)
    assert [read(elsewhere, cookie).csrf for _ in range(3)] == [read(users, cookie).csrf] * 3
    assert len(opened) == 1


def test_forms_have_a_token_that_only_this_session_has(users: Users, cookie: str) -> None:
    session = read(users, cookie)
    other = read(users, users.session_cookie(session.user))
    assert len({session.csrf, other.csrf, read(users, join(users, "Bob")).csrf}) == 3
    assert session.csrf not in cookie
    assert session.csrf not in repr(session)


@pytest.mark.parametrize(
    ("after", "is_in", "is_old"),
    [
        (timedelta(), True, False),
        (DAY, True, False),
        (DAY + timedelta(seconds=1), True, True),
        (30 * DAY, True, True),
        (30 * DAY + timedelta(seconds=1), False, None),
        (3000 * DAY, False, None),
        (timedelta(minutes=-5), True, False),
        (timedelta(minutes=-6), False, None),
    ],
)
def test_how_long_a_session_holds(
    users: Users, cookie: str, clock: time_machine.Traveller, after: timedelta, is_in: bool, is_old: bool | None
) -> None:
    """Given a clock that is a little behind that of the cookie, then it holds too; one far ahead is not believed."""
    clock.move_to(START + after, tick=False)
    session = users.read_session(cookie)
    assert (session is not None) is is_in
    if session is not None:
        assert session.is_old is is_old


def test_a_renewed_session_is_the_same_one(users: Users, cookie: str, clock: time_machine.Traveller) -> None:
    """Given a form that was opened before the cookie was renewed, then it can still be sent."""
    session = read(users, cookie)
    clock.shift(20 * DAY)
    renewed = users.renewed_cookie(read(users, cookie))
    clock.shift(20 * DAY)
    assert users.read_session(cookie) is None
    assert read(users, renewed).csrf == session.csrf
    assert not read(users, users.renewed_cookie(read(users, renewed))).is_old


def _signed_by_another(cookie: str, other: str) -> str:
    return ".".join([*cookie.split(".")[:3], other.split(".")[3]])


@pytest.mark.parametrize(
    "change",
    [
        lambda _cookie, _other: "",
        lambda _cookie, _other: "x",
        lambda _cookie, _other: "...",
        lambda _cookie, _other: "\ud800\x00\n",
        lambda cookie, _other: cookie[:-43] + ("A" if cookie[-43] != "A" else "B") + cookie[-42:],
        lambda cookie, _other: cookie + "\n",
        lambda cookie, _other: cookie + "." + cookie,
        lambda cookie, _other: cookie * 50_000,
        lambda cookie, _other: "0" * 32 + cookie[32:],
        lambda cookie, other: other[:32] + cookie[32:],
        lambda cookie, other: cookie[:33] + other[33:55] + cookie[55:],
        _signed_by_another,
        lambda cookie, _other: cookie.upper(),
        lambda cookie, _other: ".".join([*cookie.split(".")[:2], "______________", cookie.split(".")[3]]),
        lambda cookie, _other: "٠" * 32 + cookie[32:],
        lambda cookie, _other: cookie.rpartition(".")[0],
    ],
)
def test_what_is_no_session(users: Users, cookie: str, change: Callable[[str, str], str]) -> None:
    assert users.read_session(change(cookie, join(users, "Bob"))) is None


def test_signing_out_everywhere_holds_in_all_processes_at_once(house: House, users: Users, cookie: str) -> None:
    """Given a process that has seen the session, when it is ended in another one, then it has ended."""
    elsewhere, others = another(house), join(users, "Bob")
    session = read(elsewhere, cookie)
    users.sign_out_everywhere(session.user)
    assert elsewhere.read_session(cookie) is None
    assert read(elsewhere, others).user.name == "Bob"
    with pytest.raises(Stale):
        users.renewed_cookie(session)
    assert read(users, users.session_cookie(users.sign_in("Ada", PASSWORD, address=HERE))).user.name == "Ada"


def test_keys_that_can_not_be_had_sign_nobody_out(house: House, users: Users, cookie: str) -> None:
    """Given that the key for secrets is away, then whoever is asked knows it or can't tell."""
    path = house.runtime.settings.secrets_key_path
    away = path.rename(path.with_name("away"))
    fresh = Users(house.database, keyring_of(house))
    with pytest.raises(KeysUnavailable):
        fresh.read_session(cookie)
    assert read(users, cookie).user.name == "Ada", "it was opened before"
    assert fresh.read_session("garbage") is None
    away.rename(path)
    assert read(fresh, cookie).user.name == "Ada"


def test_another_key_for_secrets_signs_everybody_out_and_in_again(house: House, users: Users, cookie: str) -> None:
    """Given that the key for secrets is lost, then sessions have ended, and the password opens as before."""
    path = house.runtime.settings.secrets_key_path
    path.unlink()
    make_key_file(path)
    fresh = Users(house.database, keyring_of(house))
    assert fresh.read_session(cookie) is None
    assert read(fresh, fresh.session_cookie(fresh.sign_in("ada", PASSWORD, address=HERE))).user.name == "Ada"


def test_a_key_that_was_moved_to_another_user_opens_nothing(house: House, users: Users, cookie: str) -> None:
    """Given somebody who can only write to the database, when they give a user another's key, then it opens nothing."""
    others = join(users, "Bob")
    read(users, others)
    stolen = house.table("SELECT session_key FROM console_users WHERE shown_name = 'Bob'")[0]["session_key"]
    house.table(f"UPDATE console_users SET session_key = '{stolen}' WHERE shown_name = 'Ada'")
    for process in (users, another(house)):
        assert process.read_session(cookie) is None
        assert process.read_session(cookie[:32] + others[32:]) is None


def keyring_of(house: House) -> Keyring:
    """A keyring that has not read the key yet."""
    return Keyring(FileKeys(house.runtime.settings.secrets_key_path))
