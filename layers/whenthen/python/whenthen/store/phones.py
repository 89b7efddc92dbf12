"""Phones of owners, and where they were last; see ``schema/0006_tables.sql``."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from whenthen.store.database import DEFAULT_TIMEOUT_SECONDS, Database
from whenthen.store.statements import Script, load

_S = load("phones")

MAX_PHONES = 20
"""The most phones of an owner: all of them are read by each check of a place."""


class StoredFix(NamedTuple):
    """Where a phone was. `number` rises with each one; `at` and `received_at` are epoch seconds, `accuracy` metres.

    `fast_by` is how many seconds the phone's clock was ahead; `identity` is that of `Report`.
    """

    number: int
    at: int
    latitude: float
    longitude: float
    accuracy: float
    received_at: int
    fast_by: int = 0

    @property
    def identity(self) -> tuple[int, float, float]:
        return self.at + self.fast_by, self.latitude, self.longitude


@dataclass(frozen=True, slots=True)
class StoredPhone:
    """A phone as it was read; `last_fix` is the number of its latest fix."""

    device: str
    fixes: tuple[StoredFix, ...] = ()
    last_fix: int = 0


@dataclass(frozen=True, slots=True)
class PhoneList:
    """The names of an owner's phones; `revision` rises with every change."""

    devices: tuple[str, ...] = ()
    revision: int = 0


def read_list(database: Database, owner_id: str, *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS) -> PhoneList:
    """Return which phones the owner has."""
    script = Script().add(_S["read_phone_list"], owner_id=owner_id)
    for row in database.execute(script.sql, timeout_seconds=timeout_seconds):
        return PhoneList(tuple(json.loads(row["devices"])), row["list_revision"])
    return PhoneList()


def add_phone(script: Script, owner_id: str, known: PhoneList, device: str) -> None:
    """Add to `script` that the owner has a phone of that name, or refuse it when the list is not `known` any more."""
    devices = json.dumps([*known.devices, device], ensure_ascii=False)
    script.add(_S["insert_phone_list"], owner_id=owner_id)
    script.add(_S["write_phone_list"], owner_id=owner_id, revision=known.revision, devices=devices)
    script.add(_S["insert_phone"], phone_id=_phone_id(owner_id, device))


def read_phones(
    database: Database, owner_id: str, devices: Sequence[str], *, timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
) -> list[StoredPhone]:
    """Return those of at most `MAX_PHONES` phones that have ever reported."""
    if not devices:
        return []
    selects = [Script().add(_S["read_phone"], phone_id=_phone_id(owner_id, device)) for device in devices]
    rows = database.execute(Script().union(selects).sql, timeout_seconds=timeout_seconds)
    return [
        StoredPhone(row["device"], tuple(StoredFix(*fix) for fix in json.loads(row["fixes"])), row["last_fix"])
        for row in rows
    ]


def write_fixes(script: Script, owner_id: str, device: str, fixes: Sequence[StoredFix], *, seen: int) -> None:
    """Add to `script` the phone's fixes, of which one is new, or refuse it when `seen` is not its latest any more."""
    text = json.dumps(fixes, separators=(",", ":"))
    script.add(_S["write_phone"], phone_id=_phone_id(owner_id, device), device=device, fixes=text, seen=seen)


def blank_phones(database: Database, owner_id: str) -> None:
    """Empty what is known of the owner's phones."""
    known = read_list(database, owner_id)
    if not known.devices:
        return
    script = Script()
    for device in known.devices:
        script.add(_S["blank_phone"], phone_id=_phone_id(owner_id, device))
    script.add(_S["write_phone_list"], owner_id=owner_id, revision=known.revision, devices="[]")
    database.execute(script.sql)


def _phone_id(owner_id: str, device: str) -> str:
    digest = hashlib.blake2b(device.encode(), digest_size=16).hexdigest()
    return f"{owner_id}.{digest}"
