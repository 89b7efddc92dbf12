"""The ids on which exactly-once rests: the same thing always gets the same id."""

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from whenthen.store.executions import slot_of

if TYPE_CHECKING:
    from whenthen.model.applet import TriggerRef

_DIGEST_BYTES = 16


def _hash(*parts: str) -> str:
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def canonical_json(fields: Mapping[str, Any]) -> str:
    """Return fields as JSON text that is equal for equal fields."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def trigger_id(
    owner_id: str, service: str, trigger: str, fields: Mapping[str, Any], connection: str | None = None
) -> str:
    """Return the identity of a trigger: applets of one owner with equal triggers share it (DESIGN.md 3).

    Parameters
    ----------
    connection:
        The id of its connection, None when it has none.
    """
    parts = (owner_id, service, trigger, json.dumps(fields, sort_keys=True))
    return _hash(*parts, connection) if connection else _hash(*parts)


def identity_of(owner_id: str, reference: "TriggerRef") -> str:
    """Return the id of the owner's trigger that a reference names."""
    return trigger_id(owner_id, reference.service, reference.trigger, reference.fields, reference.connection)


def event_id(trigger: str, unique: str) -> str:
    """Return the id of the event that `unique` (a delivery id, an item's id, a slot's time) makes of a trigger."""
    return _hash(trigger, unique)


def execution_id(slot: str, event: str, applet_id: str) -> str:
    """Return the id of an applet's execution for an event; it says where the row stands."""
    return f"{slot}.{event}.{applet_id}"


class ExecutionIdParts(NamedTuple):
    """What an execution's id says."""

    slot: str
    event_id: str
    applet_id: str


def parse_execution_id(text: str) -> ExecutionIdParts:
    """Return the parts of an execution's id.

    Raises
    ------
    ValueError
        It is not one.
    """
    slot_of(text)
    parts = text.split(".")
    if len(parts) != 3 or not all(parts):
        raise ValueError(f"not the id of an execution: {text!r}")
    return ExecutionIdParts(*parts)


def idempotency_key(execution: str, action: int) -> str:
    """Return the key of one action of an execution, the same for every try (R5)."""
    return f"{execution}.{action}"
