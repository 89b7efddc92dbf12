"""Owners and their keys."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from whenthen.clock import now_ms
from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

type KeyKind = Literal["api", "webhook"]

_S = load("keys")
_KEY_BYTES = 24


@dataclass(frozen=True, slots=True)
class Key:
    """A key as stored: never the key itself. Times are epoch milliseconds."""

    key_hash: str
    owner_id: str
    kind: KeyKind
    name: str
    hint: str
    delivery_id_header: str | None
    created_at: int
    revoked_at: int | None


def hash_key(key: str) -> str:
    """Return the name under which `key` is stored.

    A plain hash is enough: keys are 192 random bits, not passwords.
    """
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_key() -> str:
    """Return a fresh key of URL-safe characters; it stands in webhook paths."""
    return secrets.token_urlsafe(_KEY_BYTES)


def add_key(
    database: Database,
    owner_id: str,
    kind: KeyKind,
    name: str,
    key: str,
    delivery_id_header: str | None = None,
) -> Key:
    """Store `key` for the owner and return its row.

    Parameters
    ----------
    delivery_id_header:
        For a webhook key: the request header that names a delivery, besides ``Idempotency-Key``.

    Raises
    ------
    Duplicate
        The key exists already.
    """
    row = Key(hash_key(key), owner_id, kind, name, key[:4], delivery_id_header, now_ms(), None)
    script = Script().add(
        _S["insert_key"],
        key_hash=row.key_hash,
        owner_id=owner_id,
        kind=kind,
        key_name=name,
        hint=row.hint,
        delivery_id_header=delivery_id_header,
        created_at=row.created_at,
    )
    database.execute(script.sql)
    return row


def find_key(database: Database, key_hash: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> Key | None:
    """Return the key stored under `key_hash`, revoked or not, or None."""
    sql = Script().add(_S["read_key"], key_hash=key_hash).sql
    rows = database.execute(sql, timeout_seconds=timeout_seconds)
    return _from_row(rows[0]) if rows else None


def list_keys(database: Database, owner_id: str) -> list[Key]:
    """Return the owner's keys that are not revoked, oldest first."""
    return [_from_row(row) for row in database.execute(Script().add(_S["list_keys"], owner_id=owner_id).sql)]


def revoke_key(script: Script, key_hash: str) -> None:
    """Add to `script` that the key no longer opens anything."""
    script.add(_S["revoke_key"], key_hash=key_hash, now=now_ms())


def add_user(database: Database, user_id: str, name: str) -> None:
    """Store an owner.

    Raises
    ------
    Duplicate
        There is one with this id.
    """
    script = Script()
    insert_owner(script, user_id, name)
    database.execute(script.sql)


def insert_owner(script: Script, user_id: str, name: str) -> None:
    """Add an owner to `script`, who is refused as `add_user` says."""
    script.add(_S["insert_user"], user_id=user_id, user_name=name, created_at=now_ms())


def list_users(database: Database) -> list[str]:
    """Return the ids of all owners."""
    return [str(row["user_id"]) for row in database.execute(Script().add(_S["list_users"]).sql)]


def _from_row(row: dict[str, Any]) -> Key:
    return Key(
        row["key_hash"],
        row["owner_id"],
        row["kind"],
        row["key_name"],
        row["hint"],
        row["delivery_id_header"],
        row["created_at"],
        row["revoked_at"],
    )
