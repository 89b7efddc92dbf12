"""Users of the console: the first one, signing in, invitations, new passwords, and who is kept out."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine

from tests.support.embedded import START, House
from tests.support.scenario import OWNER
from whenthen.engine import keys
from whenthen.engine.erasure import erase_owners, request_erasure
from whenthen.engine.users import SignInRefused, User, Users, invitations
from whenthen.engine.users import users as users_module
from whenthen.engine.users.passwords import verify_password
from whenthen.errors import FieldError, NotFound, Refused, Stale
from whenthen.store.erasing import finish_erasing
from whenthen.store.keys import add_user
from whenthen.store.owners import finish_erasure
from whenthen.store.owners import request_erasure as note_erasure
from whenthen.store.profiles import find_zone

PASSWORD, OTHER = "correct horse", "battery staple"
HERE = "192.0.2.1"


@pytest.fixture
def users(house: House) -> Users:
    return house.runtime.users


@pytest.fixture
def admin(users: Users) -> User:
    """The first user, Ada, who has taken over the house's owner."""
    return users.create_first("Ada", PASSWORD, zone="Europe/Paris", api_key=None)


def join(users: Users, admin: User, name: str = "Bob", password: str = OTHER) -> User:
    """Somebody who was invited and has accepted."""
    return users.accept_invitation(users.invite(admin, name), password, "Asia/Tokyo")


def is_in(users: Users, cookie: str) -> bool:
    return users.read_session(cookie) is not None


# The first user


def test_the_first_user_takes_over_what_there_is(house: House, users: Users) -> None:
    house.make_applet()
    assert users.needs_first_user()
    admin = users.create_first("  Ada  ", PASSWORD, zone="Europe/Paris", api_key=None)
    assert (admin.name, admin.owner_id, admin.is_admin, admin.is_disabled) == ("Ada", OWNER, True, False)
    assert find_zone(house.database, OWNER) == "Europe/Paris"
    assert users.sign_in("ada", PASSWORD, address=HERE) == admin
    assert users.list_users() == [admin]


def test_it_is_not_asked_again_whether_there_is_a_user(house: House, users: Users, admin: User) -> None:
    assert not users.needs_first_user()
    sent = len(house.database.sent)
    assert not users.needs_first_user()
    assert len(house.database.sent) == sent
    assert not Users(house.database, house.runtime.keyring).needs_first_user()
    assert len(house.database.sent) == sent + 1


def test_there_is_one_first_user(users: Users, admin: User) -> None:
    with pytest.raises(Stale, match="sign in"):
        users.create_first("Eve", PASSWORD, zone="UTC", api_key=None)
    with pytest.raises(SignInRefused):
        users.sign_in("Eve", PASSWORD, address=HERE)


@pytest.mark.parametrize(
    ("key", "owners", "expected"),
    [
        ("none", 1, OWNER),
        ("own", 1, OWNER),
        ("wrong", 1, "api_key"),
        ("empty", 1, "api_key"),
        ("webhook", 1, "api_key"),
        ("none", 2, "api_key"),
        ("wrong", 2, "api_key"),
        ("own", 2, OWNER),
        ("other", 2, "other"),
        ("none", 0, "new"),
        ("own", 0, "api_key"),
    ],
)
def test_whose_data_the_first_user_gets(house: House, users: Users, key: str, owners: int, expected: str) -> None:
    """Given several owners, then an API key says whose; one that is asked for has to be right. Erased ones are none."""
    given = {"none": None, "own": house.api_key, "wrong": "x", "empty": "", "webhook": house.webhook_key}
    add_user(house.database, "other", "Other")
    given["other"] = keys.create(house.database, "other", "api", "first")[1]
    for gone in [OWNER, "other"][: 2 - owners] if owners == 0 else ["other"][: 2 - owners]:
        note_erasure(house.database, gone)
        finish_erasure(house.database, gone)
    if expected == "api_key":
        with pytest.raises(FieldError) as refused:
            users.create_first("Ada", PASSWORD, zone="UTC", api_key=given[key])
        assert refused.value.field == "api_key"
        assert users.needs_first_user()
        return
    made = users.create_first("Ada", PASSWORD, zone="UTC", api_key=given[key])
    assert made.owner_id == expected or (expected == "new" and made.owner_id not in (OWNER, "other", ""))
    assert house.table(f"SELECT user_id FROM users WHERE user_id = '{made.owner_id}'")


@pytest.mark.parametrize(
    ("name", "password", "zone", "field"),
    [
        (" ", PASSWORD, "UTC", "name"),
        ("a\u202eda", PASSWORD, "UTC", "name"),
        ("Ada", "short", "UTC", "password"),
        ("Ada Lovelace", "adA  lovelace", "UTC", "password"),
        ("Ada", PASSWORD, "", "zone"),
        ("Ada", PASSWORD, "Mars/Olympus", "zone"),
    ],
)
def test_what_the_first_user_gets_wrong(users: Users, name: str, password: str, zone: str, field: str) -> None:
    with pytest.raises(FieldError) as refused:
        users.create_first(name, password, zone=zone, api_key=None)
    assert refused.value.field == field
    assert users.needs_first_user()


def test_whoever_has_a_shell_can_invite_the_first_user(house: House, users: Users) -> None:
    """Given a console that is open to nobody, then who accepts an invitation of the command is an administrator."""
    token = invitations.invite(house.database, "Ada", owner_id=OWNER)
    assert users.needs_first_user(), "an invitation is no password"
    with pytest.raises(FieldError, match="name: is invited already"):
        users.create_first("ada", PASSWORD, zone="UTC", api_key=None)
    admin = users.accept_invitation(token, PASSWORD, "")
    assert (admin.owner_id, admin.is_admin) == (OWNER, True)
    assert not users.needs_first_user()
    with pytest.raises(Stale):
        users.create_first("Eve", PASSWORD, zone="UTC", api_key=None)
    assert not join(users, admin).is_admin


# Signing in


def test_all_that_is_refused_is_refused_alike(
    house: House, users: Users, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given names that are nobody's, disabled, invited or erased, then words and work are those of a wrong password."""
    for name in ("Gone", "Erased"):
        join(users, admin, name)
    users.set_disabled(admin, "gone", True)
    users.invite(admin, "Invited")
    request_erasure(house.database, users.sign_in("erased", OTHER, address=HERE).owner_id)
    checked = []

    def verify(stored: str, password: str) -> bool:
        checked.append(password)
        return verify_password(stored, password)

    monkeypatch.setattr(users_module, "verify_password", verify)
    words = set()
    tries = {"Ada": OTHER, "Nobody": OTHER, "": OTHER, "\ud800": OTHER, "gone": OTHER, "invited": "", "erased": OTHER}
    for number, (name, password) in enumerate(tries.items()):
        with pytest.raises(SignInRefused) as refused:
            users.sign_in(name, password, address=f"192.0.{number}.1")
        words.add(str(refused.value))
    assert words == {"The name or the password is not right."}
    assert len(checked) == len(tries)


@pytest.mark.parametrize("name", ["ada", "ADA", " Ada ", "Ａｄａ"])
def test_the_name_may_be_written_otherwise(users: Users, admin: User, name: str) -> None:
    assert users.sign_in(name, PASSWORD, address=HERE) == admin


# Invitations


def test_somebody_new_gets_data_of_their_own(house: House, users: Users, admin: User) -> None:
    token = users.invite(admin, " Bob ")
    assert users.invitation(token) == "Bob"
    assert [(user.name, user.has_password) for user in users.list_users()] == [("Ada", True), ("Bob", False)]
    bob = users.accept_invitation(token, OTHER, "Asia/Tokyo")
    assert bob.owner_id not in ("", OWNER)
    assert (bob.is_admin, bob.has_password, bob.invited_until) == (False, True, None)
    assert find_zone(house.database, bob.owner_id) == "Asia/Tokyo"
    assert users.sign_in("bob", OTHER, address=HERE) == bob
    assert find_zone(house.database, OWNER) == "Europe/Paris"


def test_an_invitation_is_accepted_once(users: Users, admin: User) -> None:
    token = users.invite(admin, "Bob")
    users.accept_invitation(token, OTHER, "UTC")
    assert users.invitation(token) is None
    with pytest.raises(NotFound):
        users.accept_invitation(token, "a third password", "UTC")
    with pytest.raises(SignInRefused):
        users.sign_in("bob", "a third password", address=HERE)


def test_a_refused_password_or_zone_uses_no_invitation_up(users: Users, admin: User) -> None:
    token = users.invite(admin, "Bob")
    for password, zone, field in (("short", "UTC", "password"), (OTHER, "nowhere", "zone")):
        with pytest.raises(FieldError) as refused:
            users.accept_invitation(token, password, zone)
        assert refused.value.field == field
    assert users.accept_invitation(token, OTHER, "UTC").has_password


def _spoil(change: Callable[[str], str]) -> Callable[[Users, User, time_machine.Traveller, str], str]:
    return lambda _users, _admin, _clock, token: change(token)


def _later(_users: Users, _admin: User, clock: time_machine.Traveller, token: str) -> str:
    clock.shift(timedelta(days=7))
    return token


def _replaced(users: Users, admin: User, _clock: time_machine.Traveller, token: str) -> str:
    users.invite(admin, "bob")
    return token


def _disabled(users: Users, admin: User, _clock: time_machine.Traveller, token: str) -> str:
    users.set_disabled(admin, "Bob", True)
    users.set_disabled(admin, "Bob", False)
    return token


@pytest.mark.parametrize(
    "change",
    [
        _later,
        _replaced,
        _disabled,
        _spoil(lambda token: token[:-1] + ("A" if token[-1] != "A" else "B")),
        _spoil(lambda token: "0" * 32 + token[32:]),
        _spoil(lambda token: token[:33]),
        _spoil(lambda token: token + "\n"),
        _spoil(lambda token: token.upper()),
        _spoil(lambda _token: ""),
        _spoil(lambda token: token * 100_000),
        _spoil(lambda _token: "٠" * 32 + "." + "é" * 32),
        _spoil(lambda _token: "\ud800\x00"),
    ],
)
def test_what_opens_nothing(
    users: Users,
    admin: User,
    clock: time_machine.Traveller,
    change: Callable[[Users, User, time_machine.Traveller, str], str],
) -> None:
    token = users.invite(admin, "Bob")
    clock.shift(timedelta(days=7) - timedelta(minutes=1))
    assert users.invitation(token) == "Bob"
    clock.move_to(START)
    token = change(users, admin, clock, users.invite(admin, "Bob"))
    assert users.invitation(token) is None
    with pytest.raises(NotFound):
        users.accept_invitation(token, OTHER, "UTC")


def test_who_has_lost_a_password_is_invited_again(house: House, users: Users, admin: User) -> None:
    """Given an invitation of a user, then the old password and the sessions hold until it is accepted."""
    bob = join(users, admin)
    cookie = users.session_cookie(bob)
    for number in range(5):
        with pytest.raises(SignInRefused):
            users.sign_in("Bob", "forgotten", address=f"192.0.{number}.1")
    token = users.invite(admin, "BOB")
    assert is_in(users, cookie)
    again = users.accept_invitation(token, "a third password", "not asked for")
    assert (again.name, again.owner_id) == ("Bob", bob.owner_id)
    assert not is_in(users, cookie)
    assert users.sign_in("Bob", "a third password", address=HERE) == again, "the failures are forgotten"
    with pytest.raises(SignInRefused):
        users.sign_in("Bob", OTHER, address=HERE)
    own = users.accept_invitation(invitations.invite(house.database, "Ada"), "a third password", "")
    assert own.is_admin, "who is an administrator stays one"


def test_the_command_names_an_owner(house: House, users: Users, admin: User) -> None:
    token = invitations.invite(house.database, "Bob", owner_id=OWNER, is_admin=True)
    bob = users.accept_invitation(token, OTHER, "")
    assert (bob.owner_id, bob.is_admin) == (OWNER, True)
    add_user(house.database, "other", "Other")
    with pytest.raises(FieldError, match="another owner"):
        invitations.invite(house.database, "Bob", owner_id="other")


def test_only_an_administrator_invites_and_disables(users: Users, admin: User) -> None:
    bob = join(users, admin)
    with pytest.raises(Refused):
        users.invite(bob, "Eve")
    with pytest.raises(Refused):
        users.set_disabled(bob, "Ada", True)
    assert [user.name for user in users.list_users()] == ["Ada", "Bob"]


# New passwords


def test_a_new_password_ends_all_other_sessions(users: Users, admin: User) -> None:
    others = users.session_cookie(admin)
    changed = users.change_password(admin, PASSWORD, OTHER, address=HERE)
    assert not is_in(users, others)
    assert is_in(users, users.session_cookie(changed))
    assert users.sign_in("Ada", OTHER, address=HERE) == changed
    with pytest.raises(SignInRefused):
        users.sign_in("Ada", PASSWORD, address=HERE)


def test_a_new_password_needs_the_old_one(users: Users, admin: User) -> None:
    cookie = users.session_cookie(admin)
    for current, new, field in ((OTHER, "a third password", "current"), (PASSWORD, "short", "password")):
        with pytest.raises(FieldError) as refused:
            users.change_password(admin, current, new, address=HERE)
        assert refused.value.field == field
    assert is_in(users, cookie)
    assert users.sign_in("Ada", PASSWORD, address=HERE) == admin


def test_a_password_that_was_right_a_moment_ago_begins_no_session(users: Users, admin: User) -> None:
    """Given somebody who signed in just before the password was changed, then what they know is of no use any more."""
    signed_in = users.sign_in("Ada", PASSWORD, address=HERE)
    users.change_password(admin, PASSWORD, OTHER, address=HERE)
    with pytest.raises(Stale):
        users.session_cookie(signed_in)


# Keeping out


def test_who_is_disabled_is_out_at_once(house: House, users: Users, admin: User) -> None:
    """Given a disabled user, then page and API are closed to them; what others send to their webhooks still arrives."""
    bob = join(users, admin)
    _, api_key = keys.create(house.database, bob.owner_id, "api", "n8n")
    keys.create(house.database, bob.owner_id, "webhook", "door")
    cookie = users.session_cookie(bob)
    users.set_disabled(admin, " BOB", True)
    assert not is_in(users, cookie)
    with pytest.raises(SignInRefused):
        users.sign_in("Bob", OTHER, address=HERE)
    with pytest.raises(Stale):
        users.session_cookie(bob)
    assert keys.owner_of(house.database, api_key) is None
    assert house.table(f"SELECT kind FROM keys WHERE owner_id = '{bob.owner_id}' AND revoked_at IS NULL") == [
        {"kind": "webhook"}
    ]
    with pytest.raises(FieldError, match="disabled"):
        users.invite(admin, "bob")
    assert keys.owner_of(house.database, house.api_key) == OWNER
    users.set_disabled(admin, "Bob", False)
    assert not is_in(users, cookie), "a session that has ended does not come back"
    assert users.sign_in("Bob", OTHER, address=HERE).owner_id == bob.owner_id


def test_keys_that_another_user_may_need_stay(house: House, users: Users, admin: User) -> None:
    users.accept_invitation(invitations.invite(house.database, "Bob", owner_id=OWNER), OTHER, "")
    users.set_disabled(admin, "Bob", True)
    assert keys.owner_of(house.database, house.api_key) == OWNER


def test_nobody_disables_themselves_or_nobody(users: Users, admin: User) -> None:
    with pytest.raises(FieldError) as refused:
        users.set_disabled(admin, "ADA", True)
    assert refused.value.field == "name"
    with pytest.raises(NotFound):
        users.set_disabled(admin, "nobody", True)


def test_an_erased_owner_has_no_users(house: House, users: Users, admin: User) -> None:
    """Given that an owner is erased, then the names go at once, nobody signs in, and the names are free again."""
    token = invitations.invite(house.database, "Bob", owner_id=OWNER)
    invited = users.invite(admin, "Carol")
    cookie = users.session_cookie(admin)
    request_erasure(house.database, OWNER)
    assert not is_in(users, cookie)
    assert [user.name for user in users.list_users()] == ["Carol"]
    assert users.invitation(token) is None
    assert users.invitation(invited) == "Carol", "she has nothing of that owner's"
    with pytest.raises(SignInRefused):
        users.sign_in("Ada", PASSWORD, address=HERE)
    kept = house.table("SELECT * FROM console_users WHERE shown_name = ''")
    assert len(kept) == 2
    assert {row[column] for row in kept for column in ("owner_id", "password", "session_key", "invited_hash")} == {""}
    assert not users.needs_first_user(), "the console is not open to whoever comes next"
    again = users.accept_invitation(invitations.invite(house.database, "ada", is_admin=True), OTHER, "UTC")
    assert (again.name, again.is_admin, again.owner_id != OWNER) == ("ada", True, True)


def test_a_user_who_came_while_the_owner_was_erased_goes_too(house: House, users: Users, admin: User) -> None:
    request_erasure(house.database, OWNER)
    users.accept_invitation(invitations.invite(house.database, "Bob", owner_id=OWNER), OTHER, "")
    erase_owners(house.runtime.history)
    finish_erasing(house.runtime.history)
    assert users.list_users() == []
