"""Checks: how the checking of each trigger stands, and the position that the next check goes on from.

A claim is a compare-and-set. What a check has found is written in one script with `record`, which refuses it
(`GuardFailed`) when the claim is lost.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("checks")

BEYOND_MS = 2 * 24 * 60 * 60_000
"""No check but an offline one is due later than this from now: the longest interval is a day."""

MAX_CLAIMS = 20
"""The most checks that one script claims: a tree of the parser's size (ALOPEX.md 3)."""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """How a trigger's checking stands. Times are epoch milliseconds.

    `check_id` is the trigger's id. `offline` checks ask nobody but the clock. `next_check_at` is when it is due, None
    while nobody listens. `claim` holds until `lease_until`. The host wants nothing before `held_until`. `poked` asks
    for another check right after this one. `failures` counts those in a row.
    """

    check_id: str
    offline: bool
    host: str
    next_check_at: int | None
    claim: str
    lease_until: int
    held_until: int
    poked: bool
    checked_at: int | None
    failures: int
    result: str


def insert_check(script: Script, check_id: str, *, offline: bool, host: str) -> None:
    """Add to `script` that the trigger can be checked; one that could already stays as it is."""
    script.add(_S["insert_check"], check_id=check_id, offline=offline, host=host)
    script.add(_S["insert_position"], check_id=check_id)


def list_due_checks(database: Database, now: int, *, offline: bool) -> list[str]:
    """Return the ids of up to 2,000 triggers that are due and not claimed, oldest first."""
    script = Script().add(_S["list_due_checks"], now=now, offline=offline, beyond=now + BEYOND_MS)
    return [str(row["check_id"]) for row in database.execute(script.sql)]


def claim_due_checks(
    database: Database, check_ids: Collection[str], *, claim: str, now: int, lease_until: int
) -> dict[str, CheckRow]:
    """Claim those of at most `MAX_CLAIMS` checks that are due, and return the rows of those that are ours now, by id.

    Parameters
    ----------
    claim:
        A name that nobody else uses.
    now, lease_until:
        What is due at `now` is claimed until `lease_until`, epoch milliseconds.
    """
    script = Script()
    for check_id in check_ids:
        script.add(
            _S["claim_check"],
            check_id=check_id,
            claim=claim,
            now=now,
            lease_until=lease_until,
            beyond=now + BEYOND_MS,
        )
    rows = _read(database, script, check_ids, DEFAULT_TIMEOUT_SECONDS)
    return {check_id: row for check_id, row in rows.items() if row.claim == claim}


def take_check(database: Database, check_id: str, *, claim: str, lease_until: int) -> CheckRow | None:
    """Claim a check, due or not, also from whoever is at it; return its row, or None when nobody listens."""
    script = Script().add(_S["take_check"], check_id=check_id, claim=claim, lease_until=lease_until)
    row = _read(database, script, [check_id], DEFAULT_TIMEOUT_SECONDS).get(check_id)
    return row if row is not None and row.claim == claim else None


def read_checks(
    database: Database, check_ids: Collection[str], *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> dict[str, CheckRow]:
    """Return the rows of at most 100 triggers, by id; a trigger that is never checked has none."""
    return _read(database, Script(), check_ids, timeout_seconds)


def _read(database: Database, script: Script, check_ids: Collection[str], timeout: float) -> dict[str, CheckRow]:
    selects = [Script().add(_S["read_check"], check_id=check_id) for check_id in check_ids]
    rows: list[dict[str, Any]] = database.execute(script.union(selects).sql, timeout_seconds=timeout)
    return {row["check_id"]: CheckRow(**row) for row in rows}


def list_troubled(database: Database, late_since: int) -> list[CheckRow]:
    """Return the rows of all triggers that somebody listens to and that were due by `late_since`, or are failing."""
    return [CheckRow(**row) for row in database.execute(Script().add(_S["list_troubled"], late_since=late_since).sql)]


def read_positions(database: Database, check_ids: Collection[str]) -> dict[str, str]:
    """Return the positions of at most 100 triggers, JSON text, by id; empty before the first check."""
    selects = [Script().add(_S["read_position"], check_id=check_id) for check_id in check_ids]
    return {row["position_id"]: row["position"] for row in database.execute(Script().union(selects).sql)}


def release(database: Database, check_ids: Collection[str], *, claim: str) -> None:
    """Give back what `claim` still holds of at most `MAX_CLAIMS` checks: they are due as they were."""
    script = Script()
    for check_id in check_ids:
        script.add(_S["release_check"], check_id=check_id, claim=claim)
    database.execute(script.sql)


def keep(script: Script, check_id: str, *, claim: str) -> None:
    """Refuse `script` when the claim is lost."""
    script.add(_S["keep_check"], check_id=check_id, claim=claim)


def record(
    script: Script, check_id: str, *, claim: str, now: int, next_check_at: int, failures: int, result: str
) -> None:
    """Add to `script` how the check went, or refuse it when the claim is lost."""
    script.add(
        _S["record_check"],
        check_id=check_id,
        claim=claim,
        now=now,
        next_check_at=next_check_at,
        failures=failures,
        result=result,
    )


def poke(script: Script, check_id: str, now: int) -> None:
    """Add to `script` that the trigger is due, once more if a check is under way. Nothing while nobody listens."""
    script.add(_S["poke_check"], check_id=check_id, now=now)


def start(
    script: Script,
    check_id: str,
    *,
    position: str,
    next_check_at: int,
    checked_at: int | None = None,
    failures: int = 0,
    result: str = "",
) -> None:
    """Add to `script` that somebody listens from now on, and where the checks go on from (empty: from a first one)."""
    script.add(
        _S["start_check"],
        check_id=check_id,
        next_check_at=next_check_at,
        checked_at=checked_at,
        failures=failures,
        result=result,
    ).add(_S["write_position"], check_id=check_id, position=position)


def stop(script: Script, check_id: str) -> None:
    """Add to `script` that nobody listens any more. A check that is under way has lost its claim."""
    script.add(_S["stop_check"], check_id=check_id)


def write_position(script: Script, check_id: str, position: str) -> None:
    """Add to `script` where the next check goes on from."""
    script.add(_S["write_position"], check_id=check_id, position=position)


def hold_host(script: Script, host: str, until: int) -> None:
    """Add to `script` that nothing on `host` is checked before `until`, epoch milliseconds."""
    script.add(_S["hold_host"], host=host, until=until)
