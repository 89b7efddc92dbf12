"""Triggers whose events arrive: their address, a key for it, and waiting for a test call."""

import re
from dataclasses import dataclass

from whenthen.clock import now_ms
from whenthen.engine import test_calls
from whenthen.engine.arrived import Arrived
from whenthen.errors import FieldErrors
from whenthen.services.contract import Trigger
from whenthen.store.keys import Key, list_keys
from whenthen.web.console.editor.draft import Part
from whenthen.web.console.editor.looking import reference
from whenthen.web.console.visit import Visit
from whenthen.web.console.webhook_urls import Address, make_key, trigger_addresses

_KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")


@dataclass(frozen=True, slots=True)
class Calls:
    """How calls reach a trigger.

    Parameters
    ----------
    address:
        None while fields are empty that it needs.
    key:
        A webhook key that was made in this form, empty without one.
    keys:
        The owner's webhook keys, any of which works; empty when the key is known.
    since:
        Since when a call is waited for, epoch milliseconds; 0 when nobody waits.
    is_over:
        Whether it was waited for as long as it is.
    arrived:
        What has come since.
    """

    address: Address | None
    key: str = ""
    keys: tuple[Key, ...] = ()
    can_wait: bool = False
    since: int = 0
    is_over: bool = False
    arrived: Arrived | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether to ask again soon."""
        return self.since > 0 and not self.is_over and self.arrived is None


def is_called(part: Part) -> bool:
    """Say if events of a trigger arrive at an address."""
    item = part.item
    return isinstance(item, Trigger) and (item.check is None or part.service == "location")


def calls_of(visit: Visit, part: Part, operation: str) -> Calls | None:
    """Return how calls reach a trigger, and go on waiting for one if the form says so; None when none can.

    Parameters
    ----------
    operation:
        The form's button: ``make-key`` makes a key and begins to wait, ``wait`` begins anew.

    Raises
    ------
    StoreError
        See `store.errors`.
    """
    trigger = reference(part)
    if trigger is None or not is_called(part):
        return None
    key = visit.text("key")
    key = key if _KEY.fullmatch(key) else ""
    found = trigger_addresses(visit, trigger)
    if not found:
        return Calls(None)
    has_key = found[0].needs_key
    if has_key and operation == "make-key":
        key = make_key(visit, _key_name(part))
    if has_key and key:
        found = trigger_addresses(visit, trigger, key)
    keys: tuple[Key, ...] = ()
    if has_key and not key and operation != "await":
        # Not every two seconds: a list is a scan.
        keys = tuple(item for item in list_keys(visit.runtime.database, visit.owner) if item.kind == "webhook")
    can_wait = part.service != "location"
    since = _since(visit, operation) if can_wait else 0
    is_over = bool(since) and now_ms() > since + test_calls.WAIT_MS
    arrived = None
    if since and not is_over:
        try:
            arrived = test_calls.wait(visit.runtime.database, visit.owner, trigger, now_ms()).arrived
        except FieldErrors:
            since = 0
    if arrived is not None and arrived.at < since:
        # What has come before, for a waiting that is over.
        arrived = None
    return Calls(found[0], key, keys, can_wait, since, is_over, arrived)


def _key_name(part: Part) -> str:
    name = str(part.fields.get("event", "")) or part.service
    return "".join(character for character in name if character.isprintable())


def _since(visit: Visit, operation: str) -> int:
    if operation in ("wait", "make-key"):
        return now_ms()
    written = visit.text("waiting_since")
    since = int(written) if written.isascii() and written.isdigit() and len(written) < 16 else 0
    return since if operation != "stop-waiting" and since <= now_ms() else 0
