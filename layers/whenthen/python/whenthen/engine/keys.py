"""Making and revoking keys, and finding whom an API key belongs to."""

from functools import partial

from whenthen.clock import Deadline
from whenthen.errors import NotFound
from whenthen.store import keys as store
from whenthen.store.database import Database
from whenthen.store.keys import Key, KeyKind
from whenthen.store.statements import Script
from whenthen.store.triggers import list_triggers, touch
from whenthen.store.units import run_unit

_TIMEOUT_SECONDS = 10.0
_TOUCHED_AT_ONCE = 100


def owner_of(database: Database, api_key: str) -> str | None:
    """Return the id of the owner whose API key this is, or None."""
    found = store.find_key(database, store.hash_key(api_key))
    if found is None or found.kind != "api" or found.revoked_at is not None:
        return None
    return found.owner_id


def create(
    database: Database, owner_id: str, kind: KeyKind, name: str, *, delivery_id_header: str | None = None
) -> tuple[Key, str]:
    """Store a new key and return its row and the key itself, which can't be had again.

    Parameters
    ----------
    delivery_id_header:
        For a webhook key: the request header that names a delivery, for example ``X-GitHub-Delivery``.
    """
    key = store.new_key()
    return store.add_key(database, owner_id, kind, name, key, delivery_id_header), key


def revoke(database: Database, owner_id: str, key_hash: str) -> None:
    """Make a key open nothing from now on, also for processes that have seen it work.

    Raises
    ------
    NotFound
        The owner has no such key.
    """
    deadline = Deadline(_TIMEOUT_SECONDS)
    found = run_unit(partial(store.find_key, database, key_hash), deadline=deadline, repeatable=True)
    if found is None or found.owner_id != owner_id:
        raise NotFound("There is no such key.")
    script = Script()
    store.revoke_key(script, key_hash)
    run_unit(partial(database.execute, script.sql), deadline=deadline, repeatable=True)
    if found.kind == "webhook":
        # Intake remembers keys with the trigger's revision: a new revision makes it look again. After the key is
        # revoked, so that no trigger made meanwhile is missed; also for a key that was revoked before, whose
        # first revocation may have stopped here.
        identities = [trigger.trigger_id for trigger in list_triggers(database, owner_id)]
        for start in range(0, len(identities), _TOUCHED_AT_ONCE):
            script = Script()
            for identity in identities[start : start + _TOUCHED_AT_ONCE]:
                touch(script, identity)
            run_unit(partial(database.execute, script.sql), deadline=deadline, repeatable=True)
    if found.revoked_at is not None:
        raise NotFound("There is no such key.")
