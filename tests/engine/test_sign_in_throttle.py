"""How often signing in may be tried: by user, by network, and what is forgotten when."""

from datetime import timedelta

import pytest
import time_machine

from tests.support.embedded import START, House
from whenthen.engine.users import SignInRefused, SignInThrottled, User, Users
from whenthen.engine.users.names import user_key
from whenthen.engine.users.throttle import Throttle
from whenthen.errors import FieldError

PASSWORD = "correct horse"
ADA = user_key("Ada")
MINUTE = 60


@pytest.fixture
def throttle(house: House, clock: time_machine.Traveller) -> Throttle:
    clock.move_to(START, tick=False)
    return Throttle(house.database)


@pytest.fixture
def admin(house: House, throttle: Throttle) -> User:
    return house.runtime.users.create_first("Ada", PASSWORD, zone="UTC", api_key=None)


def addresses(network: int = 0) -> str:
    """An address in a network of its own."""
    return f"10.{network // 256}.{network % 256}.7"


def fail(throttle: Throttle, times: int, *, key: str = ADA, is_user: bool = True) -> None:
    """Let so many tries fail, each from a network of its own, with all the time that it takes."""
    for number in range(times):
        throttle.count(key, is_user=is_user, address=addresses(number))


def wait_of(throttle: Throttle, *, key: str = ADA, is_user: bool = True, address: str = "192.0.2.1") -> int:
    """The seconds to wait; a try that may be made is made."""
    try:
        throttle.count(key, is_user=is_user, address=address)
    except SignInThrottled as error:
        return error.retry_after_seconds
    return 0


@pytest.mark.parametrize("is_user", [True, False])
def test_each_failure_makes_the_next_wait_longer(
    throttle: Throttle, clock: time_machine.Traveller, is_user: bool
) -> None:
    """Given a name that is a user's or nobody's, then five failures cost nothing, and each further one costs more."""
    fail(throttle, 5, is_user=is_user)
    waits = []
    for number in range(10):
        waits.append(wait_of(throttle, is_user=is_user, address=addresses(100 + number)))
        clock.shift(waits[-1] - 1)
        assert wait_of(throttle, is_user=is_user, address=addresses(200 + number)) == 1, (
            "a try too soon counts for nothing"
        )
        clock.shift(1)
        assert wait_of(throttle, is_user=is_user, address=addresses(300 + number)) == 0
    assert waits[:6] == [5, 10, 20, 40, 80, 160]
    assert waits == sorted(waits)
    assert max(waits) == 15 * MINUTE


def test_time_passes_failures_off(throttle: Throttle, clock: time_machine.Traveller) -> None:
    fail(throttle, 5)
    clock.shift(20 * MINUTE)
    assert [wait_of(throttle, address=addresses(50 + number)) for number in range(2)] == [0, 5]
    clock.shift(101 * MINUTE)
    fail(throttle, 5)
    assert wait_of(throttle) == 5


def test_failures_of_a_day_are_not_remembered_for_longer_than_those_of_an_hour(
    throttle: Throttle, clock: time_machine.Traveller
) -> None:
    """Given somebody who tries for a day, as often as they may, then less than five hours later all is forgotten."""
    for number in range(100):
        clock.shift(wait_of(throttle, address=addresses(number)))
        wait_of(throttle, address=addresses(200 + number))
    clock.shift(261 * MINUTE)
    fail(throttle, 5)
    assert wait_of(throttle) == 5


def test_a_user_is_tried_from_many_networks(house: House, admin: User, throttle: Throttle) -> None:
    """Given a user who is tried from everywhere, then signing in waits, from anywhere; who is signed in stays so."""
    users = house.runtime.users
    cookie = users.session_cookie(admin)
    for number in range(5):
        with pytest.raises(SignInRefused):
            users.sign_in("ADA", "wrong password", address=addresses(number))
    with pytest.raises(SignInThrottled, match="Try again in 5 seconds"):
        users.sign_in("Ada", PASSWORD, address="192.0.2.1")
    assert users.read_session(cookie) is not None
    assert wait_of(throttle, key=user_key("Bob")) == 0


def test_signing_in_forgets_the_failures_of_the_user(house: House, admin: User, clock: time_machine.Traveller) -> None:
    users = house.runtime.users
    for number in range(12):
        if number % 4 == 3:
            assert users.sign_in("Ada", PASSWORD, address=addresses(number)) == admin
            continue
        with pytest.raises(SignInRefused):
            users.sign_in("Ada", "wrong password", address=addresses(number))


def test_a_network_may_fail_more_often_than_a_user(throttle: Throttle) -> None:
    """Given one network that tries many names, then it waits, and no other one."""
    for number in range(20):
        throttle.count(user_key(f"user {number}"), is_user=True, address=f"203.0.113.{number}")
    assert wait_of(throttle, address="203.0.113.99") == 5
    assert wait_of(throttle, address="::ffff:203.0.113.1") == 5
    assert wait_of(throttle, address="192.0.2.1") == 0


def test_who_can_sign_in_can_not_try_all_other_names(house: House, admin: User) -> None:
    """Given a user who signs in between tries of other names, then their network waits all the same."""
    users = house.runtime.users
    for number in range(20):
        with pytest.raises(SignInRefused):
            users.sign_in(f"user {number}", "x", address="203.0.113.1")
        if number < 19:
            users.sign_in("Ada", PASSWORD, address="203.0.113.1")
    with pytest.raises(SignInThrottled):
        users.sign_in("Ada", PASSWORD, address="203.0.113.1")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("192.0.2.1", "192.0.2.254", True),
        ("192.0.2.1", "192.0.3.1", False),
        ("::1", "0.0.0.1", False),
        ("", "", True),
        ("testclient", "testclient", True),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("\ud800", "\ud800", True),
    ],
)
def test_what_a_network_is(throttle: Throttle, one: str, other: str, same: bool) -> None:
    for number in range(20):
        throttle.count(user_key(f"user {number}"), is_user=True, address=one)
    assert (wait_of(throttle, address=other) > 0) is same


def test_the_rows_are_bounded(house: House, throttle: Throttle) -> None:
    """Given tries with any number of names that are nobody's, from any number of networks, then the rows stay few."""
    keys = set()
    for number in range(3_000):
        throttle_keys = _keys(throttle, user_key(f"user {number}"), addresses(number))
        keys |= set(throttle_keys)
    assert 1_000 < len(keys) <= 2 * 1_024


def _keys(throttle: Throttle, key: str, address: str) -> tuple[str, str]:
    counted: list[tuple[str, str]] = []
    remember = lambda tried: counted.append((tried.name_key, tried.network_key))  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(throttle, "_count", remember)
        throttle.count(key, is_user=False, address=address)
    return counted[0]


def test_a_new_password_is_throttled_too(house: House, admin: User) -> None:
    """Given somebody at a browser that was left open, then they can't try the password there as often as they like."""
    users = house.runtime.users
    for number in range(5):
        with pytest.raises(FieldError):
            users.change_password(admin, "wrong password", "a third password", address=addresses(number))
    with pytest.raises(SignInThrottled):
        users.change_password(admin, PASSWORD, "a third password", address=addresses(5))


def test_a_clock_that_was_wrong_keeps_nobody_out(
    house: House, throttle: Throttle, clock: time_machine.Traveller
) -> None:
    """Given tries that were counted with a clock a year ahead, when it is put right, then they are forgotten."""
    clock.shift(timedelta(days=365))
    fail(throttle, 5)
    assert wait_of(throttle) == 5
    clock.move_to(START)
    fail(throttle, 5)
    assert wait_of(throttle) == 5


def test_nothing_is_verified_before_it_is_counted(house: House, admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a process that dies while it verifies, then the try has counted."""

    def die(*_arguments: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("whenthen.engine.users.users.verify_password", die)
    users = Users(house.database, house.runtime.keyring)
    for number in range(5):
        with pytest.raises(KeyboardInterrupt):
            users.sign_in("Ada", PASSWORD, address=addresses(number))
    with pytest.raises(SignInThrottled):
        users.sign_in("Ada", PASSWORD, address=addresses(5))
