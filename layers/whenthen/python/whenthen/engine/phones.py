"""Where the owner's phones are: fixes arrive here, and checks of places read them."""

from collections.abc import Sequence

from whenthen.clock import Deadline, now_ms
from whenthen.engine.listeners import UnknownKey
from whenthen.errors import FieldError
from whenthen.services.location.owntracks import Report
from whenthen.store import phones as store
from whenthen.store.database import Database
from whenthen.store.keys import find_key, hash_key
from whenthen.store.phones import MAX_PHONES, PhoneList, StoredFix, StoredPhone
from whenthen.store.statements import Script
from whenthen.store.units import run_unit

MAX_FIXES = 200
"""The most fixes that are kept of a phone."""

KEPT_SECONDS = 15 * 60
"""For how long after its arrival a fix is kept; the latest is kept for ever. Each fix rewrites those that are kept."""


def owner_of(database: Database, webhook_key: str, deadline: Deadline) -> str:
    """Return whose webhook key it is.

    Raises
    ------
    UnknownKey
        No such webhook key, or it is revoked.
    StoreError
        The database can't be asked now.
    """
    key = find_key(database, hash_key(webhook_key), timeout_seconds=deadline.left())
    if key is None or key.kind != "webhook" or key.revoked_at is not None:
        raise UnknownKey
    return key.owner_id


def take(database: Database, owner_id: str, report: Report, deadline: Deadline) -> None:
    """Store where a phone was, once.

    Raises
    ------
    FieldError
        The owner has `MAX_PHONES` others.
    StoreError
        The database can't do it now; it may be asked again.
    """

    def unit() -> None:
        device = report.device
        phone = _find(database, owner_id, device, deadline)
        now = now_ms() // 1000
        if any(fix.identity == report.identity for fix in phone.fixes):
            return
        script = Script()
        if not phone.device:
            known = store.read_list(database, owner_id, timeout_seconds=deadline.left())
            if len(known.devices) >= MAX_PHONES:
                raise FieldError("device", f"{device!r} is one more than the {MAX_PHONES} phones that you may have")
            store.add_phone(script, owner_id, known, device)
        fix = StoredFix(
            phone.last_fix + 1, report.at, report.latitude, report.longitude, report.accuracy, now, report.fast_by
        )
        kept = [old for old in phone.fixes[-(MAX_FIXES - 1) :] if now - old.received_at <= KEPT_SECONDS]
        store.write_fixes(script, owner_id, device, [*kept, fix], seen=phone.last_fix)
        database.execute(script.sql, timeout_seconds=deadline.left())

    run_unit(unit, deadline=deadline, repeatable=True)


def _find(database: Database, owner_id: str, device: str, deadline: Deadline) -> StoredPhone:
    for phone in store.read_phones(database, owner_id, [device], timeout_seconds=deadline.left()):
        return phone
    return StoredPhone("")


def read_all(database: Database, owner_id: str) -> Sequence[StoredPhone]:
    """Return the owner's phones. Raises `StoreError`."""
    known: PhoneList = store.read_list(database, owner_id)
    return store.read_phones(database, owner_id, known.devices)
