"""A schedule watched as the engine does it, for tests of schedules."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.checking import Checks
from whenthen.clock import from_datetime, to_datetime
from whenthen.services.checking import Found, Item
from whenthen.services.schedules.slots import Scheduled, upcoming

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
MAX_NEW_EVENTS = 50


def ms(text: str, zone: str = "UTC", fold: int = 0) -> int:
    """Epoch milliseconds of ``2026-03-29T02:30``, in a zone or with an offset of its own."""
    moment = datetime.fromisoformat(text)
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone), fold=fold))


def local(at: int, zone: str) -> str:
    """An instant as text with the offset of a zone, so that both occurrences of an hour differ."""
    return to_datetime(at).astimezone(ZoneInfo(zone)).isoformat(timespec="minutes")


def locals_after(fields: Scheduled, after: int, count: int, zone: str) -> list[str]:
    """The next runs as text."""
    return [local(at, zone) for at in upcoming(fields, after, count)]


class Watch:
    """Checks one trigger of date_time over time, and fires what the engine would: each `unique` once."""

    def __init__(self, trigger: str, fields: dict[str, Any], *, zone: str = "UTC") -> None:
        self.checks = Checks("date_time", trigger, fields, zone=zone)
        self.zone: str = self.checks.fields.model_dump()["zone"]
        self.seen: set[str] = set()
        self.fired: list[Item] = []
        self.found: Found | None = None

    def look(self, now: int) -> list[Item]:
        """One check, and what fires by it."""
        old = self.checks.position
        found = self.found = self.checks.check(now)
        new = [item for item in found.items if item.unique not in self.seen]
        if old is None:
            self.seen.update(item.unique for item in new)
            return []
        if len(new) > MAX_NEW_EVENTS:
            self.checks.position = old
            new = new[:MAX_NEW_EVENTS]
        self.seen.update(item.unique for item in new)
        self.fired += new
        return new

    def run(self, start: int, end: int, step: int = MINUTE) -> list[str]:
        """Checks from `start` to `end`; the instants that fired, as local text."""
        self.look(start)
        fired: list[str] = []
        for now in range(start + step, end + 1, step):
            fired += [local(item.occurred_at, self.zone) for item in self.look(now)]
        return fired
