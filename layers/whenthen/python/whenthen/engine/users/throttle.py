"""How often signing in may be tried.

Each try is counted before the password is looked at, in the database, since many processes answer. A user has a row.
Names that are nobody's share rows, so that a wait does not tell which names there are, and networks share rows, so that
there is a bounded number of them. After some failures each further one makes the next wait longer, up to 15 minutes.
Every 20 minutes take one off.
"""

import hashlib
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from whenthen.clock import Deadline, now_ms
from whenthen.engine.users.errors import SignInThrottled
from whenthen.store.database import Database
from whenthen.store.sign_in_tries import count_try, ease_tries, forget_tries, read_tries
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

_BUCKETS = 1024
_FIRST_WAIT_MS = 5_000
_LONGEST_WAIT_MS = 15 * 60_000
_EASE_MS = 20 * 60_000
"""More than the longest wait: else who tries on and on would never have to wait so long."""

_TIMEOUT_SECONDS = 10.0

_DOUBLINGS = 8
"""After so many the wait is the longest."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """So many failures cost nothing."""

    free: int

    @property
    def longest_ms(self) -> int:
        """How long failures are remembered at the most."""
        return (self.free + _DOUBLINGS) * _EASE_MS

    def wait_ms(self, failures: int) -> int:
        """Return how long to wait after the last of so many failures."""
        if failures < self.free:
            return 0
        return min(_FIRST_WAIT_MS << min(failures - self.free, _DOUBLINGS), _LONGEST_WAIT_MS)

    def eases_at(self, before: int, now: int) -> int:
        """Return when one failure more than those that end `before` is forgotten, epoch milliseconds."""
        if before - now > self.longest_ms + _LONGEST_WAIT_MS:
            # A clock that was wrong has told that.
            before = now
        return min(max(before, now) + _EASE_MS, now + self.longest_ms)


_NAME = _Limit(5)
_NETWORK = _Limit(20)
"""More than for a name: a household or an office is one network, and others share its row."""


@dataclass(frozen=True, slots=True)
class CountedTry:
    """A try that was counted as a failure so far."""

    name_key: str
    network_key: str


class Throttle:
    """Counts tries to sign in."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, user_key: str, *, is_user: bool, address: str) -> CountedTry:
        """Count a try as a failure, until `succeeded` is told otherwise. Of tries at once, each is counted.

        Parameters
        ----------
        user_key:
            What the name makes, whether or not it is a user's (`is_user`).
        address:
            Where the try comes from, an IP address.

        Raises
        ------
        SignInThrottled
            It is too soon. Nothing was counted.
        """
        counted = CountedTry(user_tries_key(user_key) if is_user else _bucket("name", user_key), _network_key(address))
        run_unit(partial(self._count, counted), deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)
        return counted

    def _count(self, counted: CountedTry) -> None:
        now = now_ms()
        script, left = Script(), 0
        rows = read_tries(self._database, [counted.name_key, counted.network_key])
        for row, limit in zip(rows, (_NAME, _NETWORK), strict=True):
            # As they were at the last try: who is told how long to wait has to wait so long.
            failures = -((row.tried_at - row.eases_at) // _EASE_MS)
            left = max(left, limit.wait_ms(failures) - abs(now - row.tried_at))
            count_try(script, row, now=now, eases_at=limit.eases_at(row.eases_at, now))
        if left > 0:
            raise SignInThrottled(-(-left // 1000))
        self._database.execute(script.sql)

    def succeeded(self, counted: CountedTry) -> None:
        """Forget the failures of the user, and take back the one of the network."""
        script = Script()
        forget_tries(script, counted.name_key)
        # Not the others: who can sign in with one name could try all others.
        ease_tries(script, counted.network_key, _EASE_MS)
        run_unit(partial(self._database.execute, script.sql), deadline=Deadline(_TIMEOUT_SECONDS), repeatable=True)


def user_tries_key(user_key: str) -> str:
    """Return the key of a user's row."""
    return f"user.{user_key}"


def _network_key(address: str) -> str:
    try:
        host = ip_address(address)
    except ValueError:
        return _bucket("network", address)
    if isinstance(host, IPv6Address):
        if host.ipv4_mapped is None:
            return _bucket("network", str(IPv6Network((int(host), 64), strict=False)))
        host = host.ipv4_mapped
    return _bucket("network", str(IPv4Network((int(host), 24), strict=False)))


def _bucket(kind: str, text: str) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return f"{kind}.{int.from_bytes(digest) % _BUCKETS}"
