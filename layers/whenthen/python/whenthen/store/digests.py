"""Mails that collect, and what they have collected; see ``schema/0007_digests.sql``."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import batched

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.errors import MissingTable
from whenthen.store.executions import WAITING, slot_of
from whenthen.store.statements import MAX_SELECTS, Script, load

_S = load("digests")
_BLANKED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class DigestRow:
    """A digest. `due_at` is in epoch milliseconds, `sending_id` the execution that sends it.

    `contents` is JSON text, empty when it was erased. It has entries from number 1 to `collected`.
    """

    digest_id: str
    owner_id: str
    sending_id: str
    due_at: int
    digest_state: str = "collecting"
    collected: int = 0
    contents: str = ""


def open_digest(script: Script, row: DigestRow) -> None:
    """Add a new digest to `script`; one that is there already refuses it with `Duplicate` of ``digest_id``."""
    script.add(
        _S["open_digest"],
        digest_id=row.digest_id,
        owner_id=row.owner_id,
        sending_id=row.sending_id,
        due_at=row.due_at,
        contents=row.contents,
    )


def add_entry(
    database: Database, script: Script, digest_id: str, *, key: str, entry: str, timeout_seconds: float
) -> bool:
    """Run `script` and add an entry in the same transaction; return whether there is such a digest. If not, nothing is.

    Raises
    ------
    Duplicate
        Of ``entry_key``: an entry with this key is in some digest.
    GuardFailed
        Of ``collected``: the digest is closed.
    StoreError
        See `store.errors`.
    """
    script.add(_S["add_entry"], digest_id=digest_id, entry_key=key, entry=entry)
    script.add(_S["count_entry"], digest_id=digest_id).add(_S["read_digest"], digest_id=digest_id)
    return bool(database.execute(script.sql, timeout_seconds=timeout_seconds))


def close_digest(database: Database, digest_id: str, *, timeout_seconds: float) -> DigestRow | None:
    """Let nothing into the digest any more, and return it as it is from now on; None when there is none."""
    script = Script().add(_S["close_digest"], digest_id=digest_id).add(_S["read_digest"], digest_id=digest_id)
    rows = database.execute(script.sql, timeout_seconds=timeout_seconds)
    return DigestRow(**rows[0]) if rows else None


def read_entries(database: Database, digest_id: str, numbers: Sequence[int], *, timeout_seconds: float) -> list[str]:
    """Return the entries with these numbers, JSON texts, in this order."""
    found: dict[str, str] = {}
    wanted = _entry_ids(digest_id, numbers)
    for ids in batched(wanted, MAX_SELECTS, strict=False):
        selects = [Script().add(_S["read_entry"], entry_id=entry_id) for entry_id in ids]
        rows = database.execute(Script().union(selects).sql, timeout_seconds=timeout_seconds)
        found |= {row["entry_id"]: row["entry"] for row in rows}
    return [found[entry_id] for entry_id in wanted]


def find_digests(database: Database, digest_ids: Sequence[str]) -> list[DigestRow]:
    """Return those of the digests that there are."""
    found: list[DigestRow] = []
    for ids in batched(digest_ids, MAX_SELECTS, strict=False):
        selects = [Script().add(_S["read_digest"], digest_id=digest_id) for digest_id in ids]
        found += [DigestRow(**row) for row in database.execute(Script().union(selects).sql)]
    return found


def list_owned(database: Database, owner_id: str) -> list[DigestRow]:
    """Return all digests of an owner."""
    return [DigestRow(**row) for row in database.execute(Script().add(_S["list_owned_digests"], owner_id=owner_id).sql)]


def blank(database: Database, row: DigestRow) -> None:
    """Close a digest and empty it and its entries. The rows stay: they are what a repeat is known by."""
    # First, so that nothing more gets in.
    database.execute(Script().add(_S["blank_digest"], digest_id=row.digest_id).sql)
    collected = find_digests(database, [row.digest_id])[0].collected
    for ids in batched(_entry_ids(row.digest_id, range(1, collected + 1)), _BLANKED_AT_ONCE, strict=False):
        script = Script()
        for entry_id in ids:
            script.add(_S["blank_entry"], entry_id=entry_id)
        database.execute(script.sql)


def bring_forward(database: Database, execution_id: str, now: int) -> None:
    """Make an execution that is due later due now, wherever it stands."""
    for place in (slot_of(execution_id), WAITING):
        script = Script().add(_S["bring_forward"], place=place, execution_id=execution_id, now=now)
        with suppress(MissingTable):
            database.execute(script.sql, timeout_seconds=DEFAULT_TIMEOUT_SECONDS)


def _entry_ids(digest_id: str, numbers: Sequence[int]) -> list[str]:
    return [f"{digest_id}.{number}" for number in numbers]
