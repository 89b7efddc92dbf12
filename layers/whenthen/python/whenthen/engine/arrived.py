"""What comes for a trigger that nobody listens to while somebody waits for a test call of it. See `engine.test_calls`.

Imported by the trigger function: kept light.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from whenthen.clock import Deadline, now_ms
from whenthen.engine.arrivals import Arrival
from whenthen.store.database import Database
from whenthen.store.test_calls import find_test_call, write_arrived

MAX_ARRIVED_BYTES = 32 * 1024
"""The most JSON text of values that is kept, bytes; the longest of them are cut."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What came: when, epoch milliseconds, its ingredients by slug, and the names of those that were cut."""

    at: int
    ingredients: Mapping[str, str]
    shortened: tuple[str, ...] = ()

    @classmethod
    def read(cls, at: int, text: str) -> "Arrived":
        """Return what `to_json` wrote."""
        values = json.loads(text)
        return cls(at, values["ingredients"], tuple(values["shortened"]))

    def to_json(self) -> str:
        """Return all but the time as JSON text."""
        values = {"ingredients": dict(self.ingredients), "shortened": self.shortened}
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def note_arrival(database: Database, trigger_id: str, arrival: Arrival, deadline: Deadline) -> None:
    """Keep an arrival that nobody listens to for whoever waits for it. May be done again.

    Parameters
    ----------
    trigger_id:
        The trigger that it would have set off.

    Raises
    ------
    StoreError
        See `store.errors`.
    """
    awaited = find_test_call(database, trigger_id, timeout_seconds=deadline.left())
    now = now_ms()
    if awaited is None or awaited.waits_until <= now:
        return
    write_arrived(
        database,
        trigger_id,
        now=now,
        arrived_at=arrival.occurred_at,
        arrived=shown(arrival.occurred_at, arrival.ingredients).to_json(),
        timeout_seconds=deadline.left(),
    )


def shown(at: int, ingredients: Mapping[str, str]) -> Arrived:
    """Return what came, with its longest values cut so that all of them fit `MAX_ARRIVED_BYTES`."""
    fitting = dict(ingredients)
    shortened = []
    room = MAX_ARRIVED_BYTES
    by_size = sorted(ingredients, key=lambda name: _size(ingredients[name]))
    for position, name in enumerate(by_size):
        # What the shorter ones leave over is for the longer ones.
        share = room // (len(by_size) - position)
        fitting[name] = _cut(ingredients[name], share)
        if fitting[name] != ingredients[name]:
            shortened.append(name)
        room -= _size(fitting[name])
    return Arrived(at, fitting, tuple(shortened))


def _cut(value: str, size: int) -> str:
    while (found := _size(value)) > size:
        value = value[: len(value) * size // found]
    return value


def _size(value: str) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
