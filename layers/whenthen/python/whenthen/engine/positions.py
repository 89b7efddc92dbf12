"""The position of a trigger's checks: what its service left, and which events were seen last."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEPT_BEYOND_DOCUMENT = 50
"""How many events are remembered here that the source no longer shows."""

_MARK_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Position:
    """Where the next check goes on from.

    Parameters
    ----------
    service:
        What the service's check left.
    seen:
        Marks of the events that the source showed last: a shortcut. Whether an event is new is for the events'
        own table to say, which remembers all of them for ever (R2).
    """

    service: Mapping[str, Any]
    seen: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> "Position | None":
        """Return the position that `to_json` wrote, or None for the empty text before a first check."""
        if not text:
            return None
        values = json.loads(text)
        return cls(values["service"], tuple(values["seen"]))

    def to_json(self) -> str:
        """Return the position as the store keeps it."""
        # In ASCII: what a service has read may hold lone surrogates.
        return json.dumps({"service": self.service, "seen": self.seen}, separators=(",", ":"))

    def unseen(self, event_ids: Collection[str]) -> list[str]:
        """Return those of `event_ids` that are not remembered here, in their order."""
        seen = set(self.seen)
        return [event_id for event_id in event_ids if mark(event_id) not in seen]


def next_position(
    old: Position | None, service: Mapping[str, Any], event_ids: Sequence[str], waiting: Collection[str] = ()
) -> Position:
    """Return the position after a check.

    Parameters
    ----------
    old:
        The position before it.
    service:
        What the service's check leaves.
    event_ids:
        All events that the source shows.
    waiting:
        Those of them that are not stored yet.
    """
    known = old.seen if old else ()
    if not event_ids:
        return Position(service, known)
    shown = dict.fromkeys(mark(event_id) for event_id in event_ids)
    for event_id in waiting:
        shown.pop(mark(event_id), None)
    gone = [item for item in known if item not in shown]
    return Position(service, (*shown, *gone[:KEPT_BEYOND_DOCUMENT]))


def mark(event_id: str) -> str:
    """Return what is remembered of an event's id: 64 of its bits."""
    return event_id[:_MARK_LENGTH]
