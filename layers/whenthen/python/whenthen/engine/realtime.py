"""Realtime notifications: a partner says that a trigger has news, and it is checked at once (PROTOCOLS.md B.5)."""

import hmac
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whenthen.clock import Deadline
from whenthen.engine.connections.errors import ConnectionUnusable, RefreshFailed
from whenthen.engine.listeners import UnknownKey
from whenthen.engine.orders import LEASE_MS, new_claim, send_orders
from whenthen.errors import FieldError
from whenthen.queues import Queue
from whenthen.store.checks import MAX_CLAIMS, claim_due_checks, poke
from whenthen.store.database import Database
from whenthen.store.keys import find_key, hash_key
from whenthen.store.statements import MAX_SELECTS, Script
from whenthen.store.triggers import TriggerRow, list_triggers, read_triggers

if TYPE_CHECKING:
    from whenthen.engine.connections.accounts import Accounts

MAX_ENTRIES = 1000
"""The most entries of a notification."""

_PARTNER = "partner"
_OPEN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Notification:
    """What a notification names: triggers by their identity, and whether it names a user."""

    trigger_ids: tuple[str, ...]
    names_user: bool


def read_notification(body: bytes) -> Notification:
    """Return what a notification's body says.

    Raises
    ------
    FieldError
        It is not one.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FieldError("body", f"is not JSON: {error}") from error
    entries = document.get("data") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise FieldError("data", "must be a list")
    if len(entries) > MAX_ENTRIES:
        raise FieldError("data", f"must have at most {MAX_ENTRIES} entries")
    identities: dict[str, None] = {}
    names_user = False
    for index, entry in enumerate(entries):
        match entry:
            case {"trigger_identity": str(identity)}:
                identities[identity] = None
            case {"user_id": str()}:
                names_user = True
            case _:
                raise FieldError(f"data.{index}", "must have a trigger_identity or a user_id")
    return Notification(tuple(identities), names_user)


def notify(
    database: Database,
    orders: Queue,
    accounts: "Callable[[], Accounts]",
    key: str,
    notification: Notification,
    now: int,
) -> int:
    """Check at once what a notification names, and return how many triggers that are.

    Parameters
    ----------
    accounts:
        Returns what opens connections: a trigger's key may be its connection's.
    key:
        The partner's service key, which opens the triggers that carry it, or a webhook key, which opens all of its
        owner's. Only the second can name a user: their partner triggers are meant.
    now:
        Epoch milliseconds.

    Raises
    ------
    UnknownKey
        The key opens nothing of what is named.
    StoreError
        See `store.errors`.
    """
    owner = _owner_of(database, key)
    opened: set[str] = set()
    for start in range(0, max(len(notification.trigger_ids), 1), MAX_SELECTS):
        if chunk := notification.trigger_ids[start : start + MAX_SELECTS]:
            rows = read_triggers(database, chunk).items()
            opened |= {trigger_id for trigger_id, row in rows if row.owner_id == owner or _has_key(row, key, accounts)}
        # Whose key opens nothing of the first hundred is not worth reading on for.
        if owner is None and not opened:
            raise UnknownKey
    if owner is not None and notification.names_user:
        opened |= {row.trigger_id for row in list_triggers(database, owner) if row.service == _PARTNER}
    ids = sorted(opened)
    for start in range(0, len(ids), MAX_CLAIMS):
        _check(database, orders, ids[start : start + MAX_CLAIMS], now)
    return len(ids)


def _owner_of(database: Database, key: str) -> str | None:
    found = find_key(database, hash_key(key))
    return found.owner_id if found is not None and found.kind == "webhook" and found.revoked_at is None else None


def _has_key(row: TriggerRow, key: str, accounts: "Callable[[], Accounts]") -> bool:
    known = _key_of(row, accounts) if row.service == _PARTNER else None
    return isinstance(known, str) and known != "" and hmac.compare_digest(known.encode(), key.encode())


def _key_of(row: TriggerRow, accounts: "Callable[[], Accounts]") -> Any:
    if row.connection is None:
        return json.loads(row.fields).get("service_key")
    with suppress(ConnectionUnusable, RefreshFailed):
        account = accounts().open(row.owner_id, row.connection, _PARTNER, Deadline(_OPEN_SECONDS))
        return account.fields.model_dump().get("service_key")
    return None


def _check(database: Database, orders: Queue, trigger_ids: Sequence[str], now: int) -> None:
    script = Script()
    for trigger_id in trigger_ids:
        poke(script, trigger_id, now)
    database.execute(script.sql)
    rows = claim_due_checks(database, trigger_ids, claim=new_claim(), now=now, lease_until=now + LEASE_MS)
    if rows:
        send_orders(database, orders, rows, now)
