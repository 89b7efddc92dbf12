"""Users in every kind of database: of those who come at the same moment one is first, and each try counts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.hostile import FRAGMENTS
from tests.support.stores import Place, at_once
from whenthen.engine.users import SignInRefused, SignInThrottled, User, Users
from whenthen.engine.users import users as users_module
from whenthen.engine.users.invitations import find_invited, invite
from whenthen.errors import NotFound, Stale
from whenthen.store.keys import add_user, list_users
from whenthen.store.statements import Script
from whenthen.store.users import UserRow, find_user, put_user
from whenthen.vault import FileKeys, Keyring, make_key_file

PASSWORD, OTHER = "correct horse", "battery staple"
HERE = "192.0.2.1"


@pytest.fixture
def process(place: Place, tmp_path: Path) -> Callable[[], Users]:
    """Makes what another process knows of the same users."""
    make_key_file(tmp_path / "secrets.key")
    return lambda: Users(place.database, Keyring(FileKeys(tmp_path / "secrets.key")))


@pytest.fixture
def admin(place: Place, process: Callable[[], Users]) -> User:
    """The first user, Ada, who was made before the boundary."""
    made = process().create_first("Ada", PASSWORD, zone="UTC", api_key=None)
    place.boundary()
    return made


def test_of_two_first_users_one_is_first(place: Place, process: Callable[[], Users]) -> None:
    """Given eight people who open a new console at once, then it is one's, and the others are told to sign in."""
    add_user(place.database, "owner", "Owner")

    def come(number: int) -> User | None:
        try:
            return process().create_first(f"User {number}", PASSWORD, zone="UTC", api_key=None)
        except Stale:
            return None

    (first,) = [user for user in at_once(8, come) if user is not None]
    place.boundary()
    assert process().list_users() == [first]
    assert (first.owner_id, first.is_admin) == ("owner", True)
    assert list_users(place.database) == ["owner"]


def test_of_two_who_accept_an_invitation_one_does(place: Place, process: Callable[[], Users], admin: User) -> None:
    token = process().invite(admin, "Bob")

    def accept(number: int) -> tuple[str, User] | None:
        password = f"the password {number}"
        try:
            return password, process().accept_invitation(token, password, "UTC")
        except NotFound:
            return None

    ((password, bob),) = [found for found in at_once(4, accept) if found is not None]
    place.boundary()
    assert process().sign_in("Bob", password, address=HERE) == bob
    assert sorted(list_users(place.database)) == sorted([admin.owner_id, bob.owner_id])


def test_of_two_invitations_of_the_same_name_one_opens(place: Place, admin: User) -> None:
    tokens = at_once(4, lambda _number: invite(place.database, "Bob"))
    place.boundary()
    assert len([token for token in tokens if find_invited(place.database, token) is not None]) == 1


@pytest.mark.parametrize("name", ["Ada", "Nobody"])
def test_tries_at_once_do_not_get_around_the_throttle(
    place: Place, process: Callable[[], Users], admin: User, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given eight threads that try forty passwords, then five are looked at, and the user has to wait."""
    verified = []

    def verify(_stored: str, password: str) -> bool:
        verified.append(password)
        return False

    monkeypatch.setattr(users_module, "verify_password", verify)

    def attack(thread: int) -> list[type[Exception]]:
        users = process()
        ends: list[type[Exception]] = []
        for number in range(5):
            try:
                users.sign_in(name, f"{thread} {number}", address=f"10.{thread}.{number}.1")
            except (SignInRefused, SignInThrottled) as error:
                ends.append(type(error))
        return ends

    ends = [end for thread in at_once(8, attack) for end in thread]
    assert len(verified) == ends.count(SignInRefused) == 5
    assert ends.count(SignInThrottled) == 35


def test_a_session_ends_in_all_processes(place: Place, process: Callable[[], Users], admin: User) -> None:
    users, elsewhere = process(), process()
    cookies = [users.session_cookie(admin), elsewhere.session_cookie(admin)]
    place.boundary()
    assert all(one.read_session(cookie) is not None for one in (users, elsewhere) for cookie in cookies)
    changed = users.change_password(admin, PASSWORD, OTHER, address=HERE)
    assert [one.read_session(cookie) for one in (users, elsewhere) for cookie in cookies] == [None] * 4
    assert elsewhere.read_session(users.session_cookie(changed)) is not None


def test_changes_at_once_are_all_made(place: Place, process: Callable[[], Users], admin: User) -> None:
    """Given an administrator who disables somebody while they sign out and are invited, then they are disabled."""
    bob = process().accept_invitation(process().invite(admin, "Bob"), OTHER, "UTC")

    def change(number: int) -> None:
        users = process()
        if number == 0:
            users.set_disabled(admin, "Bob", True)
        else:
            users.sign_out_everywhere(bob)

    at_once(4, change)
    found = find_user(place.database, bob.user_key)
    assert found is not None
    assert found.disabled_at is not None
    assert found.user_version == bob.version + 4


def test_what_is_written_of_a_user_comes_back(place: Place) -> None:
    """Given hostile texts and numbers, when they are written and changed, then they come back as they were."""
    rows = [
        UserRow(f"{number:032}", text, text, number % 2 == 0, text, text, text, 2**63 - 1, number or None, 0, -(2**62))
        for number, text in enumerate(FRAGMENTS)
    ]
    for row in rows:
        script = Script()
        put_user(script, replace(row, owner_id="", password="", disabled_at=1))
        put_user(script, replace(row, user_version=1))
        place.database.execute(script.sql)
    place.boundary()
    for row in rows:
        assert find_user(place.database, row.user_key) == replace(row, user_version=2)
