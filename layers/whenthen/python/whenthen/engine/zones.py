"""The owners' time zones, remembered for a while."""

import time

from whenthen.services.zones import DEFAULT_ZONE
from whenthen.store.database import Database
from whenthen.store.profiles import find_zone

_REMEMBERED_SECONDS = 60.0
_REMEMBERED = 4096


class OwnerZones:
    """The owners' time zones. Thread-safe: each step is one dictionary operation.

    Parameters
    ----------
    database:
        Where they are set.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: dict[str, tuple[str, float]] = {}

    def find(self, owner_id: str) -> str:
        """Return the owner's IANA time zone, as of at most a minute ago. Raises `StoreError`."""
        zone, read_at = self._found.get(owner_id, ("", 0.0))
        now = time.monotonic()
        if not zone or now - read_at > _REMEMBERED_SECONDS:
            zone = find_zone(self._database, owner_id) or DEFAULT_ZONE
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            self._found[owner_id] = zone, now
        return zone
