"""An item that a check has found, as an event that can be stored."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from whenthen.services.checking import Item

MAX_INGREDIENTS_BYTES = 128 * 1024
"""The most JSON text of one item's ingredients; longer values are cut."""

_LATEST_MS = 253_370_764_800_000
"""The year 9999: what a source claims beyond that has no text."""


_NOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An item's event: `ingredients` as JSON text, `occurred_at` in epoch milliseconds."""

    event_id: str
    ingredients: str
    occurred_at: int
    note: str


def new_event(event_id: str, item: Item) -> NewEvent:
    """Return the event of an item, with texts that can be stored."""
    occurred_at = min(max(item.occurred_at, 0), _LATEST_MS)
    return NewEvent(event_id, _ingredients(item.ingredients), occurred_at, storable_note(item.note))


def storable_note(text: str) -> str:
    """Return words of a service as they can be stored: without NUL and lone surrogates, and short."""
    return _storable(text)[:_NOTE_CHARACTERS]


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _ingredients(values: Mapping[str, str]) -> str:
    cleaned = {name: _storable(value) for name, value in values.items()}
    text = _json(cleaned)
    if len(text.encode()) <= MAX_INGREDIENTS_BYTES:
        return text
    # A character takes at most 6 bytes of JSON text.
    room = MAX_INGREDIENTS_BYTES // (6 * len(cleaned))
    return _json({name: value[:room] for name, value in cleaned.items()})


def _json(values: dict[str, str]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
